"""What an attempt left, for the team and for the organisers."""

from functools import partial
from pathlib import Path

from sandscore.queueing.artifacts import LOG, PROBLEMS, RUN
from sandscore.queueing.submission import Claim
from sandscore.queueing.synapse.folders import Folders
from sandscore.queueing.synapse.session import Session
from sandscore.queueing.warning import warn
from sandscore.records.errors import InfrastructureFault

_TEAM = (LOG, PROBLEMS)
_ORGANISERS = (LOG, PROBLEMS, RUN)


class Logs:
    """Uploads; what cannot be uploaded is a warning, never a reason to run a submission again."""

    def __init__(self, session: Session, folders: Folders | None) -> None:
        self._session, self._folders = session, folders

    async def send(self, claim: Claim, folder: Path | None) -> None:
        """The redacted log and the problems found to the submitter's folder; these and the run's record to LOCKED."""
        submitter = claim.submission.submitter or ""
        if self._folders is None or folder is None or not submitter.isdigit():
            return
        try:
            if team := _present(folder, _TEAM):
                await self._upload(claim, team, await self._folders.of(submitter))
            if ours := _present(folder, _ORGANISERS):
                await self._upload(claim, ours, await self._folders.locked(submitter))
        except (InfrastructureFault, OSError) as fault:
            warn(f"the log of {claim.submission.id} was not uploaded: {fault}")

    async def _upload(self, claim: Claim, files: list[Path], parent: str) -> None:
        from synapseclient.models import File

        for path in files:
            name = f"{claim.submission.id}_attempt_{claim.attempt}_{path.name}"
            file = File(path=str(path), name=name, parent_id=parent)
            await self._session.made(
                f"uploading {name}", partial(file.store_async, synapse_client=self._session.client)
            )


def _present(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """Files of zero bytes are refused."""
    return [path for name in names if (path := folder / name).is_file() and path.stat().st_size]

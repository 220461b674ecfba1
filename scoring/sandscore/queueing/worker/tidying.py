"""What killed processes left behind, removed when a worker starts."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from sandscore.queueing.artifacts import RUN
from sandscore.queueing.interface import QueueHome
from sandscore.queueing.submission import Kind
from sandscore.queueing.worker.hands import Hands
from sandscore.queueing.workspace import SCRATCH, Workspace
from sandscore.records.errors import InfrastructureFault

_STILL_IN_USE_SECONDS = 3600.0


async def tidy(home: QueueHome, workspace: Workspace, hands: Hands) -> None:
    """Half-written files of long ago; attempts of what has ended; and on the engine whatever has no owner."""
    for path in (*workspace.root.glob(f"{SCRATCH}*"), *workspace.root.glob("*/.*.part")):
        if _age(path) > _STILL_IN_USE_SECONDS:
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
    folders = {place.name: list(place.iterdir()) for place in workspace.attempts.glob("*") if place.is_dir()}
    submissions = await home.submissions()
    for one in submissions:
        if one.status.final and len(folders.get(one.id, ())) > 1:
            _remove_all_but(await home.kept(one), folders[one.id])
    if any(one.kind is Kind.IMAGE and not one.status.final for one in submissions):
        try:
            await hands.run({"sweep": True})
        except InfrastructureFault:
            return  # no engine just now; every run looks for leftovers too


def _remove_all_but(kept: Path | None, folders: Sequence[Path]) -> None:
    """Folders that were there before the submission was seen to have ended: nobody works in them. A worker may have
    died over them, or a restored backup may have undone their attempts; runs that may be looked into stay."""
    for folder in folders:
        if folder != kept and not (folder / RUN).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0

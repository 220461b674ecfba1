"""The archive of a challenge, checked as a call: its files by their hashes, its boards as ``verify`` does, its log."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from msgspec import Struct

from sandscore.api.verification_calls import Checked, Evidence, check
from sandscore.attestation.research_crate import BOARDS, LOG, check_folder, unpack_crate
from sandscore.base.errors import ParticipantFault, UsageFault

_Steps = AbstractContextManager[Callable[[int], object]]


class CheckedArchive(Struct, frozen=True):
    """What was found: files that are as they were archived, and each board by its name in the archive."""

    files: int
    boards: dict[str, Checked]


def check_archive(
    path: str | Path,
    evidence: Evidence,
    *,
    require: str | None = None,
    testing: Callable[[], _Steps] = lambda: nullcontext(lambda _: None),
) -> CheckedArchive:
    """The first file or value that is not as it was is an error that names it. Nothing but the archive is read."""
    if evidence.log is not None:
        raise UsageFault("an archive has its own log: leave --log out")
    with _unpacked(Path(path)) as (folder, names):
        log = folder / LOG if any(name.startswith(f"{LOG}/") for name in names) else None
        boards = [name for name in names if name.startswith(f"{BOARDS}/") and name.endswith(".json")]
        if not boards:
            raise ParticipantFault(f"{path} holds no board")
        own = Evidence(**{name: getattr(evidence, name) for name in evidence.__struct_fields__} | {"log": log})
        checked = {name: check(folder / name, (), own, require=require, testing=testing) for name in boards}
    return CheckedArchive(len(names), checked)


@contextmanager
def _unpacked(path: Path) -> Iterator[tuple[Path, list[str]]]:
    if path.is_dir():
        yield path, check_folder(path)
        return
    with tempfile.TemporaryDirectory(prefix="sandscore-") as folder:
        yield Path(folder), unpack_crate(path, Path(folder))

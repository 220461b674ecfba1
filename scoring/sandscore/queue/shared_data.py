"""The files of notes and gold that phases share, told by their content, and the policy that follows from that.

Nothing exact about a file leaves before every phase that uses it has ended.
"""

from functools import lru_cache
from pathlib import Path

from sandscore.base.byte_sources import opened
from sandscore.base.errors import OrganiserFault
from sandscore.challenges.challenge_reading import chosen_phase
from sandscore.disclosure.policy_choice import policy_for
from sandscore.queue.workspace import Workspace, find_data_file
from sandscore.records.disclosure_policy import DisclosurePolicy, resolved

_NOTES = "notes"


def policy_in(workspace: Workspace, task: str, phase: str | None) -> DisclosurePolicy:
    """The policy in force for a task and phase of a queue."""
    return policy_for(workspace.challenge, task, phase, phases_sharing(workspace, task, phase))


def phases_sharing(workspace: Workspace, task: str, phase: str | None) -> tuple[str, ...]:
    """The phases whose notes or gold are the same files, as they are now."""
    mine = _marks(workspace, phase, (_NOTES, task))
    names = [one.name for one in workspace.challenge.phases]
    return tuple(name for name in names if mine & _marks(workspace, name, (_NOTES, task)))


def refuse_contradictions(workspace: Workspace) -> None:
    """Two phases that say different things of one file."""
    said: dict[tuple[str, str], tuple[str, str]] = {}
    for phase in workspace.challenge.phases:
        policy = resolved(workspace.challenge, chosen_phase(workspace.challenge, phase.name))
        for name in (_NOTES, *workspace.tasks(phase.name)):
            role, holds = ("notes", policy.notes) if name == _NOTES else ("gold", policy.gold)
            for mark in _marks(workspace, phase.name, (name,)):
                first, before = said.setdefault((role, mark), (phase.name, holds))
                if before != holds:
                    raise OrganiserFault(
                        f"the phases '{first}' ({role} = '{before}') and '{phase.name}' ({role} = '{holds}') use the "
                        f"same file: {find_data_file(workspace.data(phase.name), name)}"
                    )


def _marks(workspace: Workspace, phase: str | None, names: tuple[str, ...]) -> set[str]:
    """SHA-256 of those of the files that are there."""
    found = [find_data_file(workspace.data(phase), name) for name in names]
    return {content_sha256(path) for path in found if path is not None}


def content_sha256(path: Path) -> str:
    """Of a file's unpacked bytes, as cards name it; a process reads it once for as long as it stays as it is."""
    try:
        return _sha256(path, *_changed(path))
    except OSError:
        with opened(path) as source:  # which says what is wrong
            return source.sha256()


def _changed(path: Path) -> tuple[int, ...]:
    seen = path.stat()
    return seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns


@lru_cache(maxsize=256)
def _sha256(path: Path, *_changed: int) -> str:
    with opened(path) as source:
        return source.sha256()

"""Slices and perturbed copies in a queue: which of those that a challenge names belong to a phase's notes and gold.

They are named once, for all phases and tasks. A copy belongs to the phases whose notes it was made of, a file of slices
to the notes or the gold that it speaks of.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.annotations.input_files import Loaded
from sandscore.base.errors import OrganiserFault, SandscoreError
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.queue.shared_data import content_sha256
from sandscore.queue.workspace import Workspace
from sandscore.records.run_record import Outcome, RunRecord
from sandscore.records.slicing_names import SLICE_RULES

if TYPE_CHECKING:
    from sandscore.slices.robustness import NotesCopy

OTHER_NOTES = "other_notes"
"""Of a run on a copy that was made anew since."""


class PhaseCopies(Struct, frozen=True):
    """The copies of a phase's notes for one task, and what is wrong with those that cannot be used."""

    there: "tuple[NotesCopy, ...]"
    faults: tuple[str, ...]


def copies_in(workspace: Workspace, task: str, phase: str | None) -> PhaseCopies:
    """Those that are as they were when they were proven; a copy of older gold is of no use."""
    there: list[NotesCopy] = []
    faults = list[str]()
    for folder in _folders(workspace):
        try:
            if _source_of(folder) == content_sha256(workspace.notes(phase)):
                there.append(_proven_copy(workspace, folder, task, phase))
        except SandscoreError as fault:
            faults.append(str(fault))
    return PhaseCopies(tuple(there), tuple(faults))


def slices_in(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """By what these notes and gold are sliced."""
    asked = workspace.challenge.slices.by
    named = [one if one in SLICE_RULES else str(workspace.named_file(one)) for one in asked]
    if not named:
        return ()
    with REMOVABLE:
        from sandscore.slices.slice_rules import concerns

    return tuple(one for one in named if concerns(one, loaded))


def check_copies(workspace: Workspace, phases: Sequence[str | None]) -> None:
    """Every copy is one of some phase's notes, and of the gold of each task there."""
    for phase in phases:
        for task in workspace.tasks(phase):
            if faults := copies_in(workspace, task, phase).faults:
                raise OrganiserFault(faults[0])
    known = {content_sha256(workspace.notes(phase)) for phase in phases}
    strange = next((one for one in _folders(workspace) if _source_of(one) not in known), None)
    if strange is not None:
        raise OrganiserFault(f"{strange} is a copy of other notes than those of this challenge")


def why_unscored(copy: "NotesCopy", run: Path) -> str | None:
    """How the run on a copy ended; None where it has predictions, of the notes as they are now."""
    record = RunRecord.model_validate_json(run.read_bytes())
    if record.notes_sha256 != content_sha256(copy.notes):
        return OTHER_NOTES
    return None if record.outcome is Outcome.FINISHED else str(record.outcome)


def _folders(workspace: Workspace) -> Iterator[Path]:
    return (workspace.named_file(name) for name in workspace.challenge.robustness.copies)


def _proven_copy(workspace: Workspace, folder: Path, task: str, phase: str | None) -> "NotesCopy":
    notes, gold = workspace.notes(phase), workspace.gold(task, phase)
    with REMOVABLE:
        from sandscore.slices.robustness import CHANGES

    files = (folder / CHANGES, folder / "notes.json", folder / f"{task}.json", notes, gold)
    return _proven(folder, task, notes, gold, *map(content_sha256, files))


@lru_cache(maxsize=64)
def _proven(folder: Path, task: str, notes: Path, gold: Path, *_sha256: str) -> "NotesCopy":
    """Read once for as long as all of its files stay as they are."""
    from sandscore.slices.robustness import read_copy

    return read_copy(folder, task, notes, gold)


def _source_of(folder: Path) -> str | None:
    """SHA-256 of the notes that a copy was made of."""
    with REMOVABLE:
        from sandscore.slices.robustness import CHANGES

    return _source(folder, content_sha256(folder / CHANGES))


@lru_cache(maxsize=64)
def _source(folder: Path, _sha256: str) -> str | None:
    from sandscore.slices.robustness import source_of

    return source_of(folder)

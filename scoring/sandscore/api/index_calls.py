"""Making a gold index as a call: gold and notes as they are once read, in one file."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from sandscore.base.errors import UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.formats.foreign_input import task_in
from sandscore.task_table.task import Task, find_task


class MadeIndex(Struct, frozen=True):
    """An index that was written: of which task, and how much is in it."""

    path: str
    task: str
    notes: int
    annotations: int
    bytes: int
    gold: str
    """The SHA-256 of gold, by which signatures name it."""

    def to_dict(self) -> dict[str, str | int]:
        """For programs."""
        return asdict(self)


def make_index(
    gold: str | Path,
    notes: str | Path,
    output: str | Path,
    *,
    task: str | Task | None = None,
    whole_names: bool = False,
) -> MadeIndex:
    """Gold and notes to an index, which ``score`` and ``validate`` take in place of both and open in a moment.

    ``task`` is the one that gold holds, where none is named. ``whole_names``: names of notes are compared whole. The
    file holds gold and texts: it is its owner's alone, and never to be published.
    """
    with REMOVABLE:
        from sandscore.gold_index.indexed_inputs import write_index

    for path in (gold, notes):
        if str(path) == "-":
            raise UsageFault("an index remembers the files it is made of; standard input is none")
    chosen = find_task(task) if task is not None else task_in(str(gold))
    made = write_index(chosen, Path(gold), Path(notes), Path(output), whole_names=whole_names)
    size = Path(output).stat().st_size
    found = len(made.columns["gold"])
    return MadeIndex(str(output), chosen.id, len(made.dataset.roll.ids), found, size, made.sha256["gold"])

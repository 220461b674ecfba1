"""Conversion as a call: other people's file formats to ours, ours to theirs, theirs to each other's."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.formats import FORMATS, conversion
from sandscore.formats.conversion import Conversion
from sandscore.formats.corpus import Loss, LossJournal, Output
from sandscore.formats.foreign_input import read_labels
from sandscore.formats.format_files import save
from sandscore.formats.sandscore_json import read_notes
from sandscore.task_table.task import NO_TASKS, TASKS, Task, find_task

STDOUT = "-"
Following = Callable[[Iterable[Any], int, str], Iterable[Any]]
"""Given what is gone through, how much it is, and what that is called; goes through it."""


class Converted(Struct, frozen=True):
    """What went over, what of it was lost, and the target's bytes: a file's, or those of a directory's files.

    >>> made = ss.convert(gold, source="ours", target="i2b2", notes=notes)
    >>> made.notes, len(made.content), "101-01.xml" in made.content
    (72, 72, True)
    """

    source: str
    target: str
    tasks: tuple[str, ...]
    notes: int
    annotations: int
    losses: tuple[Loss, ...]
    content: bytes | Mapping[str, bytes]

    def to_dict(self) -> dict[str, Any]:
        """All but the content, as the command line writes it."""
        return {
            "from": self.source,
            "to": self.target,
            "tasks": list(self.tasks),
            "notes": self.notes,
            "annotations": self.annotations,
            "losses": [asdict(loss) for loss in self.losses],
        }


class LossyConversion(ParticipantFault):
    """A conversion that had to be lossless and was not; ``losses`` says what would be lost."""

    def __init__(self, losses: Sequence[Loss]) -> None:
        super().__init__("nothing was written, as the above would be lost")
        self.losses = tuple(losses)


def convert(  # noqa: PLR0913 (named, one for each option)
    paths: "str | Path | Iterable[str | Path]",
    *,
    source: str,
    target: str,
    tasks: Sequence[str | Task] = (),
    notes: str | Path | None = None,
    output: str | Path | None = None,
    types: Sequence[str] = (),
    labels: Mapping[str, str | None] | str | Path | None = None,
    confidence: float = 100,
    drop_mismatches: bool = False,
    annotator: str | None = None,
    lossless: bool = False,
    force: bool = False,
    own_tasks: Mapping[str, Task] = NO_TASKS,
    following: Following | None = None,
) -> Converted:
    """Annotated notes from one file format to another, and what is lost on the way.

    ``tasks`` empty: all that the source has. ``types`` are the foreign types of the one task; ``labels`` maps them to
    labels of ours, or names a JSON file that does. ``annotator``: whose annotations are read, where several people
    annotated. ``own_tasks`` are known beside ours. Nothing is written without an ``output``.

    >>> made = ss.convert(gold, source="ours", target="conll", tasks=["date"], notes=notes)
    >>> made.notes > 0 and made.target
    'conll'
    """
    given = tuple(Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths))
    if not given:
        raise UsageFault(f"nothing to read: name the {source} files")
    if len(set(tasks)) < len(tasks):
        raise UsageFault("a task is named twice")
    named = tuple(find_task(task, own_tasks) for task in tasks)
    wanted = Conversion(
        FORMATS.find(source),
        FORMATS.find(target),
        given,
        named,
        read_notes(Path(notes)) if notes else None,
        tuple(types),
        read_labels(labels),
        confidence,
    )
    if wanted.target.directory and str(output) == STDOUT:
        raise UsageFault(f"{wanted.target.name} is a directory: name it with -o")
    journal = LossJournal(
        lenient=drop_mismatches,
        annotator=annotator,
        output=str(output or ""),
        tasks={**TASKS, **own_tasks, **{task.id: task for task in named}},
    )
    if following is not None:
        journal.watch = following
    corpus, made = conversion.convert(wanted, journal)
    if lossless and journal.losses:
        raise LossyConversion(journal.losses)
    if output is not None and str(output) != STDOUT:
        save(made, Path(output), force=force)
    return Converted(
        wanted.source.name,
        wanted.target.name,
        tuple(corpus.tasks),
        len(corpus.entries),
        corpus.marks,
        tuple(journal.losses),
        _content(made),
    )


def _content(made: Output) -> bytes | Mapping[str, bytes]:
    return made if isinstance(made, bytes) else made.content

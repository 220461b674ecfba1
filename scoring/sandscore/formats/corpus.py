"""The corpus that every format is read into and written from, and the record of what was lost on the way."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from sandscore.base.errors import ParticipantFault
from sandscore.base.terminal_text import cited
from sandscore.records.document import Annotation
from sandscore.task_table.task import TASKS, Task

Watch = Callable[[Iterable[Any], int, str], Iterable[Any]]

FLAT = next(task.id for task in TASKS.values() if task.any_type)
"""The task of annotations whose type is a free word: what a format without tasks of its own holds."""


class CorpusNote(Struct, frozen=True):
    """``text`` None where the format holds none; ``name`` is the whole resource name, if there is one.

    ``more`` is what else a format says of the note, by name, as JSON.
    """

    id: str
    text: str | None
    patient: str | None = None
    type: str | None = None
    name: str | None = None
    more: tuple[tuple[str, str], ...] = ()


class Mark(Struct, frozen=True):
    """An annotation, the task it belongs to, and the second label of the tasks that have one.

    ``more`` is what else a format says of it, such as a label beside its type, or its entity: name and value.
    """

    task: str
    annotation: Annotation
    second_label: str | None = None
    more: tuple[tuple[str, str], ...] = ()


class AnnotatedNote(Struct, frozen=True):
    """A note and everything marked in it, in file order."""

    note: CorpusNote
    marks: tuple[Mark, ...] = ()


class Corpus(Struct, frozen=True):
    """Notes with their marks. ``tasks`` are those the source speaks of, also where nothing is marked."""

    entries: tuple[AnnotatedNote, ...]
    tasks: tuple[str, ...] = (FLAT,)

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for entry in self.entries:
            if entry.note.id in seen:
                raise ParticipantFault(f"two notes are called {cited(entry.note.id)}; identifiers must differ")
            seen.add(entry.note.id)

    @property
    def marks(self) -> int:
        return sum(len(entry.marks) for entry in self.entries)


class Loss(Struct, frozen=True):
    """Something the target cannot hold, how often it occurred, and the first note where it did."""

    format: str
    what: str
    count: int
    example: str | None

    @property
    def sentence(self) -> str:
        first = "" if self.example is None else f", first in note {cited(self.example)}"
        return f"not carried over ({self.format}): {self.what}: {self.count}{first}"


def _unwatched(items: Iterable[Any], _total: int, _what: str) -> Iterable[Any]:
    return items


class LossJournal(Struct):
    """Losses counted as they occur, and whoever watches the work go by.

    ``lenient``: an annotation whose offsets do not fit the text is a loss, not an error; ``kept``: it stays as it is,
    for whoever judges it later. ``annotator``: whose annotations are meant, where several people annotated.
    ``output``: how what is written will be called. ``tasks``: all there are.
    """

    watch: Watch = _unwatched
    lenient: bool = False
    kept: bool = False
    annotator: str | None = None
    output: str = ""
    tasks: Mapping[str, Task] = field(default_factory=lambda: TASKS)
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)
    _examples: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def lose(self, format_name: str, what: str, note: str | None, count: int = 1) -> None:
        key = (format_name, what)
        self._counts[key] = self._counts.get(key, 0) + count
        self._examples.setdefault(key, note)

    def cut(
        self, format_name: str, note: CorpusNote, span: tuple[int, int], quoted: str | None, where: str
    ) -> Annotation | None:
        """The annotation over a span, None where it does not fit and that is allowed."""
        try:
            return cut(note, *span, quoted, where)
        except Mismatch:
            if self.kept:
                return _as_said(note, *span, quoted)
            if not self.lenient:
                raise
            self.lose(format_name, "annotations whose text does not stand at their offsets", note.id)
            return None

    @property
    def losses(self) -> tuple[Loss, ...]:
        return tuple(Loss(*key, count, self._examples[key]) for key, count in self._counts.items() if count)


class FormatFiles(Struct, frozen=True):
    """A directory's worth of output: file name to content."""

    content: Mapping[str, bytes]


Output = bytes | FormatFiles


class Mismatch(ParticipantFault):
    """Offsets that do not say what the file itself quotes, or that are not in the note."""


def cut(note: CorpusNote, start: int, end: int, quoted: str | None, where: str) -> Annotation:
    """The annotation at [start, end), checked against the note and the text the file itself quotes."""
    if not 0 <= start < end:
        raise Mismatch(f"{where}: {clipped(start)}-{clipped(end)} is not a span of one character or more")
    if note.text is None:
        return _cut_blind(start, end, quoted, f"{where}: note {cited(note.id)}")
    found = note.text[start:end]
    hint = _elsewhere(note.text, start, end, quoted) if quoted not in {None, found} else ""
    if end > len(note.text):
        size = f"it has {len(note.text)} characters"
        beyond = f"{clipped(start)}-{clipped(end)} is past the end of note {cited(note.id)}"
        raise Mismatch(f"{where}: {beyond} ({size}){hint}")
    if quoted not in {None, found}:
        raise Mismatch(f"{where}: note {cited(note.id)} does not read {cited(quoted or '')} at {start}-{end}{hint}")
    return Annotation(start, end - start, found)


def _as_said(note: CorpusNote, start: int, end: int, quoted: str | None) -> Annotation:
    """What is at fault, as the file has it; where it quotes no text, with what stands there."""
    found = (note.text or "")[max(0, start) : max(0, end)] if quoted is None else quoted
    return Annotation(start, end - start, found)


def _cut_blind(start: int, end: int, quoted: str | None, where: str) -> Annotation:
    if quoted is None:
        raise ParticipantFault(f"{where}: its text is not known; give --notes")
    if len(quoted) != end - start:
        length = f"{clipped(start)}-{clipped(end)} is {clipped(end - start)} characters long"
        raise Mismatch(f"{where}: {length}, but the text {cited(quoted)} has {len(quoted)}")
    return Annotation(start, end - start, quoted)


def clipped(number: int) -> str:
    """A number from somebody's file; one of a thousand digits is not repeated."""
    return str(number) if abs(number) < 10**12 else "a number beyond all notes"


def _elsewhere(text: str, start: int, end: int, quoted: str | None) -> str:
    if text.replace("\r\n", "\n")[start:end] == quoted:
        return " (it does if every CRLF counts as one character)"
    if text.startswith("\ufeff") and text[start + 1 : end + 1] == quoted:
        return " (it does if the byte order mark is not counted)"
    units = text.encode("utf-16-le")[2 * start : 2 * end]
    if units.decode("utf-16-le", "replace") == quoted:
        return " (it does in UTF-16 units; offsets count code points)"
    if text.encode("utf-8")[start:end].decode("utf-8", "replace") == quoted:
        return " (it does in UTF-8 bytes; offsets count code points)"
    return ""

"""A perturbation: a row that says how it rewrites the notes of one patient, as edits of their texts.

Extend ``Perturbation`` for one of your own. An edit replaces a run of characters by others; where a gold annotation
begins or ends strictly within that run nobody could say where it stands afterwards, and the edit is left out.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import accumulate
from random import Random
from typing import ClassVar, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.errors import UsageFault
from sandscore.base.registry import TableRow
from sandscore.task_table.task import Task

Where = Literal["inside", "outside", "anywhere"]
_Item = TypeVar("_Item")
DATE_FORMAT = "dateFormat"
"""The label of dates, which says how they are written and changes with it."""


class GoldMention(Struct, frozen=True):
    """What gold annotates; ``row`` is its place among the note's annotations of that task."""

    start: int
    end: int
    task: Task
    row: int
    label: str | None = None


class GoldNote(Struct, frozen=True):
    """A note with all that gold says of it; ``patient`` is the note itself where nobody said whose it is."""

    place: int
    patient: str
    text: str
    mentions: tuple[GoldMention, ...]


class Edit(Struct, frozen=True):
    """Characters that are replaced; ``date_format`` is that of a date that consists of them from now on."""

    start: int
    end: int
    text: str
    date_format: str | None = None


class Draw:
    """Chance that follows from a seed and words, the same in every version of Python."""

    def __init__(self, seed: int, *words: str) -> None:
        said = "\n".join((str(seed), *words)).encode("utf-8", "surrogatepass")
        self._random = Random(int.from_bytes(sha256(said).digest(), "big"))  # noqa: S311 (no secret)

    def chance(self, rate: float) -> bool:
        return self._random.random() < rate

    def below(self, number: int) -> int:
        return int(self._random.random() * number)

    def one_of(self, items: Sequence[_Item]) -> _Item:
        return items[self.below(len(items))]


class Perturbation(TableRow):
    """What every perturbation says of itself; ``value`` is what was written behind its option."""

    writes: ClassVar[Where] = "anywhere"
    """Which characters it may change: those of gold alone, all others alone, or any."""
    metavar: ClassVar[str] = ""
    """What stands behind its option; nothing for a switch."""
    sample: ClassVar[str] = ""
    """A value that it takes."""

    def __init__(self, value: str) -> None:
        self.value = value

    @property
    def told(self) -> dict[str, object]:
        """What the record of changes says of it, beside its name and value."""
        return {}

    def edits(self, notes: Sequence[GoldNote], draw: Draw) -> list[list[Edit]]:
        """The edits of each of these notes, which are those of one patient in the order of the file."""
        raise NotImplementedError


class CharacterPerturbation(Perturbation):
    """One that looks at each note by itself."""

    def edits(self, notes: Sequence[GoldNote], draw: Draw) -> list[list[Edit]]:
        return [self.edits_of(note, draw) for note in notes]

    def edits_of(self, note: GoldNote, draw: Draw) -> list[Edit]:
        raise NotImplementedError


class Rewritten(Struct, frozen=True):
    """A note after its edits: those that were made, and how many were left out."""

    note: GoldNote
    edits: tuple[Edit, ...]
    left_out: int


def rewritten(note: GoldNote, edits: Iterable[Edit]) -> Rewritten:
    """The note with these edits made; gold stands where its characters went."""
    asked = sorted((edit for edit in edits if _changes(note, edit)), key=lambda edit: edit.start)
    kept = _possible(note, asked)
    pieces, at = [], 0
    for edit in kept:
        pieces += [note.text[at : edit.start], edit.text]
        at = edit.end
    ends = [edit.end for edit in kept]
    moved = [0, *accumulate(len(edit.text) - (edit.end - edit.start) for edit in kept)]

    def place(old: int) -> int:
        return old + moved[bisect_right(ends, old)]

    forms = {(edit.start, edit.end): edit.date_format for edit in kept if edit.date_format is not None}

    def label(one: GoldMention) -> str | None:
        told = one.label is not None and one.task.label == DATE_FORMAT
        return forms.get((one.start, one.end), one.label) if told else one.label

    mentions = tuple(
        replace(one, start=place(one.start), end=place(one.end), label=label(one)) for one in note.mentions
    )
    text = "".join([*pieces, note.text[at:]])
    return Rewritten(replace(note, text=text, mentions=mentions), tuple(kept), len(asked) - len(kept))


def _changes(note: GoldNote, edit: Edit) -> bool:
    if not 0 <= edit.start < edit.end <= len(note.text):
        raise UsageFault(f"an edit from {edit.start} to {edit.end} of a note of {len(note.text)} characters")
    return edit.text != note.text[edit.start : edit.end] or edit.date_format is not None


def _possible(note: GoldNote, asked: Sequence[Edit]) -> list[Edit]:
    """Edits that do not overlap, split no mention and leave none empty."""
    borders = sorted({place for one in note.mentions for place in (one.start, one.end)})
    kept: list[Edit] = []
    at = 0
    for edit in asked:
        within = bisect_right(borders, edit.start) < bisect_right(borders, edit.end - 1)
        if not within and edit.start >= at:
            kept.append(edit)
            at = edit.end
    emptied = [one for one in note.mentions if _is_emptied(one, kept)] if any(not e.text for e in kept) else []
    return [edit for edit in kept if edit.text or not any(one.start <= edit.start < one.end for one in emptied)]


def _is_emptied(mention: GoldMention, edits: Iterable[Edit]) -> bool:
    gone = [edit for edit in edits if mention.start <= edit.start and edit.end <= mention.end and not edit.text]
    return sum(edit.end - edit.start for edit in gone) == mention.end - mention.start

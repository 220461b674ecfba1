"""The interface of a general measure: integers counted per note, and ratios made of their sums."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from sandscore.measures.measure_syntax import Definition, Scalar
from sandscore.records.document import Annotation, Document

Settings = Mapping[str, Scalar]
Components = dict[str, int]


class GeneralMeasure(Struct, frozen=True):
    """A row of the table: ``count`` a note, add up, ``score`` the sums; ``warn`` where the original differs."""

    definition: Definition
    count: Callable[[Document, Settings], Components]
    score: Callable[[Mapping[str, int], Settings], dict[str, Any]]
    warn: Callable[[Sequence[Document], Settings], tuple[str, ...]]


def add_up(notes: Iterable[Mapping[str, int]]) -> Components:
    """The components of several notes as one."""
    total: Counter[str] = Counter()
    for components in notes:
        total.update(components)
    return dict(total)


def extents(annotations: Iterable[Annotation]) -> list[tuple[int, int]]:
    """Half-open extents, in file order."""
    return [(a.start, a.start + a.length) for a in annotations]


def named(notes: Sequence[str]) -> str:
    """How many notes, and the first of them."""
    return f"note {notes[0]}" if len(notes) == 1 else f"{len(notes)} notes (the first is {notes[0]})"

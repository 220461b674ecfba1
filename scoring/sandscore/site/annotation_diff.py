"""The page that shows two submissions' annotations beside gold's: the notes on which they differ, the worst first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from sandscore.records.document import Annotation, Document
from sandscore.records.scorecard import Scorecard
from sandscore.site.page_templates import page
from sandscore.site.site_folder import write_page
from sandscore.site.submission_report import MOST_NOTES, MOST_TEXT, Sheet, judge
from sandscore.task_table.own_tasks import carried_task

Place = tuple[int, int, str | None]


class DiffRow(Struct, frozen=True):
    """What one of the two has at a place, and the other has not."""

    start: int
    end: int
    label: str | None
    side: str
    right: bool


class DiffNote(Struct, frozen=True):
    """A note on which the two differ: who is better there, what only one of them has, and both judged by gold."""

    note: str
    better: str | None
    rows: Sequence[DiffRow]
    sheets: tuple[Sheet, Sheet]


class Compared(Protocol):
    """Two cards on the same notes, and what there is to say of the second."""

    @property
    def cards(self) -> tuple[Scorecard, Scorecard]: ...
    @property
    def sentences(self) -> Sequence[str]: ...


def write_diff(
    path: Path,
    compared: Compared,
    better: Mapping[str, str | None],
    documents: tuple[Sequence[Document], Sequence[Document]],
    *,
    allow_text: bool,
) -> None:
    """Write the page; the notes' words appear only where the organiser's licence flag allows text."""
    first, second = compared.cards
    names = first.submission or "a", second.submission or "b"
    notes, left_out = differing(first, better, documents)
    values = {"names": names, "sentences": compared.sentences, "notes": notes, "left_out": left_out}
    write_page(path, page("comparison.html", card=first, text=allow_text, **values))


def differing(
    card: Scorecard, better: Mapping[str, str | None], documents: tuple[Sequence[Document], Sequence[Document]]
) -> tuple[list[DiffNote], int]:
    """The notes whose annotations differ, those first where b is worse, as many as one page can bear."""
    task = carried_task(card)
    found = []
    for one, two in zip(*documents, strict=True):
        rows = _rows(one, two)
        if rows:
            found.append(DiffNote(one.id, better.get(one.id), rows, (judge(one, task), judge(two, task))))
    order = {"a": 0, "b": 1, None: 2}
    found.sort(key=lambda note: (order[note.better], -len(note.rows)))
    kept, room = [], MOST_TEXT
    for note in found[:MOST_NOTES]:
        room -= len(note.sheets[0].text or "")
        if room < 0:
            break
        kept.append(note)
    return kept, len(found) - len(kept)


def _rows(one: Document, two: Document) -> list[DiffRow]:
    gold = Counter(map(_place, one.gold))
    first, second = (Counter(map(_place, document.predictions)) for document in (one, two))
    rows = [DiffRow(*place, "a", place in gold) for place in (first - second).elements()]
    rows += [DiffRow(*place, "b", place in gold) for place in (second - first).elements()]
    return sorted(rows, key=lambda row: (row.start, row.end, row.side))


def _place(annotation: Annotation) -> Place:
    return annotation.start, annotation.end, annotation.label

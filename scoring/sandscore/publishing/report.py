"""The page a participant reads: where the points were lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandscore.measuring.error_files.comparing import compare
from sandscore.measuring.error_files.report import Alignment
from sandscore.publishing.folder import write_file
from sandscore.publishing.judging import Sheet, judge
from sandscore.publishing.labels import LabelTable, label_table
from sandscore.publishing.pages import page
from sandscore.publishing.plots.confidence import Curve, curve_of
from sandscore.publishing.plots.errors import ErrorProfile, error_profile
from sandscore.records.counts import Counts
from sandscore.records.documents import Document
from sandscore.records.scorecard import MeasureScore, Scorecard
from sandscore.tasks import Task, find_task

STRICT = "instance_strict"
NOTHING = "nothing"
MOST_LABELS = 30
WORST = 20
MOST_NOTES = 200
MOST_TEXT = 1_000_000


@dataclass(frozen=True, slots=True)
class WorstNote:
    """A note by its errors; ``sheet`` is where the explorer shows it, from 1."""

    note: str
    counts: Counts
    sheet: int | None


@dataclass(frozen=True, slots=True)
class Confusion:
    """Rows gold, columns predicted; the last of each stands for "nothing there"."""

    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything the page shows. ``left_out`` counts notes with errors that the explorer has no room for."""

    card: Scorecard
    headline: str
    extras: Mapping[str, Mapping[str, float]]
    errors: ErrorProfile | None
    labels: LabelTable | None
    confusion: Confusion | None
    curve: Curve | None
    worst: Sequence[WorstNote]
    sheets: Sequence[Sheet]
    left_out: int
    text_given: bool
    text_allowed: bool


def write_report(
    card: Scorecard, documents: Sequence[Document] | None, path: Path, *, allow_text: bool = False
) -> None:
    """Write the report of a card. Without ``documents`` it has no confusion and no explorer; the explorer, and
    with it every word of the notes, appears only where the organiser's licence flag allows text."""
    write_file(path, page("report.html", report=report_of(card, documents, allow_text=allow_text)))


def report_of(card: Scorecard, documents: Sequence[Document] | None, *, allow_text: bool = False) -> Report:
    """What the page shows."""
    task = find_task(card.task)
    strict = card.measures.get(STRICT)
    counts = strict.counts if strict else None
    headline = STRICT if strict else next(iter(card.measures), "")
    sheets, left_out = _sheets(documents or (), task) if allow_text else ([], 0)
    return Report(
        card=card,
        headline=headline,
        extras={name: found for name, score in card.measures.items() if (found := _extras(score))},
        errors=error_profile(counts.tp, card.errors) if counts and card.errors else None,
        labels=label_table(card.per_label, task.label_measure or headline),
        confusion=_confusion(documents, task) if documents and task.label else None,
        curve=curve_of(card.confidence),
        worst=_worst(card, headline, {sheet.note: at for at, sheet in enumerate(sheets, 1)}),
        sheets=sheets,
        left_out=left_out,
        text_given=any(document.text is not None for document in documents or ()),
        text_allowed=allow_text,
    )


def _extras(score: MeasureScore) -> dict[str, float]:
    """What a measure of another scorer carries beside or instead of counts."""
    given = {**(score.model_extra or {}), "conditional_accuracy": score.conditional_accuracy}
    return {name: value for name, value in given.items() if isinstance(value, int | float)}


def _worst(card: Scorecard, headline: str, sheets: Mapping[str, int]) -> list[WorstNote]:
    """The notes with the most errors; notes without any are none of them."""
    notes = [
        WorstNote(note, Counts(*measures[headline]), sheets.get(note))
        for note, measures in card.per_note.items()
        if headline in measures
    ]
    wrong = [note for note in notes if note.counts.fp + note.counts.fn]
    return sorted(wrong, key=lambda note: -(note.counts.fp + note.counts.fn))[:WORST]


def _confusion(documents: Sequence[Document], task: Task) -> Confusion:
    """Beyond the most frequent labels, all others share a row and a column."""
    found = compare(documents, task, Alignment(), None)
    named = range(len(found.labels) - 1)
    often = sorted(named, key=lambda at: -sum(found.matrix[at]) - sum(row[at] for row in found.matrix))
    groups = [[at] for at in sorted(often[:MOST_LABELS])]
    rest = sorted(often[MOST_LABELS:])
    groups += [rest, [len(named)]] if rest else [[len(named)]]
    titles = [found.labels[at] for at in sorted(often[:MOST_LABELS])]
    titles += [f"{len(rest)} other labels", NOTHING] if rest else [NOTHING]
    matrix = [[sum(found.matrix[i][j] for i in rows for j in columns) for columns in groups] for rows in groups]
    return Confusion(titles, matrix)


def _sheets(documents: Sequence[Document], task: Task) -> tuple[list[Sheet], int]:
    """Notes with errors, worst first, as many as one page can bear."""
    judged = [judge(document, task) for document in documents if document.text is not None]
    wrong = sorted((sheet for sheet in judged if sheet.errors), key=lambda sheet: -sheet.errors.total())
    kept, room = [], MOST_TEXT
    for sheet in wrong[:MOST_NOTES]:
        room -= len(sheet.text or "")
        if room < 0:
            break
        kept.append(sheet)
    return kept, len(wrong) - len(kept)

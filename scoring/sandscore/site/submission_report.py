"""The page a participant reads: where the points were lost.

What became of every annotation of one note, and the note's text cut up accordingly.

The judgement is the score card's: spans at the same place come first; of the rest, those that overlap are
paired off, as many as can be.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from sandscore.records.counts import Counts
from sandscore.records.document import Document
from sandscore.records.scorecard import AnyScore, Scorecard
from sandscore.site.error_files.error_comparison import TypedSpan, compare, same_place, typed_spans
from sandscore.site.error_files.error_report import EntityAlignment
from sandscore.site.page_templates import page
from sandscore.site.plots.confidence_plot import Curve, curve_of
from sandscore.site.plots.error_plot import ErrorProfile, error_profile
from sandscore.site.site_folder import write_page
from sandscore.site.submission_page import LabelTable, label_table
from sandscore.span_measures.overlap_matching import heaviest_matching, overlapping_pairs
from sandscore.task_table.own_tasks import carried_task
from sandscore.task_table.task import Task

RIGHT, LABEL, BOUNDARY, MISSED, SPURIOUS = "right", "label", "boundary", "missed", "spurious"


class JudgedSpan(Struct, frozen=True):
    """One annotation: where it stands, its label (None where it has none), and what became of it."""

    start: int
    end: int
    label: str | None
    kind: str


class Piece(Struct, frozen=True):
    """A stretch of text under one judgement, or under none; ``tag`` is the label that ends with it."""

    text: str
    kind: str | None
    tag: str | None


class Sheet(Struct, frozen=True):
    """One note: both sides' annotations, and how many errors of each kind there are."""

    note: str
    text: str | None
    gold: Sequence[JudgedSpan]
    predicted: Sequence[JudgedSpan]
    errors: Counter[str]

    @property
    def gold_pieces(self) -> list[Piece]:
        return pieces(self.text or "", self.gold)

    @property
    def predicted_pieces(self) -> list[Piece]:
        return pieces(self.text or "", self.predicted)


def judge(document: Document, task: Task) -> Sheet:
    """The note with all its annotations judged."""
    gold, predicted = typed_spans(document.gold, task), typed_spans(document.predictions, task)
    gold_kinds, predicted_kinds = dict[int, str](), dict[int, str]()
    for i, j in same_place(gold, predicted):
        differ = gold[i].labelled and predicted[j].labelled and gold[i].type != predicted[j].type
        gold_kinds[i] = predicted_kinds[j] = LABEL if differ else RIGHT
    errors = Counter({LABEL: Counter(gold_kinds.values())[LABEL]})
    left = (
        [i for i in range(len(gold)) if i not in gold_kinds],
        [j for j in range(len(predicted)) if j not in predicted_kinds],
    )
    extents = [[_extent(gold[i]) for i in left[0]], [_extent(predicted[j]) for j in left[1]]]
    for i, j in heaviest_matching(dict.fromkeys(overlapping_pairs(*extents), (1,))):
        gold_kinds[left[0][i]] = predicted_kinds[left[1][j]] = BOUNDARY
        errors[BOUNDARY] += 1
    errors[MISSED], errors[SPURIOUS] = len(gold) - len(gold_kinds), len(predicted) - len(predicted_kinds)
    return Sheet(
        document.id,
        document.text,
        [_judged(span, gold_kinds.get(i, MISSED)) for i, span in enumerate(gold)],
        [_judged(span, predicted_kinds.get(j, SPURIOUS)) for j, span in enumerate(predicted)],
        +errors,
    )


def pieces(text: str, annotations: Sequence[JudgedSpan]) -> list[Piece]:
    """The text from end to end; where annotations overlap, the one that begins last is seen."""
    within = [a for a in annotations if 0 <= a.start < a.end <= len(text)]
    edges = sorted({0, len(text)} | {edge for a in within for edge in (a.start, a.end)})
    waiting = sorted(within, key=lambda a: (a.start, -a.end), reverse=True)
    open_now: list[JudgedSpan] = []
    cut = []
    for start, end in pairwise(edges):
        while waiting and waiting[-1].start <= start:
            open_now.append(waiting.pop())
        open_now = [a for a in open_now if a.end > start]
        top = open_now[-1] if open_now else None
        tags = [a.label for a in open_now if a.end == end and a.label]
        cut.append(Piece(text[start:end], top.kind if top else None, ", ".join(tags) or None))
    return cut


def _extent(span: TypedSpan) -> tuple[int, int]:
    return span.of.start, span.of.end


def _judged(span: TypedSpan, kind: str) -> JudgedSpan:
    return JudgedSpan(span.of.start, span.of.end, span.type if span.labelled else None, kind)


STRICT = "instance_strict"
NOTHING = "nothing"
MOST_LABELS = 30
WORST = 20
MOST_NOTES = 200
MOST_TEXT = 1_000_000


class WorstNote(Struct, frozen=True):
    """A note by its errors; ``sheet`` is where the explorer shows it, from 1."""

    note: str
    counts: Counts
    sheet: int | None


class Confusion(Struct, frozen=True):
    """Rows gold, columns predicted; the last of each stands for "nothing there"."""

    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]


class SubmissionReport(Struct, frozen=True):
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
    write_page(path, page("report.html", report=report_of(card, documents, allow_text=allow_text)))


def report_of(card: Scorecard, documents: Sequence[Document] | None, *, allow_text: bool = False) -> SubmissionReport:
    """What the page shows."""
    task = carried_task(card)
    strict = card.measures.get(STRICT)
    counts = strict.counts if strict else None
    headline = STRICT if strict else next(iter(card.measures), "")
    sheets, left_out = _sheets(documents or (), task) if allow_text else ([], 0)
    return SubmissionReport(
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


def _extras(score: AnyScore) -> dict[str, float]:
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
    found = compare(documents, task, EntityAlignment(), None)
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

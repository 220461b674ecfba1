"""What became of every annotation of one note, and the note's text cut up accordingly.

The judgement is the score card's: spans at the same place come first; of the rest, those that overlap are
paired off, as many as can be.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sandscore.measuring.error_files.typed_spans import TypedSpan, same_place, typed_spans
from sandscore.measuring.general.matching import heaviest_matching, overlapping_pairs
from sandscore.records.documents import Document
from sandscore.tasks import Task

RIGHT, LABEL, BOUNDARY, MISSED, SPURIOUS = "right", "label", "boundary", "missed", "spurious"


@dataclass(frozen=True, slots=True)
class Judged:
    """One annotation: where it stands, its label (None where it has none), and what became of it."""

    start: int
    end: int
    label: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text under one judgement, or under none; ``tag`` is the label that ends with it."""

    text: str
    kind: str | None
    tag: str | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """One note: both sides' annotations, and how many errors of each kind there are."""

    note: str
    text: str | None
    gold: Sequence[Judged]
    predicted: Sequence[Judged]
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


def pieces(text: str, annotations: Sequence[Judged]) -> list[Piece]:
    """The text from end to end; where annotations overlap, the one that begins last is seen."""
    within = [a for a in annotations if 0 <= a.start < a.end <= len(text)]
    edges = sorted({0, len(text)} | {edge for a in within for edge in (a.start, a.end)})
    waiting = sorted(within, key=lambda a: (a.start, -a.end), reverse=True)
    open_now: list[Judged] = []
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


def _judged(span: TypedSpan, kind: str) -> Judged:
    return Judged(span.of.start, span.of.end, span.type if span.labelled else None, kind)

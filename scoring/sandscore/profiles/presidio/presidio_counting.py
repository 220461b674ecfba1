"""Gold spans against predicted spans of one document: what is counted, confused and listed as an error.

A gold span is compared with every prediction that overlaps it, those included that another gold span has
already used. Predictions are grouped by type; each group is a hit or not, on its own. Hence one prediction
can count several times, and a gold span both as found and as missed: the counts are the original's.

Intersection over union of spans, as the original computes it.

The original's error list, entry by entry, in its words.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any, Literal

from msgspec import Struct, field

from sandscore.profiles.presidio.presidio_spans import OUTSIDE, TokenSpan

Kind = Literal["FP", "FN", "WrongEntity"]


class SpanError(Struct, frozen=True, gc=False):
    """One entry: what it is, the gold and the predicted type (``O`` for none), and the span it is about.

    What it says in words is put together when it is asked for; ``iou`` None is never named.
    """

    kind: Kind
    annotation: str
    prediction: str
    note: str
    about: TokenSpan
    why: str
    iou: float | None
    threshold: float

    @property
    def full_text(self) -> str:
        return self.about.value

    @property
    def token(self) -> str:
        return " ".join(self.about.words)

    @property
    def explanation(self) -> str:
        return self.why if self.iou is None else f"{self.why}={self.iou:.2f} compared to threshold={self.threshold}"

    @property
    def start(self) -> int:
        return self.about.start

    @property
    def end(self) -> int:
        return self.about.end


class ErrorWriter(Struct, frozen=True):
    """Writes the entries of one document."""

    note: str
    threshold: float

    def missed(self, gold: TokenSpan, nearest: TokenSpan | None = None, iou: float | None = None) -> SpanError:
        if nearest is None:
            why = f"Entity {gold.type} not detected."
        elif nearest.type == gold.type:
            why = f"Entity {gold.type} not detected due to low iou"
        else:
            why = f"Entity {gold.type} not detected. iou with {nearest.type}"
        return SpanError("FN", gold.type, OUTSIDE, self.note, gold, why, iou, self.threshold)

    def false(self, predicted: TokenSpan, iou: float) -> SpanError:
        why = f"Entity {predicted.type} falsely detected, iou"
        return SpanError("FP", OUTSIDE, predicted.type, self.note, predicted, why, iou, self.threshold)

    def wrong(self, gold: TokenSpan, predicted: TokenSpan, iou: float) -> SpanError:
        why = f"Wrong entity type: {gold.type} detected as {predicted.type}, iou"
        return SpanError("WrongEntity", gold.type, predicted.type, self.note, gold, why, iou, self.threshold)

    def isolated(self, predicted: TokenSpan) -> SpanError:
        why = f"False prediction with no overlap: {predicted.type}"
        return SpanError("FP", OUTSIDE, predicted.type, self.note, predicted, why, None, self.threshold)


class Overlap(Struct, frozen=True):
    """How overlap is measured: in characters or in words, and whether a word's place counts."""

    by_characters: bool
    words_have_places: bool

    def around(self, predicted: Sequence[TokenSpan]) -> Callable[[TokenSpan], Sequence[TokenSpan]]:
        """For a gold span, those of the predictions that can overlap it, without a look at each of them."""
        begins = [span.inner_start for span in predicted]
        if not self.by_characters or begins != sorted(begins):
            return lambda _: predicted
        reached = list(accumulate([span.inner_end for span in predicted], max))

        def between(gold: TokenSpan) -> Sequence[TokenSpan]:
            return predicted[bisect_right(reached, gold.inner_start) : bisect_left(begins, gold.inner_end)]

        return between

    def near(self, gold: TokenSpan, predicted: Sequence[TokenSpan]) -> list[tuple[TokenSpan, float]]:
        """The predictions that overlap a gold span, each with its own overlap; touching is no overlap."""
        if not self.by_characters:
            return [(span, iou) for span in predicted if (iou := self._by_words(gold, [span])) > 0]
        start, end = gold.inner_start, gold.inner_end
        touching = [span for span in predicted if span.inner_start < end and span.inner_end > start]
        return [(span, iou) for span in touching if (iou := _plain(gold, span)) > 0]

    def combined(self, gold: TokenSpan, predicted: Sequence[TokenSpan]) -> float:
        """Of several predictions of one type together.

        As the original runs it: every span is one character too long, and all but the first prediction
        are shifted one to the left.
        """
        if not self.by_characters:
            return self._by_words(gold, predicted)
        mine = set(range(gold.inner_start, gold.inner_end + 1))
        theirs = set(range(predicted[0].inner_start, predicted[0].inner_end + 1))
        for span in predicted[1:]:
            theirs.update(range(span.inner_start - 1, span.inner_end))
        return _jaccard(mine, theirs)

    def true_combined(self, gold: TokenSpan, predicted: Sequence[TokenSpan]) -> float:
        """What ``combined`` would be without the original's slip."""
        if not self.by_characters:
            return self._by_words(gold, predicted)
        theirs: set[int] = set()
        theirs.update(*(range(span.inner_start, span.inner_end) for span in predicted))
        return _jaccard(set(range(gold.inner_start, gold.inner_end)), theirs)

    def _by_words(self, gold: TokenSpan, predicted: Sequence[TokenSpan]) -> float:
        theirs: set[Any] = set()
        theirs.update(*map(self._words, predicted))
        return _jaccard(self._words(gold), theirs)

    def _words(self, span: TokenSpan) -> set[Any]:
        if self.words_have_places:
            return set(zip(span.word_starts, span.words, strict=True))
        return set(span.words)


def _plain(one: TokenSpan, other: TokenSpan) -> float:
    shared = min(one.inner_end, other.inner_end) - max(one.inner_start, other.inner_start)
    return shared / (max(one.inner_end, other.inner_end) - min(one.inner_start, other.inner_start))


def _jaccard(one: set[Any], other: set[Any]) -> float:
    whole = len(one | other)
    return len(one & other) / whole if whole else 0.0


class TypeCounts(Struct):
    """Counts of one type; ``tp + fn`` need not be ``annotated``."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    predicted: int = 0
    annotated: int = 0


class SpanTally(Struct):
    """What a pass over the documents adds up; ``slips`` counts hits and misses decided by the IoU slip."""

    counts: defaultdict[str, TypeCounts] = field(default_factory=lambda: defaultdict(TypeCounts))
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    errors: list[SpanError] = field(default_factory=list)
    slips: int = 0


class SpanGroup(Struct, frozen=True, gc=False):
    """Overlapping predictions of one type with their overlap together; ``lone``: nothing else overlaps."""

    spans: Sequence[TokenSpan]
    iou: float
    lone: bool = False


class SpanComparison(Struct, frozen=True):
    """Compares the documents of one pass and adds to its tally.

    The pass that ignores types (``typed`` False) lists and confuses isolated predictions only, as the
    original does.
    """

    overlap: Overlap
    threshold: float
    typed: bool

    def add(self, gold: Sequence[TokenSpan], predicted: Sequence[TokenSpan], note: str, to: SpanTally) -> None:
        """Adds one document."""
        write = ErrorWriter(note, self.threshold)
        around = self.overlap.around(predicted)
        used: set[tuple[str, int, int]] = set()
        for span in gold:
            to.counts[span.type].annotated += 1
            near = self.overlap.near(span, around(span))
            for other, _ in near:
                used.add((other.type, other.start, other.end))
            if not near:
                self._missed(span, write, to)
            elif len(near) > 1:
                self._judge_several(span, [p for p, _ in near], write, to)
            elif near[0][1] >= self.threshold and near[0][0].type == span.type:
                self._hit(span.type, to)
            else:
                self._judge(span, [SpanGroup(near[0][:1], near[0][1], lone=True)], write, to)
        for span in predicted:
            if (span.type, span.start, span.end) not in used:
                self._isolated(span, write, to)

    def _isolated(self, span: TokenSpan, write: ErrorWriter, to: SpanTally) -> None:
        counts = to.counts[span.type]
        counts.fp += 1
        counts.predicted += 1
        to.confusion[OUTSIDE, span.type] += 1
        to.errors.append(write.isolated(span))

    def _hit(self, name: str, to: SpanTally) -> None:
        counts = to.counts[name]
        counts.tp += 1
        counts.predicted += 1
        if self.typed:
            to.confusion[name, name] += 1

    def _missed(self, gold: TokenSpan, write: ErrorWriter, to: SpanTally) -> None:
        to.counts[gold.type].fn += 1
        if self.typed:
            to.confusion[gold.type, OUTSIDE] += 1
            to.errors.append(write.missed(gold))

    def _judge_several(self, gold: TokenSpan, near: Sequence[TokenSpan], write: ErrorWriter, to: SpanTally) -> None:
        by_type: dict[str, list[TokenSpan]] = {}
        for span in near:
            by_type.setdefault(span.type, []).append(span)
        groups = [SpanGroup(spans, self.overlap.combined(gold, spans)) for spans in by_type.values()]
        for group in groups:
            truly = self.overlap.true_combined(gold, group.spans) >= self.threshold
            to.slips += truly != (group.iou >= self.threshold)
        self._judge(gold, groups, write, to)

    def _judge(self, gold: TokenSpan, groups: Sequence[SpanGroup], write: ErrorWriter, to: SpanTally) -> None:
        settled = False
        for group in groups:
            first = group.spans[0]
            hit, same = group.iou >= self.threshold, first.type == gold.type
            if hit and same:
                self._hit(gold.type, to)
            else:
                counts = to.counts[first.type]
                counts.predicted += 1
                counts.fp += 1
                to.counts[gold.type].fn += not settled
                if self.typed:
                    to.confusion.update(_confused(gold.type, first.type, hit, settled))
                    to.errors.extend(_entries(gold, group, write, hit, settled))
            settled = True


def _confused(gold: str, predicted: str, hit: bool, settled: bool) -> Iterable[tuple[str, str]]:
    """The cells of the confusion matrix that a group without a hit of the right type adds to."""
    if hit:
        return [(gold, predicted)]
    alone = [(OUTSIDE, predicted)]
    return alone if settled and gold == predicted else [(gold, OUTSIDE), *alone]


def _entries(gold: TokenSpan, group: SpanGroup, write: ErrorWriter, hit: bool, settled: bool) -> list[SpanError]:
    """The errors such a group is listed with; a lone wrong type is named before its miss."""
    first = group.spans[0]
    missed = [] if settled else [write.missed(gold, first, group.iou)]
    wrong = [write.wrong(gold, first, group.iou)] if hit else []
    false = [write.false(first, group.iou)]
    return wrong + missed + false if group.lone else missed + wrong + false

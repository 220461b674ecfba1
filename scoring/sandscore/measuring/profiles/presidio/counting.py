"""Gold spans against predicted spans of one document: what is counted, confused and listed as an error.

A gold span is compared with every prediction that overlaps it, those included that another gold span has
already used. Predictions are grouped by type; each group is a hit or not, on its own. Hence one prediction
can count several times, and a gold span both as found and as missed: the counts are the original's.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from sandscore.measuring.profiles.presidio.errors import ErrorWriter, SpanError
from sandscore.measuring.profiles.presidio.overlap import Overlap
from sandscore.measuring.profiles.presidio.spans import TokenSpan
from sandscore.measuring.profiles.presidio.tagging import OUTSIDE


@dataclass(slots=True)
class TypeCounts:
    """Counts of one type; ``tp + fn`` need not be ``annotated``."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    predicted: int = 0
    annotated: int = 0


@dataclass(slots=True)
class Tally:
    """What a pass over the documents adds up; ``slips`` counts hits and misses decided by the IoU slip."""

    counts: defaultdict[str, TypeCounts] = field(default_factory=lambda: defaultdict(TypeCounts))
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    errors: list[SpanError] = field(default_factory=list)
    slips: int = 0


class Group(Struct, frozen=True, gc=False):
    """Overlapping predictions of one type with their overlap together; ``lone``: nothing else overlaps."""

    spans: Sequence[TokenSpan]
    iou: float
    lone: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares the documents of one pass and adds to its tally.

    The pass that ignores types (``typed`` False) lists and confuses isolated predictions only, as the
    original does.
    """

    overlap: Overlap
    threshold: float
    typed: bool

    def add(self, gold: Sequence[TokenSpan], predicted: Sequence[TokenSpan], note: str, to: Tally) -> None:
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
                self._judge(span, [Group(near[0][:1], near[0][1], lone=True)], write, to)
        for span in predicted:
            if (span.type, span.start, span.end) not in used:
                self._isolated(span, write, to)

    def _isolated(self, span: TokenSpan, write: ErrorWriter, to: Tally) -> None:
        counts = to.counts[span.type]
        counts.fp += 1
        counts.predicted += 1
        to.confusion[OUTSIDE, span.type] += 1
        to.errors.append(write.isolated(span))

    def _hit(self, name: str, to: Tally) -> None:
        counts = to.counts[name]
        counts.tp += 1
        counts.predicted += 1
        if self.typed:
            to.confusion[name, name] += 1

    def _missed(self, gold: TokenSpan, write: ErrorWriter, to: Tally) -> None:
        to.counts[gold.type].fn += 1
        if self.typed:
            to.confusion[gold.type, OUTSIDE] += 1
            to.errors.append(write.missed(gold))

    def _judge_several(self, gold: TokenSpan, near: Sequence[TokenSpan], write: ErrorWriter, to: Tally) -> None:
        by_type: dict[str, list[TokenSpan]] = {}
        for span in near:
            by_type.setdefault(span.type, []).append(span)
        groups = [Group(spans, self.overlap.combined(gold, spans)) for spans in by_type.values()]
        for group in groups:
            truly = self.overlap.true_combined(gold, group.spans) >= self.threshold
            to.slips += truly != (group.iou >= self.threshold)
        self._judge(gold, groups, write, to)

    def _judge(self, gold: TokenSpan, groups: Sequence[Group], write: ErrorWriter, to: Tally) -> None:
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


def _entries(gold: TokenSpan, group: Group, write: ErrorWriter, hit: bool, settled: bool) -> list[SpanError]:
    """The errors such a group is listed with; a lone wrong type is named before its miss."""
    first = group.spans[0]
    missed = [] if settled else [write.missed(gold, first, group.iou)]
    wrong = [write.wrong(gold, first, group.iou)] if hit else []
    false = [write.false(first, group.iou)]
    return wrong + missed + false if group.lone else missed + wrong + false

"""Every prediction is strict, exact, partial, incorrect or spurious; gold spans that nobody took are missed.

Several predictions may take one gold span, a prediction takes one gold span only, and ``possible`` is
therefore not the number of gold spans.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sandscore.records.errors import UsageFault

Label = Literal["strict", "exact", "partial", "incorrect", "spurious", "miss"]


@dataclass(frozen=True, slots=True)
class LabelledSpan:
    """What the original compares; ``value`` is the text the span claims, whose length it divides by."""

    type: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """A prediction's label, the gold span it was given to and the overlap; or a missed gold span."""

    label: Label
    gold: LabelledSpan | None
    prediction: LabelledSpan | None
    score: float

    @property
    def type(self) -> str:
        """The type whose row counts it: the gold span's where there is one."""
        span = self.gold or self.prediction
        return span.type if span else ""


@dataclass(slots=True)
class LabelCounts:
    """How many verdicts of each label."""

    strict: int = 0
    exact: int = 0
    partial: int = 0
    incorrect: int = 0
    miss: int = 0
    spurious: int = 0

    def add(self, label: Label) -> None:
        setattr(self, label, getattr(self, label) + 1)

    @property
    def actual(self) -> int:
        return self.strict + self.exact + self.partial + self.incorrect + self.spurious

    @property
    def possible(self) -> int:
        return self.strict + self.exact + self.partial + self.incorrect + self.miss

    def hits(self) -> dict[str, float]:
        """The numerator at each level."""
        flexible = self.strict + self.exact
        return {"strict": self.strict, "flexible": flexible, "partial": flexible + 0.5 * self.partial}

    def ratios(self) -> dict[str, float]:
        """Precision and recall at each level; 0, not undefined, where there is nothing to divide by."""
        return {
            f"{level} {name}": hits / whole if whole else 0
            for level, hits in self.hits().items()
            for name, whole in (("precision", self.actual), ("recall", self.possible))
        }


@dataclass(slots=True)
class LabelTable:
    """One row a kept type, also where nothing was counted, and all of them together."""

    total: LabelCounts = field(default_factory=LabelCounts)
    per_type: dict[str, LabelCounts] = field(default_factory=dict)

    def add(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            self.total.add(verdict.label)
            self.per_type.setdefault(verdict.type, LabelCounts()).add(verdict.label)


def judge(gold: Sequence[LabelledSpan], predicted: Sequence[LabelledSpan], threshold: float) -> list[Verdict]:
    """One verdict a prediction, in order, then the missed gold spans."""
    verdicts = [_verdict(prediction, gold, threshold) for prediction in predicted]
    taken = {verdict.gold for verdict in verdicts}
    return verdicts + [Verdict("miss", span, None, 0) for span in gold if span not in taken]


def _verdict(prediction: LabelledSpan, gold: Sequence[LabelledSpan], threshold: float) -> Verdict:
    """Equality first; else the gold span of the largest ratio, the first of equals, whatever its type."""
    if prediction in gold:
        return Verdict("strict", prediction, prediction, 1)
    best, nearest = 0.0, None
    for span in gold:
        ratio = _ratio(span, prediction)
        if ratio > best:
            best, nearest = ratio, span
    if nearest is None:
        if threshold <= 0:
            raise UsageFault(
                "span-labels with overlap_threshold=0 has no answer where a prediction overlaps no gold span:"
                " the original fails there; take a threshold above 0"
            )
        return Verdict("spurious", None, prediction, 0)
    if best < threshold:
        return Verdict("incorrect", nearest, prediction, best)
    return Verdict("exact" if nearest.type == prediction.type else "partial", nearest, prediction, best)


def _ratio(gold: LabelledSpan, prediction: LabelledSpan) -> float:
    """Shared characters over the longer of the two texts, which need not be as long as their spans."""
    shared = max(0, min(gold.end, prediction.end) - max(gold.start, prediction.start))
    longer = max(len(gold.value), len(prediction.value))
    return shared / longer if longer else 0.0

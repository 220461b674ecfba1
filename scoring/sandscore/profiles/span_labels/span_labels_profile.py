"""The profile ``span-labels``: precision and recall at three levels from six labels of spans.

Reproduces the six-label span comparison that Presidio's evaluator had on a branch (ea019d5), with the one
line that made it crash read as its predecessor had it.

Every prediction is strict, exact, partial, incorrect or spurious; gold spans that nobody took are missed.

Several predictions may take one gold span, a prediction takes one gold span only, and ``possible`` is
therefore not the number of gold spans.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct, field
from msgspec.structs import asdict, replace

from sandscore.annotations.columns import distinct
from sandscore.annotations.input_files import Loaded
from sandscore.base.errors import UsageFault
from sandscore.documents.note_spans import Column, SpanSide, spans_of
from sandscore.measures.measure_syntax import Parameter, Scalar
from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult
from sandscore.profiles.profile_documents import chosen, documents, type_of, types_in
from sandscore.profiles.span_labels.label_columns import count_labels
from sandscore.records.document import Annotation, Document
from sandscore.task_table.task import Task

Label = Literal["strict", "exact", "partial", "incorrect", "spurious", "miss"]


class LabelledSpan(Struct, frozen=True):
    """What the original compares; ``value`` is the text the span claims, whose length it divides by."""

    type: str
    value: str
    start: int
    end: int


class SpanVerdict(Struct, frozen=True):
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


class LabelCounts(Struct):
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


class VerdictTable(Struct):
    """One row a kept type, also where nothing was counted, and all of them together."""

    total: LabelCounts = field(default_factory=LabelCounts)
    per_type: dict[str, LabelCounts] = field(default_factory=dict)

    def add(self, verdicts: Iterable[SpanVerdict]) -> None:
        for verdict in verdicts:
            self.total.add(verdict.label)
            self.per_type.setdefault(verdict.type, LabelCounts()).add(verdict.label)


def judge(gold: Sequence[LabelledSpan], predicted: Sequence[LabelledSpan], threshold: float) -> list[SpanVerdict]:
    """One verdict a prediction, in order, then the missed gold spans."""
    verdicts = [_verdict(prediction, gold, threshold) for prediction in predicted]
    taken = {verdict.gold for verdict in verdicts}
    return verdicts + [SpanVerdict("miss", span, None, 0) for span in gold if span not in taken]


def _verdict(prediction: LabelledSpan, gold: Sequence[LabelledSpan], threshold: float) -> SpanVerdict:
    """Equality first; else the gold span of the largest ratio, the first of equals, whatever its type."""
    if prediction in gold:
        return SpanVerdict("strict", prediction, prediction, 1)
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
        return SpanVerdict("spurious", None, prediction, 0)
    if best < threshold:
        return SpanVerdict("incorrect", nearest, prediction, best)
    return SpanVerdict("exact" if nearest.type == prediction.type else "partial", nearest, prediction, best)


def _ratio(gold: LabelledSpan, prediction: LabelledSpan) -> float:
    """Shared characters over the longer of the two texts, which need not be as long as their spans."""
    shared = max(0, min(gold.end, prediction.end) - max(gold.start, prediction.start))
    longer = max(len(gold.value), len(prediction.value))
    return shared / longer if longer else 0.0


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """The original's counts and ratios; ``entities`` names the types to keep, joined by ``|``."""
    notes = documents(given)
    kept = chosen(settings["entities"]) or frozenset(types_in(notes, given.task))
    table = VerdictTable(per_type={name: LabelCounts() for name in sorted(kept)})
    per_note: dict[str, dict[str, tuple[int, int, int]]] = {}
    for note in notes:
        verdicts = judge_document(note, given.task, kept, float(settings["overlap_threshold"]))
        table.add(verdicts)
        per_note[note.id] = _note_counts(verdicts)
    return ProfileResult(
        measures=_measures(table.total),
        per_note=per_note,
        details=_details(table),
        table=_printed(table),
        warnings=_warnings(table, notes, given.task, kept),
    )


def evaluate_columns(task: Task, loaded: Loaded, settings: Mapping[str, Scalar]) -> ProfileResult | None:
    """The same of files that were read as columns, where texts are as long as their spans."""
    spans = spans_of(loaded)
    unlabelled = task.id.replace("-", "_").upper()
    names = [*spans.labels, unlabelled]
    found = {names[label] for side in (spans.gold, spans.predictions) for label in distinct(side.label)[0].tolist()}
    kept = sorted(chosen(settings["entities"]) or found)
    numbers = {name: number for number, name in enumerate(kept)}
    types = np.array([numbers.get(name, -1) for name in names], np.int64)
    sides = [replace(side, label=types[side.label]) for side in (spans.gold, spans.predictions)]
    counts = count_labels(_of_kept(sides[0]), _of_kept(sides[1]), float(settings["overlap_threshold"]))
    if counts is None:
        return None
    by_type, by_note = counts.by_type(len(kept)), counts.by_note(len(spans.ids))
    table = VerdictTable(_label_counts(by_type.sum(axis=0)), dict(zip(kept, map(_label_counts, by_type), strict=True)))
    return ProfileResult(
        measures=_measures(table.total),
        per_note={note: _integers(_label_counts(row)) for note, row in zip(spans.ids, by_note, strict=True)},
        details=_details(table),
        table=_printed(table),
        warnings=_said(table, int(np.count_nonzero(sides[0].label >= 0))),
    )


def _of_kept(side: SpanSide) -> SpanSide:
    rows = side.label >= 0
    return SpanSide(side.note[rows], side.start[rows], side.length[rows], side.label[rows], side.place[rows])


def _label_counts(row: Column) -> LabelCounts:
    return LabelCounts(*row.tolist())


def judge_document(note: Document, task: Task, kept: frozenset[str], threshold: float) -> list[SpanVerdict]:
    """The verdicts of one note, types that are not kept left out on both sides."""
    gold, predicted = (_spans(side, task, kept) for side in (note.gold, note.predictions))
    return judge(gold, predicted, threshold)


def _spans(annotations: Iterable[Annotation], task: Task, kept: frozenset[str]) -> list[LabelledSpan]:
    spans = (LabelledSpan(type_of(a, task), a.text, a.start, a.end) for a in annotations)
    return [span for span in spans if span.type in kept]


def _note_counts(verdicts: Iterable[SpanVerdict]) -> dict[str, tuple[int, int, int]]:
    table = VerdictTable()
    table.add(verdicts)
    return _integers(table.total)


def _integers(counts: LabelCounts) -> dict[str, tuple[int, int, int]]:
    """True positives, false positives and false negatives at the two levels that count whole spans."""
    found = {"strict": counts.strict, "flexible": counts.strict + counts.exact}
    return {name: (tp, counts.actual - tp, counts.possible - tp) for name, tp in found.items()}


def _measures(total: LabelCounts) -> dict[str, dict[str, Any]]:
    ratios = total.ratios()
    measures: dict[str, dict[str, Any]] = {
        level: {"precision": ratios[f"{level} precision"], "recall": ratios[f"{level} recall"]}
        for level in total.hits()
    }
    for level, (tp, fp, fn) in _integers(total).items():
        measures[level] = {"tp": tp, "fp": fp, "fn": fn, **measures[level]}
    return measures


def _row(counts: LabelCounts) -> dict[str, float]:
    return {**asdict(counts), "actual": counts.actual, "possible": counts.possible, **counts.ratios()}


def _details(table: VerdictTable) -> dict[str, Any]:
    return {
        "global": _row(table.total),
        "per_type": {name: _row(counts) for name, counts in table.per_type.items()},
    }


def _printed(table: VerdictTable) -> str:
    rows = {"global": _row(table.total)} | {name: _row(counts) for name, counts in table.per_type.items()}
    columns = list(rows["global"])
    lines = ["\t".join(["type", *columns])]
    lines += ["\t".join([name, *(str(row[c]) for c in columns)]) for name, row in rows.items()]
    return "\n".join(lines)


def _warnings(table: VerdictTable, notes: Iterable[Document], task: Task, kept: frozenset[str]) -> tuple[str, ...]:
    return _said(table, sum(type_of(a, task) in kept for note in notes for a in note.gold))


def _said(table: VerdictTable, gold: int) -> tuple[str, ...]:
    if table.total.possible == gold:
        return ()
    return (
        f"recall divides by {table.total.possible} where there are {gold} gold annotations: the original"
        " counts a gold span once for every prediction that takes it, and repeated gold spans once",
    )


class SpanLabelsScorer(OriginalScorer):
    """Strict, exact, partial, incorrect, spurious and missed spans; precision and recall at three levels."""

    name = "span-labels"
    description = "strict, exact, partial, incorrect, spurious and missed spans; precision and recall at three levels"
    source = "presidio-research, commit ea019d5"
    parameters = (
        Parameter("overlap_threshold", 0.5, least=0, most=1),
        Parameter("entities", ""),
    )
    evaluate = staticmethod(evaluate)
    evaluate_columns = staticmethod(evaluate_columns)

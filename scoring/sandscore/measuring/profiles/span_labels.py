"""The profile ``span-labels``: precision and recall at three levels from six labels of spans.

Reproduces the six-label span comparison that Presidio's evaluator had on a branch (ea019d5), with the one
line that made it crash read as its predecessor had it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from sandscore.measuring.profiles.inputs import documents
from sandscore.measuring.profiles.result import ProfileInput, ProfileResult
from sandscore.measuring.profiles.span_judging import LabelCounts, LabelledSpan, LabelTable, Verdict, judge
from sandscore.measuring.profiles.span_types import chosen, type_of, types_in
from sandscore.measuring.values import Definition, Parameter, Scalar
from sandscore.records.documents import Annotation, Document
from sandscore.tasks import Task

DEFINITION = Definition(
    "span-labels",
    "strict, exact, partial, incorrect, spurious and missed spans; precision and recall at three levels",
    (
        Parameter("overlap_threshold", 0.5, least=0, most=1),
        Parameter("entities", ""),
    ),
)


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """The original's counts and ratios; ``entities`` names the types to keep, joined by ``|``."""
    notes = documents(given)
    kept = chosen(settings["entities"]) or frozenset(types_in(notes, given.task))
    table = LabelTable(per_type={name: LabelCounts() for name in sorted(kept)})
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


def judge_document(note: Document, task: Task, kept: frozenset[str], threshold: float) -> list[Verdict]:
    """The verdicts of one note, types that are not kept left out on both sides."""
    gold, predicted = (_spans(side, task, kept) for side in (note.gold, note.predictions))
    return judge(gold, predicted, threshold)


def _spans(annotations: Iterable[Annotation], task: Task, kept: frozenset[str]) -> list[LabelledSpan]:
    spans = (LabelledSpan(type_of(a, task), a.text, a.start, a.end) for a in annotations)
    return [span for span in spans if span.type in kept]


def _note_counts(verdicts: Iterable[Verdict]) -> dict[str, tuple[int, int, int]]:
    table = LabelTable()
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


def _details(table: LabelTable) -> dict[str, Any]:
    return {
        "global": _row(table.total),
        "per_type": {name: _row(counts) for name, counts in table.per_type.items()},
    }


def _printed(table: LabelTable) -> str:
    rows = {"global": _row(table.total)} | {name: _row(counts) for name, counts in table.per_type.items()}
    columns = list(rows["global"])
    lines = ["\t".join(["type", *columns])]
    lines += ["\t".join([name, *(str(row[c]) for c in columns)]) for name, row in rows.items()]
    return "\n".join(lines)


def _warnings(table: LabelTable, notes: Iterable[Document], task: Task, kept: frozenset[str]) -> tuple[str, ...]:
    gold = sum(type_of(a, task) in kept for note in notes for a in note.gold)
    if table.total.possible == gold:
        return ()
    return (
        f"recall divides by {table.total.possible} where there are {gold} gold annotations: the original"
        " counts a gold span once for every prediction that takes it, and repeated gold spans once",
    )

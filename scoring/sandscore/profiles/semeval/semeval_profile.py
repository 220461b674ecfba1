"""nervaluate 1.2.1: the SemEval-2013 schemas strict, exact, partial and ent_type, greedy as the original is.

nervaluate's ratios and its summary report.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from sandscore.annotations.columns import distinct
from sandscore.annotations.input_files import Loaded
from sandscore.documents.note_spans import Column, NoteSpans, SpanSide, spans_of
from sandscore.measures.measure_syntax import Parameter, Scalar
from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult
from sandscore.span_measures.greedy_pairing import (
    CORRECT,
    OTHER,
    SCHEMAS,
    SPURIOUS,
    UNLABELLED,
    PairingOutcome,
    Pairs,
    SpanColumns,
    find_pairs,
    of_records,
    resolve_all,
)
from sandscore.task_table.task import Task

_HEADERS = ("correct", "incorrect", "partial", "missed", "spurious", "precision", "recall", "f1")
_DIGITS = 2


def metrics(counts: Mapping[str, int], schema: str) -> dict[str, Any]:
    """The original's result; half a credit for a partial one, and a plain 0 over nothing."""
    correct, incorrect, partial, missed, spurious = (counts[kind] for kind in _HEADERS[:5])
    actual = correct + incorrect + partial + spurious
    possible = correct + incorrect + partial + missed
    credit = correct + 0.5 * partial if schema in ("partial", "ent_type") else correct
    precision = credit / actual if actual > 0 else 0
    recall = credit / possible if possible > 0 else 0
    f1 = 2 * (precision * recall) / (precision + recall) if precision + recall > 0 else 0
    values = (correct, incorrect, partial, missed, spurious, precision, recall, f1)
    return dict(zip(_HEADERS, values, strict=True)) | {"actual": actual, "possible": possible}


def report(overall: dict[str, dict[str, Any]], entities: dict[str, dict[str, Any]], scenario: str) -> str:
    """``summary_report``: every schema overall, or one schema type by type."""
    if scenario == "overall":
        rows = dict(sorted(overall.items()))
    else:
        rows = {label: tally[scenario] for label, tally in entities.items()}
    width = max(len(name) for name in (_HEADERS[0], *rows))
    heads = "".join(f" {name:>11}" for name in (*_HEADERS[:7], "f1-score"))
    title = "all" if scenario == "overall" else scenario
    lines = [f"Scenario: {title}\n\n{'':>{width}} {heads}\n"]
    for name, row in rows.items():
        numbers = [f"{row[kind]:>11}" for kind in _HEADERS[:5]]
        numbers += [f"{row[kind]:>11.{_DIGITS}f}" for kind in _HEADERS[5:]]
        lines.append(f"{name:>{width}}  {' '.join(numbers)}")
    return "\n".join(lines) + "\n"


Row = dict[str, Any]


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """Counts, P, R and F1 per schema; per type in ``details["entities"]``; the original's summary as table."""
    first = [note["identifier"] for note in given.notes or ()]
    return _paired(of_records(first, given.task, given.gold, given.predictions), settings)


def evaluate_columns(_task: Task, loaded: Loaded, settings: Mapping[str, Scalar]) -> ProfileResult:
    """The same of files that were read as columns."""
    return _paired(of_spans(spans_of(loaded)), settings)


def _paired(columns: SpanColumns, settings: Mapping[str, Scalar]) -> ProfileResult:
    try:
        pairs = find_pairs(columns, float(settings["min_overlap_percentage"]))
    except ZeroDivisionError as error:
        return _stopped(f"ZeroDivisionError: {error}")
    sizes = (len(columns.gold.note), len(columns.predictions.note))
    outcomes = resolve_all(pairs, *sizes) if columns.notes else {}
    overall = {schema: _row(schema, outcome) for schema, outcome in outcomes.items()}
    entities = _entities(columns, pairs)
    return ProfileResult(
        measures={schema: _components(schema, row) for schema, row in overall.items()},
        per_note=_per_note(columns, outcomes),
        details={"entities": entities, "overall_indices": _indices(columns, outcomes)},
        table=report(overall, entities, str(settings["scenario"])),
        warnings=tuple(_warnings(columns, pairs)),
    )


def of_spans(spans: NoteSpans) -> SpanColumns:
    """Spans under the labels that occur, of which none is one as well."""
    sides, names = (spans.gold, spans.predictions), [*spans.labels, UNLABELLED]
    found = {names[label] for side in sides for label in distinct(side.label)[0].tolist()}
    labels = {label: number for number, label in enumerate(sorted(found))}
    numbers = np.array([labels.get(name, -1) for name in names], np.int64)
    gold, predicted = (replace(side, label=numbers[side.label]) for side in sides)
    return SpanColumns(spans.ids, [*labels], gold, predicted)


def _kinds(schema: str, outcome: PairingOutcome) -> dict[str, Column]:
    """Who belongs to each of the five kinds; ``missed`` are true mentions, the others predictions."""
    nobody = np.zeros(len(outcome.state), bool)
    other = outcome.state == OTHER
    return {
        "correct": outcome.state == CORRECT,
        "incorrect": nobody if schema == "partial" else other,
        "partial": other if schema == "partial" else nobody,
        "missed": ~outcome.taken,
        "spurious": outcome.state == SPURIOUS,
    }


def _row(schema: str, outcome: PairingOutcome) -> Row:
    counts = {kind: int(np.count_nonzero(who)) for kind, who in _kinds(schema, outcome).items()}
    return metrics(counts, schema)


def _entities(columns: SpanColumns, pairs: Pairs) -> dict[str, dict[str, Row]]:
    """Per type: only annotations of that type exist, so a wrong label is one missed and one spurious."""
    gold, found = columns.gold.label, columns.predictions.label
    same, size = pairs.only(pairs.same_label), len(columns.labels)
    rows: dict[str, dict[str, Row]] = {label: {} for label in columns.labels}
    for schema, outcome in resolve_all(same, len(gold), len(found)).items():
        lots = np.bincount(3 * found + outcome.state, minlength=3 * size).reshape(size, 3).tolist()
        missed = np.bincount(gold[~outcome.taken], minlength=size).tolist()
        for label, lot, left in zip(columns.labels, lots, missed, strict=True):
            wrong, half = (0, lot[OTHER]) if schema == "partial" else (lot[OTHER], 0)
            counts = dict(zip(_HEADERS, (lot[CORRECT], wrong, half, left, lot[SPURIOUS]), strict=False))
            rows[label][schema] = metrics(counts, schema)
    return rows


def _indices(columns: SpanColumns, outcomes: dict[str, PairingOutcome]) -> dict[str, dict[str, list[tuple[int, int]]]]:
    """(note number, position in it) of the members of each kind, as the original lists them."""
    places = np.fromiter(_places(columns.predictions), object, len(columns.predictions.note))
    return {
        schema: {
            f"{kind}_indices": [*_places(columns.gold, who)] if kind == "missed" else places[who].tolist()
            for kind, who in _kinds(schema, outcome).items()
        }
        for schema, outcome in outcomes.items()
    }


def _places(side: SpanSide, who: Column | slice = slice(None)) -> Iterable[tuple[int, int]]:
    return zip(side.note[who].tolist(), side.place[who].tolist(), strict=True)


def _per_note(columns: SpanColumns, outcomes: dict[str, PairingOutcome]) -> dict[str, dict[str, tuple[int, int, int]]]:
    size = len(columns.notes)
    golds, predictions = (np.bincount(side.note, minlength=size) for side in (columns.gold, columns.predictions))
    counted: dict[str, Iterable[tuple[int, int, int]]] = {}
    for schema in [schema for schema in outcomes if schema != "partial"]:
        correct = columns.predictions.note[outcomes[schema].state == CORRECT]
        tp = np.bincount(correct, minlength=size)
        counted[schema] = zip(tp.tolist(), (predictions - tp).tolist(), (golds - tp).tolist(), strict=True)
    rows = zip(*counted.values(), strict=True)
    return {note: dict(zip(counted, row, strict=True)) for note, row in zip(columns.notes, rows, strict=True)}


def _components(schema: str, row: Row) -> Row:
    """``tp``, ``fp`` and ``fn`` that give the same ratios, where no half credit is in them."""
    if schema == "partial":
        return dict(row)
    tp = row["correct"]
    return {"tp": tp, "fp": row["actual"] - tp, "fn": row["possible"] - tp} | row


def _stopped(error: str) -> ProfileResult:
    reason = {"precision": None, "recall": None, "f1": None, "reason": error}
    return ProfileResult(
        measures={schema: dict(reason) for schema in SCHEMAS},
        details={"error": error},
        warnings=(f"nervaluate stops with {error}",),
    )


def _warnings(columns: SpanColumns, pairs: Pairs) -> list[str]:
    found = []
    shared = [np.bincount(side)[side] > 1 for side in (pairs.gold, pairs.prediction)]
    if notes := len(np.unique(columns.gold.note[pairs.gold[shared[0] | shared[1]]])):
        found.append(
            f"in {notes} notes an annotation overlaps several of the other side: nervaluate pairs "
            "them greedily in file order, and another order can give other numbers"
        )
    if UNLABELLED in columns.labels:
        found.append(f"annotations without a label are scored as if labelled {UNLABELLED}")
    if not columns.notes:
        found.append("there is no document, so nervaluate reports no schema at all")
    return found


class NervaluateScorer(OriginalScorer):
    """Nervaluate 1.2.1: strict, exact, partial and ent_type, paired greedily in file order."""

    name = "semeval"
    description = "nervaluate 1.2.1: strict, exact, partial and ent_type, paired greedily in file order"
    source = "nervaluate 1.2.1"
    parameters = (
        Parameter("min_overlap_percentage", 1.0, least=1.0, most=100.0),
        Parameter("scenario", "overall", choices=("overall", *SCHEMAS)),
    )
    evaluate = staticmethod(evaluate)
    evaluate_columns = staticmethod(evaluate_columns)

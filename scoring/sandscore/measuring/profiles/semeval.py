"""nervaluate 1.2.1: the SemEval-2013 schemas strict, exact, partial and ent_type, greedy as the original is."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sandscore.measuring.profiles.inputs import documents
from sandscore.measuring.profiles.result import ProfileInput, ProfileResult
from sandscore.measuring.profiles.semeval_greedy import (
    SCHEMAS,
    UNLABELLED,
    Candidate,
    Outcome,
    candidates,
    label_of,
    pair,
)
from sandscore.measuring.profiles.semeval_report import metrics, report
from sandscore.measuring.values import Definition, Parameter, Scalar
from sandscore.records.documents import Document

KINDS = ("correct", "incorrect", "partial", "missed", "spurious")

DEFINITION = Definition(
    "semeval",
    "nervaluate 1.2.1: strict, exact, partial and ent_type, paired greedily in file order",
    (
        Parameter("min_overlap_percentage", 1.0, least=1.0, most=100.0),
        Parameter("scenario", "overall", choices=("overall", *SCHEMAS)),
    ),
)

Tally = dict[str, Counter[str]]


class Tallies:
    """Counts per schema overall and per type, and the indices the original reports, over documents."""

    def __init__(self) -> None:
        self.overall: Tally = {}
        self.entities: dict[str, Tally] = {}
        self.indices: dict[str, dict[str, list[tuple[int, int]]]] = {}
        self.per_note: dict[str, dict[str, tuple[int, int, int]]] = {}
        self.contested = 0

    def add(self, number: int, document: Document, least: float) -> None:
        found = candidates(document.gold, document.predictions, least)
        same = [[choice for choice in choices if choice.same_label] for choices in found]
        self.contested += _is_contested(found)
        self.per_note[document.id] = {}
        labels = [[label_of(a) for a in side] for side in (document.gold, document.predictions)]
        for label in {*labels[0], *labels[1]} - self.entities.keys():
            self.entities[label] = {schema: Counter() for schema in SCHEMAS}
        for schema in SCHEMAS:
            outcome = pair(found, len(document.gold), schema)
            self._overall(schema, number, document.id, outcome)
            for kind, members in _kinds(schema, pair(same, len(document.gold), schema)).items():
                side = labels[0] if kind == "missed" else labels[1]
                for index in members:
                    self.entities[side[index]][schema][kind] += 1

    def _overall(self, schema: str, number: int, note: str, outcome: Outcome) -> None:
        kinds = _kinds(schema, outcome)
        counts = self.overall.setdefault(schema, Counter())
        places = self.indices.setdefault(schema, {f"{kind}_indices": [] for kind in KINDS})
        for kind, members in kinds.items():
            counts[kind] += len(members)
            places[f"{kind}_indices"] += [(number, index) for index in members]
        if schema != "partial":
            tp, wrong = len(outcome.correct), len(outcome.other)
            counted = (tp, wrong + len(outcome.spurious), wrong + len(outcome.missed))
            self.per_note[note][schema] = counted


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """Counts, P, R and F1 per schema; per type in ``details["entities"]``; the original's summary as table."""
    tallies = Tallies()
    notes = documents(given)
    try:
        for number, document in enumerate(notes):
            tallies.add(number, document, float(settings["min_overlap_percentage"]))
    except ZeroDivisionError as error:
        return _stopped(f"ZeroDivisionError: {error}")
    overall = {schema: metrics(counts, schema) for schema, counts in tallies.overall.items()}
    entities = {
        label: {schema: metrics(counts, schema) for schema, counts in tally.items()}
        for label, tally in sorted(tallies.entities.items())
    }
    return ProfileResult(
        measures={schema: _components(schema, row) for schema, row in overall.items()},
        per_note=tallies.per_note,
        details={"entities": entities, "overall_indices": tallies.indices},
        table=report(overall, entities, str(settings["scenario"])),
        warnings=tuple(_warnings(tallies, notes)),
    )


def _kinds(schema: str, outcome: Outcome) -> dict[str, list[int]]:
    half = schema == "partial"
    return {
        "correct": outcome.correct,
        "incorrect": [] if half else outcome.other,
        "partial": outcome.other if half else [],
        "missed": outcome.missed,
        "spurious": outcome.spurious,
    }


def _components(schema: str, row: dict[str, Any]) -> dict[str, Any]:
    """``tp``, ``fp`` and ``fn`` that give the same ratios, where no half credit is in them."""
    if schema == "partial":
        return dict(row)
    tp = row["correct"]
    return {"tp": tp, "fp": row["actual"] - tp, "fn": row["possible"] - tp} | row


def _is_contested(found: Iterable[list[Candidate]]) -> bool:
    takers = [choice.true for choices in found for choice in choices]
    return len(takers) > len(set(takers)) or any(len(choices) > 1 for choices in found)


def _stopped(error: str) -> ProfileResult:
    reason = {"precision": None, "recall": None, "f1": None, "reason": error}
    return ProfileResult(
        measures={schema: dict(reason) for schema in SCHEMAS},
        details={"error": error},
        warnings=(f"nervaluate stops with {error}",),
    )


def _warnings(tallies: Tallies, notes: list[Document]) -> list[str]:
    found = []
    if tallies.contested:
        found.append(
            f"in {tallies.contested} notes an annotation overlaps several of the other side: nervaluate pairs "
            "them greedily in file order, and another order can give other numbers"
        )
    if any(a.label is None for note in notes for a in (*note.gold, *note.predictions)):
        found.append(f"annotations without a label are scored as if labelled {UNLABELLED}")
    if not notes:
        found.append("there is no document, so nervaluate reports no schema at all")
    return found

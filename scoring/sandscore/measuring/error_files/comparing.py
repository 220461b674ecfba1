"""Both sides' annotations compared as the score card classifies errors, one error a row.

Pairs with the same start, length and text come first: with equal labels (or one label missing) they are
right, else a wrong type. Of the rest, those that overlap are paired off as boundary errors, as many as can
be; what then remains is missed or spurious.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandscore.measuring.error_files.report import OUTSIDE, Alignment, ErrorReport, ErrorRow, Ratios
from sandscore.measuring.error_files.typed_spans import TypedSpan, same_place, typed_spans
from sandscore.measuring.general.matching import heaviest_matching, overlapping_pairs
from sandscore.records.counts import Counts, ratio
from sandscore.records.documents import Document
from sandscore.tasks import Task

METHOD = {"comparison": "instance_strict", "beta": 1}


@dataclass(slots=True)
class Findings:
    """What is gathered note by note; ``spans`` ignores types, ``found`` counts right ones per type."""

    spans: Counts = field(default_factory=Counts)
    found: Counter[str] = field(default_factory=Counter)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    false_positives: list[ErrorRow] = field(default_factory=list)
    false_negatives: list[ErrorRow] = field(default_factory=list)


def compare(documents: Sequence[Document], task: Task, alignment: Alignment, created: str | None) -> ErrorReport:
    """The report on these notes."""
    findings = Findings()
    gold, predicted = Counter[str](), Counter[str]()
    for note in documents:
        sides = [typed_spans(annotations, task) for annotations in (note.gold, note.predictions)]
        gold.update(span.type for span in sides[0])
        predicted.update(span.type for span in sides[1])
        _add(note.id, sides[0], sides[1], findings)
    labels = [*sorted(gold.keys() | predicted.keys()), OUTSIDE]
    return ErrorReport(
        overall=Ratios(findings.spans.precision, findings.spans.recall),
        f_score=findings.spans.f1,
        per_type={
            name: Ratios(ratio(findings.found[name], predicted[name]), ratio(findings.found[name], gold[name]))
            for name in labels[:-1]
        },
        labels=labels,
        matrix=[[findings.confusion[row, column] for column in labels] for row in labels],
        false_positives=findings.false_positives,
        false_negatives=findings.false_negatives,
        samples=len(documents),
        entities=gold.total(),
        config=METHOD,
        alignment=alignment,
        created=created,
    )


def _add(note: str, gold: Sequence[TypedSpan], predicted: Sequence[TypedSpan], to: Findings) -> None:
    strict = same_place(gold, predicted)
    left_gold = sorted(set(range(len(gold))) - {i for i, _ in strict})
    left_predicted = sorted(set(range(len(predicted))) - {j for _, j in strict})
    to.spans += Counts(len(strict), len(left_predicted), len(left_gold))
    for i, j in strict:
        _judge_pair(note, gold[i], predicted[j], to)
    _judge_rest(note, [gold[i] for i in left_gold], [predicted[j] for j in left_predicted], to)


def _judge_pair(note: str, gold: TypedSpan, predicted: TypedSpan, to: Findings) -> None:
    if gold.type == predicted.type:
        to.found[gold.type] += 1
    to.confusion[gold.type, predicted.type] += 1
    if gold.type != predicted.type and gold.labelled and predicted.labelled:
        why = f"Wrong entity type: {gold.type} detected as {predicted.type}"
        row = _row("WrongEntity", note, gold, (gold.type, predicted.type), why)
        to.false_positives.append(row)
        to.false_negatives.append(row)


def _judge_rest(note: str, gold: Sequence[TypedSpan], predicted: Sequence[TypedSpan], to: Findings) -> None:
    extents = [[(span.of.start, span.of.end) for span in side] for side in (gold, predicted)]
    pairs = heaviest_matching(dict.fromkeys(overlapping_pairs(*extents), (1,)))
    near, back = dict(pairs), {j: i for i, j in pairs}
    for i, span in enumerate(gold):
        why = f"Entity {span.type} not detected{_instead(predicted[near[i]] if i in near else None)}."
        to.confusion[span.type, OUTSIDE] += 1
        to.false_negatives.append(_row("FN", note, span, (span.type, OUTSIDE), why))
    for j, span in enumerate(predicted):
        why = f"Entity {span.type} falsely detected{_instead(gold[back[j]] if j in back else None)}."
        to.confusion[OUTSIDE, span.type] += 1
        to.false_positives.append(_row("FP", note, span, (OUTSIDE, span.type), why))


def _instead(other: TypedSpan | None) -> str:
    return (
        f" with these boundaries; the other side has {other.type} at {other.of.start}-{other.of.end}" if other else ""
    )


def _row(kind: str, note: str, span: TypedSpan, types: tuple[str, str], why: str) -> ErrorRow:
    text = span.of.text
    return ErrorRow(kind, *types, " ".join(text.lower().split()), text, note, why, span.of.start, span.of.end)

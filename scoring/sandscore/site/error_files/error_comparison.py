"""Both sides' annotations compared as the score card classifies errors, one error a row.

Pairs with the same start, length and text come first: with equal labels (or one label missing) they are
right, else a wrong type. Of the rest, those that overlap are paired off as boundary errors, as many as can
be; what then remains is missed or spurious.

Annotations under the type they are counted as, and who stands at the same place on the other side.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

from msgspec import Struct, field

from sandscore.annotations.label_codes import allowed, normalised
from sandscore.profiles.profile_documents import type_of
from sandscore.records.counts import Counts, ratio
from sandscore.records.document import Annotation, Document
from sandscore.site.error_files.error_report import OUTSIDE, EntityAlignment, ErrorRatios, ErrorReport, ErrorRow
from sandscore.span_measures.overlap_matching import heaviest_matching, overlapping_pairs
from sandscore.task_table.task import Task


class TypedSpan(Struct, frozen=True):
    """An annotation with its type; ``labelled`` False where it carries none of its own."""

    of: Annotation
    type: str
    labelled: bool

    @property
    def place(self) -> tuple[int, int, str]:
        """What must be equal for two annotations to be the same span."""
        return self.of.start, self.of.length, self.of.text


def typed_spans(annotations: Iterable[Annotation], task: Task) -> list[TypedSpan]:
    """Labels as the task normalises them; one that is not the task's stays as it is written."""
    values = allowed(task, task.label) if task.label else None
    aliases = dict(task.aliases)
    spans = []
    for annotation in annotations:
        meant = normalised(annotation.label or "", values, aliases)
        spans.append(TypedSpan(annotation, meant or type_of(annotation, task), labelled=meant != ""))
    return spans


def same_place(gold: Sequence[TypedSpan], predicted: Sequence[TypedSpan]) -> list[tuple[int, int]]:
    """One-to-one pairs of indices: equal types first, then those with a label missing, then the others."""
    free = [list(range(len(gold))), list(range(len(predicted)))]
    pairs: list[tuple[int, int]] = []
    for key, takes_gold, takes_predicted in _ROUNDS:
        waiting: dict[Hashable, list[int]] = {}
        for j in reversed([j for j in free[1] if takes_predicted(predicted[j])]):
            waiting.setdefault(key(predicted[j]), []).append(j)
        for i in [i for i in free[0] if takes_gold(gold[i])]:
            candidates = waiting.get(key(gold[i]))
            if candidates:
                pairs.append((i, candidates.pop()))
        taken = {i for i, _ in pairs}, {j for _, j in pairs}
        free = [[i for i in side if i not in gone] for side, gone in zip(free, taken, strict=True)]
    return sorted(pairs)


def _place_and_type(span: TypedSpan) -> Hashable:
    return span.place, span.type


def _place(span: TypedSpan) -> Hashable:
    return span.place


def _anyone(_: TypedSpan) -> bool:
    return True


def _unlabelled(span: TypedSpan) -> bool:
    return not span.labelled


_Key = Callable[[TypedSpan], Hashable]
_Admission = Callable[[TypedSpan], bool]
_ROUNDS: tuple[tuple[_Key, _Admission, _Admission], ...] = (
    (_place_and_type, _anyone, _anyone),
    (_place, _unlabelled, _anyone),
    (_place, _anyone, _unlabelled),
    (_place, _anyone, _anyone),
)


METHOD = {"comparison": "instance_strict", "beta": 1}


class ErrorCollector(Struct):
    """What is gathered note by note; ``spans`` ignores types, ``found`` counts right ones per type."""

    spans: Counts = field(default_factory=Counts)
    found: Counter[str] = field(default_factory=Counter)
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)
    false_positives: list[ErrorRow] = field(default_factory=list)
    false_negatives: list[ErrorRow] = field(default_factory=list)


def compare(documents: Sequence[Document], task: Task, alignment: EntityAlignment, created: str | None) -> ErrorReport:
    """The report on these notes."""
    findings = ErrorCollector()
    gold, predicted = Counter[str](), Counter[str]()
    for note in documents:
        sides = [typed_spans(annotations, task) for annotations in (note.gold, note.predictions)]
        gold.update(span.type for span in sides[0])
        predicted.update(span.type for span in sides[1])
        _add(note.id, sides[0], sides[1], findings)
    labels = [*sorted(gold.keys() | predicted.keys()), OUTSIDE]
    return ErrorReport(
        overall=ErrorRatios(findings.spans.precision, findings.spans.recall),
        f_score=findings.spans.f1,
        per_type={
            name: ErrorRatios(ratio(findings.found[name], predicted[name]), ratio(findings.found[name], gold[name]))
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


def _add(note: str, gold: Sequence[TypedSpan], predicted: Sequence[TypedSpan], to: ErrorCollector) -> None:
    strict = same_place(gold, predicted)
    left_gold = sorted(set(range(len(gold))) - {i for i, _ in strict})
    left_predicted = sorted(set(range(len(predicted))) - {j for _, j in strict})
    to.spans += Counts(len(strict), len(left_predicted), len(left_gold))
    for i, j in strict:
        _judge_pair(note, gold[i], predicted[j], to)
    _judge_rest(note, [gold[i] for i in left_gold], [predicted[j] for j in left_predicted], to)


def _judge_pair(note: str, gold: TypedSpan, predicted: TypedSpan, to: ErrorCollector) -> None:
    if gold.type == predicted.type:
        to.found[gold.type] += 1
    to.confusion[gold.type, predicted.type] += 1
    if gold.type != predicted.type and gold.labelled and predicted.labelled:
        why = f"Wrong entity type: {gold.type} detected as {predicted.type}"
        row = _row("WrongEntity", note, gold, (gold.type, predicted.type), why)
        to.false_positives.append(row)
        to.false_negatives.append(row)


def _judge_rest(note: str, gold: Sequence[TypedSpan], predicted: Sequence[TypedSpan], to: ErrorCollector) -> None:
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

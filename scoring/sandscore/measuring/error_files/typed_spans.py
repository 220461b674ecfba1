"""Annotations under the type they are counted as, and who stands at the same place on the other side."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from sandscore.measuring.profiles.span_types import type_of
from sandscore.reading.labels import allowed, normalised
from sandscore.records.documents import Annotation
from sandscore.tasks import Task


@dataclass(frozen=True, slots=True)
class TypedSpan:
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
    aliases = dict(task.label_aliases)
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

"""What a type is, for the profiles whose originals know typed spans only."""

from collections.abc import Iterable

from sandscore.measuring.values import Scalar
from sandscore.records.documents import Annotation, Document
from sandscore.tasks import Task


def type_of(annotation: Annotation, task: Task) -> str:
    """The annotation's label as written; the task's own name where it carries none."""
    return annotation.label or task.id.replace("-", "_").upper()


def types_in(documents: Iterable[Document], task: Task) -> list[str]:
    """Every type that occurs on either side, sorted."""
    return sorted({type_of(a, task) for d in documents for a in (*d.gold, *d.predictions)})


def chosen(written: Scalar) -> frozenset[str] | None:
    """The names in ``one|two|three``; None where nothing is named."""
    return frozenset(str(written).split("|")) if written else None

"""One note with its annotations, as the scorers of other people and the foreign formats want it."""

from msgspec import Struct


class Annotation(Struct, frozen=True):
    """A span of one note. Offsets count Unicode code points; ``label`` None is "not given"."""

    start: int
    length: int
    text: str
    label: str | None = None
    confidence: float | None = None

    @property
    def end(self) -> int:
        return self.start + self.length


class Document(Struct, frozen=True):
    """A note (``text`` None where nobody supplied it) with both sides' annotations, in file order."""

    id: str
    text: str | None
    gold: tuple[Annotation, ...]
    predictions: tuple[Annotation, ...]
    patient: str | None = None

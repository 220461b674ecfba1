"""The original's error list, entry by entry, in its words."""

from typing import Literal

from msgspec import Struct

from sandscore.profiles.presidio.presidio_spans import TokenSpan
from sandscore.profiles.presidio.presidio_tags import OUTSIDE

Kind = Literal["FP", "FN", "WrongEntity"]


class SpanError(Struct, frozen=True, gc=False):
    """One entry: what it is, the gold and the predicted type (``O`` for none), and the span it is about.

    What it says in words is put together when it is asked for; ``iou`` None is never named.
    """

    kind: Kind
    annotation: str
    prediction: str
    note: str
    about: TokenSpan
    why: str
    iou: float | None
    threshold: float

    @property
    def full_text(self) -> str:
        return self.about.value

    @property
    def token(self) -> str:
        return " ".join(self.about.words)

    @property
    def explanation(self) -> str:
        return self.why if self.iou is None else f"{self.why}={self.iou:.2f} compared to threshold={self.threshold}"

    @property
    def start(self) -> int:
        return self.about.start

    @property
    def end(self) -> int:
        return self.about.end


class ErrorWriter(Struct, frozen=True):
    """Writes the entries of one document."""

    note: str
    threshold: float

    def missed(self, gold: TokenSpan, nearest: TokenSpan | None = None, iou: float | None = None) -> SpanError:
        if nearest is None:
            why = f"Entity {gold.type} not detected."
        elif nearest.type == gold.type:
            why = f"Entity {gold.type} not detected due to low iou"
        else:
            why = f"Entity {gold.type} not detected. iou with {nearest.type}"
        return SpanError("FN", gold.type, OUTSIDE, self.note, gold, why, iou, self.threshold)

    def false(self, predicted: TokenSpan, iou: float) -> SpanError:
        why = f"Entity {predicted.type} falsely detected, iou"
        return SpanError("FP", OUTSIDE, predicted.type, self.note, predicted, why, iou, self.threshold)

    def wrong(self, gold: TokenSpan, predicted: TokenSpan, iou: float) -> SpanError:
        why = f"Wrong entity type: {gold.type} detected as {predicted.type}, iou"
        return SpanError("WrongEntity", gold.type, predicted.type, self.note, gold, why, iou, self.threshold)

    def isolated(self, predicted: TokenSpan) -> SpanError:
        why = f"False prediction with no overlap: {predicted.type}"
        return SpanError("FP", OUTSIDE, predicted.type, self.note, predicted, why, None, self.threshold)

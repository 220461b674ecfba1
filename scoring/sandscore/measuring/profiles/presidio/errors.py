"""The original's error list, entry by entry, in its words."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from sandscore.measuring.profiles.presidio.spans import TokenSpan
from sandscore.measuring.profiles.presidio.tagging import OUTSIDE

Kind = Literal["FP", "FN", "WrongEntity"]


class SpanError(NamedTuple):
    """One entry: what it is, the gold and the predicted type (``O`` for none), and the span it is about."""

    kind: Kind
    annotation: str
    prediction: str
    full_text: str
    token: str
    explanation: str
    start: int
    end: int
    note: str


@dataclass(frozen=True, slots=True)
class ErrorWriter:
    """Writes the entries of one document."""

    note: str
    threshold: float

    def missed(self, gold: TokenSpan, nearest: TokenSpan | None = None, iou: float = 0.0) -> SpanError:
        if nearest is None:
            why = f"Entity {gold.type} not detected."
        elif nearest.type == gold.type:
            why = f"Entity {gold.type} not detected due to low iou={self._compared(iou)}"
        else:
            why = f"Entity {gold.type} not detected. iou with {nearest.type}={self._compared(iou)}"
        return self._entry("FN", gold.type, OUTSIDE, gold, why)

    def false(self, predicted: TokenSpan, iou: float) -> SpanError:
        why = f"Entity {predicted.type} falsely detected, iou={self._compared(iou)}"
        return self._entry("FP", OUTSIDE, predicted.type, predicted, why)

    def wrong(self, gold: TokenSpan, predicted: TokenSpan, iou: float) -> SpanError:
        why = f"Wrong entity type: {gold.type} detected as {predicted.type}, iou={self._compared(iou)}"
        return self._entry("WrongEntity", gold.type, predicted.type, gold, why)

    def isolated(self, predicted: TokenSpan) -> SpanError:
        why = f"False prediction with no overlap: {predicted.type}"
        return self._entry("FP", OUTSIDE, predicted.type, predicted, why)

    def _compared(self, iou: float) -> str:
        return f"{iou:.2f} compared to threshold={self.threshold}"

    def _entry(self, kind: Kind, annotation: str, prediction: str, about: TokenSpan, why: str) -> SpanError:
        token = " ".join(about.words)
        return SpanError(kind, annotation, prediction, about.value, token, why, about.start, about.end, self.note)

"""From values to per cents of the width of the small drawings that stand in tables."""

from collections.abc import Iterable
from dataclasses import dataclass

_ROOM = 0.06


@dataclass(frozen=True, slots=True)
class Scale:
    """The values at the left and at the right end."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """The place of a value, in per cent."""
        return f"{100 * self.share(value):.2f}%"

    def share(self, value: float) -> float:
        """The place of a value, 0 to 1."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


def scale_of(values: Iterable[float], least: float | None = 0.0, most: float | None = 1.0) -> Scale:
    """A scale with a little room around the values, inside the bounds."""
    known = list(values)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (high - low) * _ROOM or 0.05
    low = low - room if least is None else max(least, low - room)
    high = high + room if most is None else min(most, high + room)
    return Scale(low, high if high > low else low + 1.0)

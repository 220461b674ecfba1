"""The strip of a board's first screen: those who lead, on a scale of their own with an axis, and the others folded."""

import math
from collections.abc import Sequence

from msgspec import Struct

from sandscore.records.board import Row
from sandscore.site.standings import Bar, Line, Scale, bar, scale_over

SHOWN = 12
"""Leaders that are drawn; more than so many are counted, and stand in the table."""
FOLDED = 60
"""Others that can be unfolded; more stand in the table."""
_MOST_TICKS = 5
_EDGE = 0.02


class Tick(Struct, frozen=True):
    """A round value of an axis, and where it stands."""

    at: str
    text: str


class LeadStrip(Struct, frozen=True):
    """``others`` are the rows behind, without a drawing; ``more`` leads too and is not drawn."""

    rows: Sequence[tuple[Line, Bar]]
    ticks: Sequence[Tick]
    more: int
    others: Sequence[Line]
    left_out: int


def lead_strip(lines: Sequence[Line], contenders: Sequence[Row]) -> LeadStrip | None:
    """None where nobody who leads has a score to draw."""
    leading = {row.submission for row in contenders}
    first = [line for line in lines if line.row.submission in leading and line.score is not None]
    if not first:
        return None
    drawn = first[:SHOWN]
    scale = scale_over([(line.score, line.interval) for line in drawn])
    bars = [(line, found) for line in drawn if (found := bar(scale, line.score, line.interval))]
    others = [line for line in lines if line.row.submission not in leading]
    return LeadStrip(bars, ticks_on(scale), len(first) - len(drawn), others[:FOLDED], max(0, len(others) - FOLDED))


def ticks_on(scale: Scale, most: int = _MOST_TICKS) -> list[Tick]:
    """Round values inside the scale, at most so many, none at its very ends."""
    span = scale.high - scale.low
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= span / most * (1 - 1e-9))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    numbers = range(math.ceil(scale.low / step), math.floor(scale.high / step) + 1)
    values = [number * step for number in numbers if _EDGE <= scale.share(number * step) <= 1 - _EDGE]
    return [Tick(scale.at(value), f"{value:.{digits}f}") for value in values]

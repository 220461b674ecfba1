"""The scores of a running phase, on the grid on which they may be told, and the order that they make."""

import math
from collections.abc import Sequence

from sandscore.base.errors import UsageFault
from sandscore.challenges.ladder import f1_of, leave_one_out, standard_error
from sandscore.ranking.card_reading import formula_of
from sandscore.ranking.exact_order import number
from sandscore.ranking.score_table import ScoreTable
from sandscore.records.board import AnyMeasure, Row
from sandscore.records.ranking_rules import FeedbackMode, Numbering


def in_seen_order(rows: Sequence[Row], headline: str, mode: FeedbackMode, numbering: Numbering) -> tuple[Row, ...]:
    """Rows as participants see them, ordered and numbered by the scores that stand there."""
    ordered = sorted(rows, key=lambda row: _place(row, headline))
    keys = [_goodness(row.measures.get(headline)) for row in ordered]
    ranks = number(keys, numbering) if mode != "blind" else [None] * len(keys)
    return tuple(row.model_copy(update={"rank": rank}) for row, rank in zip(ordered, ranks, strict=True))


def _place(row: Row, headline: str) -> tuple[bool, float, str, str]:
    score = _goodness(row.measures.get(headline))
    return (score is None, -(score or 0), row.team or "", row.submission)


def _goodness(measure: AnyMeasure | None) -> float | None:
    """The score that is shown, more being better."""
    if measure is None or measure.ranked is None:
        return None
    return -measure.ranked if measure.direction == "lower" else measure.ranked


def refuse_sums(table: ScoreTable, mode: FeedbackMode) -> None:
    """A sum has no end, so there is no grid on which it could be told."""
    if (sums := summed(table)) and mode in {"rounded", "ladder"}:
        raise UsageFault(f"feedback '{mode}' cannot tell {sums[0]}, which is a sum; 'full' or 'blind' can")


def summed(table: ScoreTable) -> list[str]:
    """The measures that are sums."""
    card = next(iter(table.cards.values())).card
    return [name for name in table.measures if (form := formula_of(card.measures.get(name))) and form.kind == "sum"]


def told_as(table: ScoreTable, measure: int) -> str:
    """What a measure's score is called."""
    return "value" if table.measures[measure] in table.scales else "f1"


def shown_score(table: ScoreTable, measure: int, score: float | None) -> float | None:
    """In the measure's own direction."""
    scale = table.scale(measure)
    return round(scale.shown(score), 12) if score is not None and scale.lower else score


def rounded_score(table: ScoreTable, system: int, measure: int) -> float | None:
    """The pooled score on the coarsest grid that still says what the data can: steps not below the standard error."""
    if not table.scored[system, :, measure].any():
        return None
    counts = table.counts[system, :, measure]
    score = f1_of(counts)
    if math.isnan(score):
        return None
    step = grid(standard_error(leave_one_out(counts)))
    return shown_score(table, measure, min(1.0, round(round(score / step) * step, 12)))


def grid(error: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below ``error``; at least a ten-thousandth."""
    error = max(error, 1e-4)
    power = 10.0 ** math.floor(math.log10(error))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= error * (1 - 1e-12))

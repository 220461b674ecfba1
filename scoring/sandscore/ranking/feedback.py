"""The part of a board that participants see while a phase runs. What is hidden is left out, never masked: neither
counts, intervals, tests, cards and their hashes, nor run times, nor the order that exact scores would give."""

import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.ranking.aggregation import number
from sandscore.ranking.card_reading import formula_of
from sandscore.ranking.ladder import f1_of, leave_one_out, replay, standard_error
from sandscore.ranking.score_table import ScoreTable
from sandscore.records.board import AnyMeasure, Board, FormulaMeasure, RankedMeasure, Row
from sandscore.records.challenge import FeedbackMode, Numbering, RankingRules


class _Seen(Struct, frozen=True):
    """A submission as participants see it: its row, and the score that orders it."""

    row: Row
    score: float | None


def as_public(board: Board, table: ScoreTable, rules: RankingRules) -> Board:
    """The board without what the phase's feedback hides. Where a ``full`` phase is only shown as ``rounded``, a sum,
    which no grid can tell, has no score."""
    if board.config.feedback == rules.feedback:
        refuse_sums(table, rules.feedback)
    rows = _ranked(BOARDS[rules.feedback](board, table), rules.feedback, rules.numbering)
    hidden = {"rows": rows, "pairwise": (), "stability": None, "site_leaders": None, "warnings": ()}
    hidden |= {"effective_patients": None}
    return board.model_copy(update=hidden)


def in_seen_order(rows: Sequence[Row], headline: str, mode: FeedbackMode, numbering: Numbering) -> tuple[Row, ...]:
    """Rows that participants see already, ordered and numbered again by the scores that stand there."""
    measures = [row.measures.get(headline) for row in rows]
    seen = [_Seen(row, _order_score(measure)) for row, measure in zip(rows, measures, strict=True)]
    return _ranked(seen, mode, numbering)


def _order_score(measure: AnyMeasure | None) -> float | None:
    """The score that is shown, more being better."""
    if measure is None or measure.ranked is None:
        return None
    return -measure.ranked if measure.direction == "lower" else measure.ranked


def _ranked(seen: Sequence[_Seen], mode: FeedbackMode, numbering: Numbering) -> tuple[Row, ...]:
    ordered = sorted(seen, key=_order)
    keys = [one.score for one in ordered]
    ranks = number(keys, numbering) if mode != "blind" else [None] * len(keys)
    return tuple(one.row.model_copy(update={"rank": rank}) for one, rank in zip(ordered, ranks, strict=True))


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


def _order(seen: _Seen) -> tuple[bool, float, str, str]:
    return (seen.score is None, -(seen.score or 0), seen.row.team or "", seen.row.submission)


def _goodness(table: ScoreTable, headline: str, shown: float | None) -> float | None:
    """More is better."""
    return None if shown is None else -shown if table.scale(table.measures.index(headline)).lower else shown


def _bare(row: Row, measures: dict[str, float | None]) -> Row:
    nothing = dict.fromkeys(
        (
            "rank",
            "rank_set",
            "group",
            "score",
            "score_ci",
            "chosen_ci",
            "expected",
            "k",
            "p_vs_leader",
            "p_first",
            "run",
            "card",
        )
    )
    shown = {name: _bare_measure(row.measures.get(name), score) for name, score in measures.items()}
    return row.model_copy(update={**nothing, "measures": shown, "shown": {}, "sites": {}, "missing": ()})


def _bare_measure(measure: AnyMeasure | None, score: float | None) -> AnyMeasure:
    if isinstance(measure, FormulaMeasure):
        return measure.model_copy(update={"score": score, "score_ci": None, "components": None})
    formula = measure.formula if measure else None
    bare = RankedMeasure(tp=None, fp=None, fn=None, precision=None, recall=None, f1=None if formula else score)
    return bare.model_copy(update={"value": score, "formula": formula, "direction": "higher"}) if formula else bare


def _rounded(board: Board, table: ScoreTable) -> list[_Seen]:
    out, sums = [], {*summed(table)}
    for row in board.rows:
        system = table.systems.index(row.submission)
        scores = {
            name: None if name in sums else rounded_score(table, system, table.measures.index(name))
            for name in row.measures
        }
        out.append(_Seen(_bare(row, scores), _goodness(table, board.headline, scores[board.headline])))
    return out


def _ladder(board: Board, table: ScoreTable) -> list[_Seen]:
    """One row a team, at its released submission: a later one that did not count leaves no trace."""
    teams: dict[str, list[Row]] = {}
    for row in sorted(board.rows, key=lambda row: (row.created or "", row.submission)):
        teams.setdefault(row.team or row.submission, []).append(row)
    measure = table.measures.index(board.headline)
    out = []
    for rows in teams.values():
        state = replay([(r.submission, table.counts[table.systems.index(r.submission), :, measure]) for r in rows])
        row = next((row for row in rows if row.submission == state.submission), rows[0])
        out.append(_Seen(_bare(row, {board.headline: shown_score(table, measure, state.released)}), state.released))
    return out


def _blind(board: Board, _table: ScoreTable) -> list[_Seen]:
    return [_Seen(_bare(row, {}), None) for row in board.rows]


BOARDS: dict[FeedbackMode, Callable[[Board, ScoreTable], Sequence[_Seen]]] = {
    "rounded": _rounded,
    "ladder": _ladder,
    "blind": _blind,
}

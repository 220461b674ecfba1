"""The rows of a board that participants see while a phase runs, by the mode of its feedback. What is hidden is left
out, never masked: neither counts, intervals, tests, cards and their hashes, nor run times, nor the order that exact
scores would give."""

from collections.abc import Callable, Sequence

from sandscore.challenges.feedback import in_seen_order, refuse_sums, rounded_score, shown_score, summed
from sandscore.challenges.ladder import replay
from sandscore.ranking.score_table import ScoreTable
from sandscore.records.board import AnyMeasure, Board, FormulaMeasure, RankedMeasure, RatioMeasure, Row
from sandscore.records.ranking_rules import FeedbackMode, RankingRules


def as_public(board: Board, table: ScoreTable, rules: RankingRules) -> Board:
    """The board without what the phase's feedback hides. Where a ``full`` phase is only shown as ``rounded``, a sum,
    which no grid can tell, has no score."""
    if board.config.feedback == rules.feedback:
        refuse_sums(table, rules.feedback)
    rows = in_seen_order(BOARDS[rules.feedback](board, table), board.headline, rules.feedback, rules.numbering)
    hidden = {"rows": rows, "pairwise": (), "stability": None, "site_leaders": None, "warnings": ()}
    hidden |= {"effective_patients": None}
    return board.model_copy(update=hidden)


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
    if isinstance(measure, RatioMeasure):
        return RatioMeasure(n=None, of=None, value=score, direction=measure.direction)
    formula = measure.formula if measure else None
    bare = RankedMeasure(tp=None, fp=None, fn=None, precision=None, recall=None, f1=None if formula else score)
    return bare.model_copy(update={"value": score, "formula": formula, "direction": "higher"}) if formula else bare


def _rounded(board: Board, table: ScoreTable) -> list[Row]:
    out, sums = [], {*summed(table)}
    for row in board.rows:
        system = table.systems.index(row.submission)
        scores = {
            name: None if name in sums else rounded_score(table, system, table.measures.index(name))
            for name in row.measures
        }
        out.append(_bare(row, scores))
    return out


def _ladder(board: Board, table: ScoreTable) -> list[Row]:
    """One row a team, at its released submission: a later one that did not count leaves no trace."""
    teams: dict[str, list[Row]] = {}
    for row in sorted(board.rows, key=lambda row: (row.created or "", row.submission)):
        teams.setdefault(row.team or row.submission, []).append(row)
    measure = table.measures.index(board.headline)
    out = []
    for rows in teams.values():
        state = replay([(r.submission, table.counts[table.systems.index(r.submission), :, measure]) for r in rows])
        row = next((row for row in rows if row.submission == state.submission), rows[0])
        out.append(_bare(row, {board.headline: shown_score(table, measure, state.released)}))
    return out


def _blind(board: Board, _table: ScoreTable) -> list[Row]:
    return [_bare(row, {}) for row in board.rows]


BOARDS: dict[FeedbackMode, Callable[[Board, ScoreTable], Sequence[Row]]] = {
    "rounded": _rounded,
    "ladder": _ladder,
    "blind": _blind,
}

"""The totals of a board, computed again: what follows from its counts where those of single notes are withheld.

Counts make ratios, ratios the order, the ranks and their numbering; the test results that the board prints make
places, tie groups and adjusted p-values. Intervals and the test results themselves need the notes' counts: they are
named, not checked. A board that shows no counts is checked for the order of what it shows.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct

from sandscore.base.removable_rooms import needed_part
from sandscore.base.strict_json import pointer as pointer_to
from sandscore.challenges.feedback import in_seen_order
from sandscore.ranking.analysis import Standing, arranged, refuse_unknown_measures, shown_estimates
from sandscore.ranking.board_building import board_of, board_seed
from sandscore.ranking.card_reading import RankedCard
from sandscore.ranking.exact_order import exact_scores, sort_key
from sandscore.ranking.pair_differences import PairDifferences
from sandscore.ranking.pair_tests import Pair as Systems
from sandscore.ranking.pair_tests import PairTests, adjustment_of, rank_sets, tie_groups
from sandscore.ranking.rank_agreement import Agreement
from sandscore.ranking.resampling import Floats
from sandscore.ranking.score_table import ScoreTable, tabulate
from sandscore.records.board import AnyMeasure, Board, FormulaMeasure, RankedMeasure, RatioMeasure, Row, Site
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.scorecard import AnyScore, ComponentScore, FormulaScore, MeasureScore, RatioScore, Scorecard
from sandscore.records.task_definition import TaskDefinition
from sandscore.records.totals_card import TotalsCard

FROM_NOTES = (
    "/units",
    "/effective_patients",
    "/warnings",
    "/stability",
    "/pairwise/*/p",
    "/pairwise/*/wins",
    "/pairwise/*/delta_ci",
    "/pairwise/*/patients",
    "/rows/*/measures/*/f1_ci",
    "/rows/*/measures/*/score_ci",
    "/rows/*/measures/*/ci",
    "/rows/*/measures/*/bound",
    "/rows/*/measures/*/bound_level",
    "/rows/*/measures/*/bound_clustered",
    "/rows/*/score_ci",
    "/rows/*/chosen_ci",
    "/rows/*/expected",
    "/rows/*/p_first",
)
"""What only the counts of single notes make."""
FROM_DRAWS = "/pairwise/*/p_adjusted"
"""Adjusted by the same draws as the tests; Holm's adjustment follows from the printed p."""
_OF_ROWS = ("image", "created", "run", "shown", "slices", "robustness")
FROM_CARDS = ("/agreement", *(f"/rows/*/{name}" for name in _OF_ROWS))
"""What only the exact cards say."""
FROM_SCORES = ("/rows/*/measures/*/f1", "/rows/*/measures/*/score", "/rows/*/measures/*/value")
"""What the feedback of a running phase makes of exact scores."""
REFERENCES = ("/rows/*/card", "/rows/*/signature", "/rows/*/sites/*/card", "/rows/*/sites/*/signature")
"""What is held against the cards themselves."""


class TotalsMade(Struct, frozen=True):
    """The board as its own totals make it, and what of it is copied rather than made."""

    board: Board
    copied: tuple[str, ...]


def made_of_totals(board: Board, policy: DisclosurePolicy) -> TotalsMade:
    """The board again, from the numbers that it shows."""
    rules = board.config
    seed = board_seed(board.gold, rules, board.phase, board.log_root)
    if policy.exact and board.rows:
        table = tabulate([*_whole_notes(board)])
        refuse_unknown_measures(table, rules)
        made = board_of(table, rules, board.phase, seed, _standing(table, board), board.log_root)
        made = made.model_copy(
            update={name: getattr(board, name) for name in ("gold", "agreement", "policy", "withheld")}
        )
        drawn = (FROM_DRAWS,) if adjustment_of(rules) == "stepdown" else ()
        return TotalsMade(made, (*FROM_NOTES, *drawn, *FROM_CARDS))
    if not board.rows:
        nothing = {"pairwise": (), "stability": None, "site_leaders": None, "effective_patients": None, "warnings": ()}
        return TotalsMade(board.model_copy(update={"seed": f"0x{seed:016x}", **nothing}), ("/units",))
    rows = tuple(in_seen_order(board.rows, board.headline, policy.feedback, rules.numbering))
    made = board.model_copy(update={"seed": f"0x{seed:016x}", "headline": rules.headline, "rows": rows})
    return TotalsMade(made, (*FROM_NOTES, *FROM_CARDS, *FROM_SCORES))


def _whole_notes(board: Board) -> Iterator[RankedCard]:
    """Each cell of the board as the card of a single note that has all its counts."""
    for row in board.rows:
        cells: Mapping[str, Row | Site] = row.sites or dict.fromkeys([*board.gold][:1], row)
        for dataset, cell in cells.items():
            measures = {name: score for name, one in cell.measures.items() if (score := _score(one)) is not None}
            gold = board.gold.get(dataset)
            card = Scorecard.model_construct(
                sandscore=board.sandscore,
                signature=f"gold:{gold}" if gold else "",
                task=board.task,
                definition=board.definition,
                profile=board.profile,
                team=row.team,
                name=row.name,
                submission=row.submission,
                image=row.image,
                dataset=dataset,
                created=row.created,
                run=row.run,
                measures=measures,
                per_note={"all": {name: _numbers(score) for name, score in measures.items()}},
                units={"all": "all"},
            )
            yield RankedCard(card, row.submission, "0" * 64, row.submission, "")


def _score(measure: AnyMeasure) -> AnyScore | None:
    if isinstance(measure, RatioMeasure):
        return RatioScore(**measure.model_dump()) if measure.numbers is not None else None
    if isinstance(measure, FormulaMeasure):
        return FormulaScore(**measure.model_dump(exclude={"score_ci"})) if measure.components is not None else None
    score = MeasureScore(
        tp=measure.tp,
        fp=measure.fp,
        fn=measure.fn,
        value=measure.value,
        formula=measure.formula,
        direction=measure.direction,
        reason=measure.reason,
    )
    return score if score.counts is not None else None


def _numbers(score: AnyScore) -> tuple[int, ...]:
    if isinstance(score, ComponentScore):
        return tuple(score.numbers.values())
    return (score.tp or 0, score.fp or 0, score.fn or 0)


def _standing(table: ScoreTable, board: Board) -> Standing:
    """Order and places by the counts, and by the test results that the board prints."""
    rules, count = board.config, len(table.systems)
    scores = exact_scores(table, rules)
    scored = [score is not None for score in scores]
    exact = sorted(range(count), key=lambda s: (sort_key(scores[s]), table.systems[s]))
    tested, wins = _printed_tests(table, board)
    groups = tie_groups(exact, scored, rules.tie_rule, tested, wins, rules.resamples)
    order, ranks = arranged(table, rules, scores, groups)
    return Standing(
        order=tuple(order),
        ranks=ranks,
        scores=scores,
        estimates=shown_estimates(table, rules, scores),
        score_intervals=[None] * count,
        chosen=[None] * count,
        expected=[None] * count,
        effective=None,
        intervals={(s, m): None for s in range(count) for m in range(len(table.measures))},
        tested=tested,
        sets=rank_sets([s for s in exact if scored[s]], tested),
        groups=groups,
        agreement=Agreement(wins, np.zeros(0), {1: np.zeros(count)}),
        differences=PairDifferences({}, {}),
    )


def _printed_tests(table: ScoreTable, board: Board) -> tuple[PairTests, Floats]:
    places = {name: at for at, name in enumerate(table.systems)}
    p, adjusted, wins = dict[Systems, float](), dict[Systems, float](), np.full((len(places), len(places)), 0.5)
    for pair in board.pairwise:
        if pair.a not in places or pair.b not in places:
            continue  # a pair of rows that are not there is named where pairs are compared
        a, b = places[pair.a], places[pair.b]
        if pair.p is not None:
            p[min(a, b), max(a, b)] = pair.p
        if pair.p_adjusted is not None:
            adjusted[min(a, b), max(a, b)] = pair.p_adjusted
        if pair.wins is not None:
            wins[a, b], wins[b, a] = pair.wins, 1 - pair.wins
    if adjustment_of(board.config) == "holm":
        adjusted = needed_part("optional_rules.pair_p_values:holm_adjusted")(p)
    return PairTests.of(p, adjusted), wins


Side = tuple[str, object, object]


def sides_of_card(board: Board, card: TotalsCard, at: int, site: str | None) -> Iterator[Side]:
    """Pointers into the board, what stands there, and what the card of totals of that row or site says of it."""
    row = board.rows[at]
    cell: Row | Site = row if site is None else row.sites[site]
    where = f"/rows/{at}" + ("" if site is None else f"/sites{pointer_to((site,))}")
    dataset = next(iter(board.gold), "") if site is None else site
    gold = next((part for part in card.signature.split("|") if part.startswith(_GOLD)), _GOLD).removeprefix(_GOLD)
    yield "/sandscore", board.sandscore, card.sandscore
    yield "/task", board.task, card.task
    yield "/definition", _plain(board.definition), _plain(card.definition)
    yield "/profile", board.profile, card.profile
    yield f"/gold{pointer_to((dataset,))}", board.gold.get(dataset), gold or None
    yield f"/rows/{at}/team", row.team, card.team
    yield f"/rows/{at}/name", row.name, card.name
    if card.submission is not None:
        yield f"/rows/{at}/submission", row.submission, card.submission
    yield f"{where}/signature", cell.signature, card.signature
    for name, measure in cell.measures.items():
        told = card.measures.get(name)
        fields = next(names for kind, names in _FIELDS.items() if isinstance(measure, kind))
        for field in fields:
            yield f"{where}/measures{pointer_to((name, field))}", getattr(measure, field), getattr(told, field, None)
    for name, shown in cell.shown.items() if isinstance(cell, Row) else ():
        told = card.measures.get(name)
        yield f"{where}/shown{pointer_to((name,))}", shown, told and told.model_dump(mode="json", exclude_none=True)


_GOLD = "gold:"
_FIELDS: dict[type, tuple[str, ...]] = {
    RatioMeasure: ("n", "of", "direction", "reason"),
    FormulaMeasure: ("components", "formula", "direction", "plugin", "reason"),
    RankedMeasure: ("tp", "fp", "fn", "formula", "direction", "reason"),
}


def _plain(definition: TaskDefinition | None) -> object:
    return definition and definition.model_dump(mode="json")

"""The statistics of two cards: difference, interval and p as on a board of just these cards."""

import math
from collections.abc import Mapping

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.ranking.board_building import board_seed, gold_of
from sandscore.ranking.card_reading import RankedCard, formula_of, ranked_measures
from sandscore.ranking.confidence_intervals import TAILS, Interval, quantile_interval
from sandscore.ranking.resampling import f1_replicates
from sandscore.ranking.score_table import ScoreTable, tabulate
from sandscore.ranking.stepdown import stepdown
from sandscore.records.counts import Counts
from sandscore.records.formula import COUNTS, F1, Formula, parse_formula
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.scorecard import MeasureScore, Scorecard


class CardDifference(Struct, frozen=True):
    """The score of the second card less that of the first; None where one of them is undefined."""

    difference: float | None
    interval: Interval
    p: float | None
    units: int


class NoteDifference(Struct, frozen=True):
    """A note on which two cards differ, what each counts there, and which of them is better there, ``a`` or ``b``."""

    note: str
    a: Counts | dict[str, int]
    b: Counts | dict[str, int]
    better: str | None = None


def card_difference(cards: tuple[Scorecard, Scorecard], names: tuple[str, str], measure: str) -> CardDifference:
    """Over the patients that both cards share, who must be the same; refuses cards that no board would put together."""
    entries = [RankedCard.compared(card, key, name) for card, key, name in zip(cards, "ab", names, strict=True)]
    table = tabulate(entries)
    for entry in entries:
        _refuse_uncounted(entry, measure)
    place = table.measures.index(measure)
    scores = _scores(table, place)
    if scores is None:
        return CardDifference(None, None, None, table.units)
    rules = BoardRules(headline=measure)
    seed = board_seed(gold_of(table), rules)
    replicates = f1_replicates(table, [place], seed, rules.resamples)[:, 0]
    p = stepdown(table.counts[:, :, place], [slice(0, table.units)], [(0, 1)], seed).p
    ahead = replicates[1] - replicates[0] if not table.scale(place).lower else replicates[0] - replicates[1]
    return CardDifference(scores[1] - scores[0], quantile_interval(ahead, TAILS), p[0, 1], table.units)


def note_differences(cards: tuple[Scorecard, Scorecard], measure: str) -> list[NoteDifference]:
    """The notes of two comparable cards whose counts differ, in their order."""
    score = cards[0].measures.get(measure)
    formula = formula_of(score) or parse_formula(F1)
    named = not isinstance(score, MeasureScore)
    lower = getattr(score, "direction", None) == "lower"
    found = []
    for note, counts in cards[0].per_note.items():
        one, two = (_row(rows, measure, formula) for rows in (counts, cards[1].per_note[note]))
        if one != two:
            better = _better(one, two, formula, lower=lower)
            first, second = (one, two) if named else (_counts(one), _counts(two))
            found.append(NoteDifference(note, first, second, better))
    return found


def _row(counts: Mapping[str, tuple[int, ...]], measure: str, formula: Formula) -> dict[str, int]:
    names = COUNTS if formula.kind == "f_beta" else formula.components
    return dict(zip(names, counts.get(measure, (0,) * len(names)), strict=True))


def _counts(row: Mapping[str, int]) -> Counts:
    return Counts(*(row[name] for name in COUNTS))


def _better(one: Mapping[str, int], two: Mapping[str, int], formula: Formula, *, lower: bool) -> str | None:
    """Who has the better score of one note; where nothing is to be found, whoever finds nothing."""
    (above, below), (over, under) = formula.quotient(one), formula.quotient(two)
    if formula.kind == "f_beta":
        (above, below), (over, under) = ((1, 1) if not row[1] else row for row in ((above, below), (over, under)))
    ahead = above * under - over * below
    if not ahead:
        return None
    return "a" if (ahead > 0) != lower else "b"


def _refuse_uncounted(entry: RankedCard, measure: str) -> None:
    counted = ranked_measures(entry.card)
    if measure not in counted:
        raise UsageFault(
            f"{entry.path} has no counts of the measure '{one_line(measure)}'; it has {', '.join(counted)}"
        )


def _scores(table: ScoreTable, place: int) -> tuple[float, float] | None:
    """Of both, where both are defined."""
    first, second = table.pooled_scores(place).tolist()
    if math.isnan(first) or math.isnan(second) or not table.scored[:, :, place].all():
        return None
    return table.scale(place).shown(first), table.scale(place).shown(second)

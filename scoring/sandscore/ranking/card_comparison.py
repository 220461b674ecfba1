"""The statistics of one card, and of two: intervals, difference and p as on a board of just these cards."""

import math
from collections.abc import Mapping

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.ranking.analysis import all_intervals
from sandscore.ranking.board_building import board_seed, gold_of
from sandscore.ranking.card_reading import RankedCard, ranked_measures
from sandscore.ranking.confidence_intervals import TAILS, Interval, quantile_interval
from sandscore.ranking.resampling import f1_replicates
from sandscore.ranking.score_table import ScoreTable, tabulate
from sandscore.ranking.stepdown import stepdown
from sandscore.records.board import BoardRules
from sandscore.records.counts import Counts
from sandscore.records.scorecard import ComponentScore, Scorecard

NO_COUNTS = (0, 0, 0)


class CardDifference(Struct, frozen=True):
    """The score of the first card less that of the second; None where one of them is undefined."""

    difference: float | None
    interval: Interval
    p: float | None
    units: int


class NoteDifference(Struct, frozen=True):
    """A note on which two cards differ, and what each counts there."""

    note: str
    a: Counts
    b: Counts


def card_intervals(card: Scorecard, headline: str) -> dict[str, Interval]:
    """The interval of every measure with counts, as on the board of this one card under that headline."""
    if not card.per_note or not ranked_measures(card):
        return {}
    table = tabulate([_entry(card, "a", "the card")])
    rules = BoardRules(headline=headline)
    intervals = all_intervals(table, rules, board_seed(gold_of(table), rules))
    return {name: intervals[0, place] for place, name in enumerate(table.measures)}


def card_difference(cards: tuple[Scorecard, Scorecard], names: tuple[str, str], measure: str) -> CardDifference:
    """Over the patients that both cards share, who must be the same; refuses cards that no board would put together."""
    entries = [_entry(card, key, name) for card, key, name in zip(cards, "ab", names, strict=True)]
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
    ahead = replicates[0] - replicates[1] if not table.scale(place).lower else replicates[1] - replicates[0]
    return CardDifference(scores[0] - scores[1], quantile_interval(ahead, TAILS), p[0, 1], table.units)


def note_differences(cards: tuple[Scorecard, Scorecard], measure: str) -> list[NoteDifference]:
    """The notes of two comparable cards whose counts differ, in their order."""
    if isinstance(cards[0].measures.get(measure), ComponentScore):
        raise UsageFault(f"notes are compared by tp, fp and fn, which {measure} does not have")
    found = []
    for note, counts in cards[0].per_note.items():
        a, b = _row(counts, measure), _row(cards[1].per_note[note], measure)
        if a != b:
            found.append(NoteDifference(note, Counts(*a), Counts(*b)))
    return found


def _row(counts: Mapping[str, tuple[int, ...]], measure: str) -> tuple[int, int, int]:
    tp, fp, fn = counts.get(measure, NO_COUNTS)
    return tp, fp, fn


def _entry(card: Scorecard, key: str, name: str) -> RankedCard:
    """The card under a name of its own; what its data set is called makes no difference where gold is the same."""
    return RankedCard(card.model_copy(update={"dataset": None}), name, "", key, key)


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

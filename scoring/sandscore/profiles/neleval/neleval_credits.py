"""neleval's overlap credits of a whole corpus at once.

The original walks both sides of a note from the back, compares the two mentions it has come to, and takes leave of the
later one. So every mention is compared just once as the later one: with the last of the other side that stands before
it. Sums run in the original's order of mentions.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.columns import order_of, ranked
from sandscore.profiles.neleval.neleval_columns import Integers, MentionColumns, MentionCorpus
from sandscore.span_measures.mention_partners import Credits

Floats = NDArray[np.float64]
Shares = dict[str, Floats]


def credit_sums_of(corpus: MentionCorpus, *, typed: bool) -> Credits:
    """Summed credit of each side under ``max`` and ``sum``."""
    found: Credits = {}
    sides = zip(("system", "gold"), (corpus.system, corpus.gold), corpus.settled, strict=True)
    for (name, side, settled), twins, shares in zip(
        sides, corpus.twins(typed=typed), _shares(corpus, typed=typed), strict=True
    ):
        for way, share in shares.items():
            column = np.zeros(len(side))
            column[twins] = 1.0
            column[settled.rest] = share
            found[name, way] = float(np.add.accumulate(column)[-1]) if len(column) else 0.0
    return found


class MentionPairs(Struct, frozen=True):
    """Mentions and a partner of each, both as rows of both sides in the walk's order; a mention's partners ascend."""

    mention: Integers
    partner: Integers


def _shares(corpus: MentionCorpus, *, typed: bool) -> tuple[Shares, Shares]:
    """How much of each mention that others touch its partners cover, for system and gold."""
    sides = corpus.rest
    bucket = np.concatenate([corpus.bucket(side, typed=typed) for side in sides])
    start, end = (np.concatenate([getattr(side, name) for side in sides]) for name in ("start", "end"))
    order = order_of(*ranked([bucket, start, end.max(initial=0) - end]))
    both = MentionColumns(bucket[order], start[order], end[order], order)
    pairs = _partners(both, len(sides[0]))
    covered = {"max": _best(both, pairs), "sum": _together(both, pairs, corpus.width)}
    found: tuple[Shares, Shares] = ({}, {})
    for way, units in covered.items():
        share = np.zeros(len(order))
        share[order] = units / (both.end - both.start + 1)
        found[0][way], found[1][way] = share[: len(sides[0])], share[len(sides[0]) :]
    return found


def _partners(both: MentionColumns, system: int) -> MentionPairs:
    """Whom the walk finds; ``type`` below ``system`` is the system's, which at one place stands before gold's."""
    of_gold, place = both.type >= system, np.arange(len(both))
    last = [np.maximum.accumulate(np.where(side, place, -1)) for side in (of_gold, ~of_gold)]
    before = np.where(of_gold, last[1], last[0])
    met = (before >= 0) & (both.note[before] == both.note) & (both.start <= both.end[before])
    later, earlier = place[met], before[met]
    mention, partner = np.concatenate((later, earlier)), np.concatenate((earlier, later))
    order = order_of(*ranked([mention, partner]))
    return MentionPairs(mention[order], partner[order])


def _best(both: MentionColumns, pairs: MentionPairs) -> Integers:
    """The most units that a mention shares with one partner."""
    one, other = pairs.mention, pairs.partner
    units = np.zeros(len(both), np.int64)
    np.maximum.at(
        units, one, np.minimum(both.end[one], both.end[other]) - np.maximum(both.start[one], both.start[other]) + 1
    )
    return units


def _together(both: MentionColumns, pairs: MentionPairs, width: int) -> Integers:
    """The units of a mention that any of its partners has: of each what those before it have not reached."""
    one, other = pairs.mention, pairs.partner
    last = np.minimum(both.end[one], both.end[other])
    reached = both.start[one] - 1
    again = np.flatnonzero(one[1:] == one[:-1])
    reached[again + 1] = (np.maximum.accumulate(one * width + last) - one * width)[again]
    units = np.zeros(len(both), np.int64)
    np.add.at(units, one, np.maximum(last - np.maximum(both.start[other] - 1, reached), 0))
    return units

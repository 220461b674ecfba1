"""nervaluate's greedy pairing, prediction by prediction in file order.

The original looks at every true mention for every prediction, four times a note and four times more per type.
Here those that can meet are found once; a pair whose members have no other partner is decided at once, and
only the rest goes through the original's choices one by one.
"""

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from sandscore.measuring.profiles.semeval_columns import Column, Columns
from sandscore.measuring.profiles.semeval_meeting import meeting

SCHEMAS = ("strict", "partial", "ent_type", "exact")
SPURIOUS, CORRECT, OTHER = range(3)


class Pairs(NamedTuple):
    """Who may take whom, in order of prediction, then of true mention; ``enough`` is enough overlap."""

    gold: Column
    prediction: Column
    enough: Column
    same_bounds: Column
    same_label: Column
    distance: Column

    def only(self, chosen: Column) -> "Pairs":
        return Pairs(*(column[chosen] for column in self))

    def hits(self, schema: str) -> Column:
        """Pairs that are correct under a schema."""
        hits: Column = self.same_label & self.enough if schema == "ent_type" else self.same_bounds.copy()
        if schema == "strict":
            hits &= self.same_label
        if schema == "partial":
            hits &= self.enough
        return hits


class Outcome(NamedTuple):
    """What became of every prediction (SPURIOUS, CORRECT, OTHER), and which true mentions were taken."""

    state: Column
    taken: Column


def find_pairs(columns: Columns, least: float) -> Pairs:
    """All that can meet: enough overlap, in percent of the true mention, or equal bounds."""
    true, found = columns.gold, columns.predictions
    i, j = meeting(true, found)
    starts, ends = (true.start[i], found.start[j]), (true.end[i], found.end[j])
    touching = (starts[1] < ends[0]) & (ends[1] > starts[0])
    length = true.length[i]
    if (length[touching] == 0).any():
        raise ZeroDivisionError("division by zero")
    shared = np.minimum(*ends) - np.maximum(*starts)
    enough = touching.copy()
    enough[touching] = (shared[touching] / length[touching]) * 100.0 >= least
    same_bounds = (starts[0] == starts[1]) & (ends[0] == ends[1])
    distance = np.abs(starts[1] - starts[0]) + np.abs(ends[1] - ends[0])
    pairs = Pairs(i, j, enough, same_bounds, true.label[i] == found.label[j], distance)
    return pairs.only((enough | same_bounds).astype(bool))


def resolve(pairs: Pairs, true_count: int, found_count: int, schema: str) -> Outcome:
    """Every prediction's lot under one schema."""
    outcome = Outcome(np.zeros(found_count, np.int8), np.zeros(true_count, bool))
    hits = pairs.hits(schema).astype(bool)
    usable = hits | pairs.enough.astype(bool)
    rivals = np.bincount(pairs.gold, minlength=true_count)[pairs.gold]
    choices = np.bincount(pairs.prediction, minlength=found_count)[pairs.prediction]
    alone = (rivals == 1) & (choices == 1)
    decided = alone & usable
    outcome.state[pairs.prediction[decided]] = np.where(hits[decided], CORRECT, OTHER)
    outcome.taken[pairs.gold[decided]] = True
    contested = ~alone & usable
    if contested.any():
        _greedy(pairs.only(contested), hits[contested], schema, outcome)
    return outcome


_Choice = tuple[int, int, bool, int]


def _greedy(pairs: Pairs, hits: Column, schema: str, outcome: Outcome) -> None:
    columns = (pairs.prediction, pairs.gold, hits, pairs.distance)
    rows: Iterable[_Choice] = zip(*(column.tolist() for column in columns), strict=True)
    taken: set[int] = set()
    for prediction, choices in groupby(rows, key=itemgetter(0)):
        left = [choice for choice in choices if choice[1] not in taken]
        if not left:
            continue
        right = [choice for choice in left if choice[2]]
        if schema == "ent_type":
            right.sort(key=itemgetter(3))
        taken.add((right or left)[0][1])
        outcome.state[prediction] = CORRECT if right else OTHER
    outcome.taken[list(taken)] = True

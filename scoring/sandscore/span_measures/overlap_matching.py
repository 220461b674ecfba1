"""Overlaps between two sides, and the most pairs of them that can be made one to one.

Both sides are sorted once and swept from left to right, so the work grows with the number of overlapping
pairs and not with the product of the two sides.

Of many pairs at once most are settled without a search: those whose members have no other partner, and stars, in which
one member has several partners that have only this one.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Ints, Mask

Extent = tuple[int, int]
Pair = tuple[int, int]
Weights = Mapping[Pair, tuple[int, ...]]
FEW = 8
"""Pairs of which all choices are tried sooner than a graph of them is made."""


def overlapping_pairs(gold: Sequence[Extent], predictions: Sequence[Extent]) -> list[Pair]:
    """Every (gold, prediction) pair of indices whose half-open extents share at least one unit."""
    events = [(start, end, 0, i) for i, (start, end) in enumerate(gold)]
    events += [(start, end, 1, i) for i, (start, end) in enumerate(predictions)]
    events.sort()
    waiting: tuple[list[Pair], list[Pair]] = ([], [])
    pairs: list[Pair] = []
    for start, end, side, index in events:
        others = waiting[1 - side]
        if others:
            others[:] = [other for other in others if other[0] > start]
            pairs += [(index, j) if side == 0 else (j, index) for _, j in others]
        waiting[side].append((end, index))
    return pairs


def split_contested(pairs: Sequence[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Pairs whose two members have no other partner, and the rest."""
    gold = Counter(i for i, _ in pairs)
    predictions = Counter(j for _, j in pairs)
    alone = [(i, j) for i, j in pairs if gold[i] == 1 and predictions[j] == 1]
    contested = [(i, j) for i, j in pairs if gold[i] > 1 or predictions[j] > 1]
    return alone, contested


def maximum_matching(pairs: Sequence[Pair]) -> int:
    """How many of these pairs can be taken at most when nobody is taken twice."""
    alone, contested = split_contested(pairs)
    if len(contested) <= FEW:
        return len(alone) + len(heaviest_of_few(contested, dict.fromkeys(contested, (1,))))
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, columns = _numbered(i for i, _ in contested), _numbered(j for _, j in contested)
    where = ([rows[i] for i, _ in contested], [columns[j] for _, j in contested])
    graph = coo_array(([1] * len(contested), where), shape=(len(rows), len(columns)))
    partners = maximum_bipartite_matching(graph.tocsr(), perm_type="column")
    return len(alone) + int((partners >= 0).sum())


def heaviest_of_few(pairs: Sequence[Pair], weights: Weights) -> list[Pair]:
    """As ``heaviest_matching``, by trying all choices; of equal ones another may be taken."""
    if not pairs:
        return []
    (i, j), rest = pairs[0], pairs[1:]
    without = heaviest_of_few(rest, weights)
    taken = [(i, j), *heaviest_of_few([pair for pair in rest if pair[0] != i and pair[1] != j], weights)]
    return max(taken, without, key=lambda chosen: [sum(place) for place in zip(*map(weights.get, chosen), strict=True)])


def heaviest_matching(weights: Weights) -> list[Pair]:
    """The one-to-one pairs whose weights, added up place by place, are first in lexicographic order.

    Weights are small tuples of 0 and 1, most important place first. Places are folded into one number in a
    base larger than any place's sum, so no number of lesser gains outweighs one greater gain. Every row gets
    a column of its own that stands for "stays alone", which makes a full matching of the rows exist always.
    """
    chosen, contested = split_contested(list(weights))
    if not contested:
        return chosen
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, columns = _numbered(i for i, _ in contested), _numbered(j for _, j in contested)
    base = min(len(rows), len(columns)) + 1
    entries = [(rows[i], columns[j], 1.0 + _folded(weights[i, j], base)) for i, j in contested]
    entries += [(row, len(columns) + row, 1.0) for row in range(len(rows))]
    at_row, at_column, values = zip(*entries, strict=True)
    shape = (len(rows), len(columns) + len(rows))
    graph = coo_array((values, (at_row, at_column)), shape=shape).tocsr()
    matched = min_weight_full_bipartite_matching(graph, maximize=True)
    row_of, column_of = list(rows), list(columns)
    pairs = zip(*(side.tolist() for side in matched), strict=True)
    return chosen + [(row_of[row], column_of[column]) for row, column in pairs if column < len(columns)]


class SettledPairs(Struct, frozen=True):
    """Pairs by what there is to choose: nothing; which of its pairs a star gives, its centre numbered; and the rest."""

    alone: Mask
    of_star: Mask
    star: Ints
    contested: Mask


def settle(gold: Ints, predicted: Ints) -> SettledPairs:
    """Which pairs of these two columns need a search, and which do not."""
    golds, predictions = 1 + int(gold.max(initial=-1)), 1 + int(predicted.max(initial=-1))
    many_gold = np.bincount(gold, minlength=golds)[gold] > 1
    many_predicted = np.bincount(predicted, minlength=predictions)[predicted] > 1
    alone = ~(many_gold | many_predicted)
    tied_gold = np.bincount(gold[many_predicted], minlength=golds)[gold] > 0
    tied_predicted = np.bincount(predicted[many_gold], minlength=predictions)[predicted] > 0
    about_gold, about_predicted = many_gold & ~tied_gold, many_predicted & ~tied_predicted
    of_star = about_gold | about_predicted
    star = np.where(about_gold, gold, golds + predicted)
    return SettledPairs(alone, of_star, star, ~(alone | of_star))


def matched_at_most(gold: Ints, predicted: Ints, note: Ints, notes: int) -> Ints:
    """Of each note how many of its pairs can be taken at most when nobody is taken twice."""
    settled = settle(gold, predicted)
    found = np.bincount(note[settled.alone], minlength=notes)
    centres, first = np.unique(settled.star[settled.of_star], return_index=True)
    found += np.bincount(note[settled.of_star][first], minlength=notes) if len(centres) else 0
    for number, pairs in by_note(settled.contested, note, gold, predicted).items():
        found[number] += maximum_matching(pairs)
    return found


def by_note(chosen: Mask, note: Ints, gold: Ints, predicted: Ints) -> dict[int, list[Pair]]:
    """Some of the pairs, note by note."""
    found: dict[int, list[Pair]] = {}
    columns = (column[chosen].tolist() for column in (note, gold, predicted))
    for number, i, j in zip(*columns, strict=True):
        found.setdefault(number, []).append((i, j))
    return found


def _numbered(items: Iterable[int]) -> dict[int, int]:
    return {item: number for number, item in enumerate(dict.fromkeys(items))}


def _folded(places: tuple[int, ...], base: int) -> int:
    number = 0
    for place in places:
        number = number * base + place
    return number

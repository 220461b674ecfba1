"""All cards as one block of integers: systems by units by measures, units being patients within data sets."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.base.errors import ParticipantFault

if TYPE_CHECKING:
    from sandscore.ranking.card_reading import RankedCard
    from sandscore.records.formula import Formula

Integers = NDArray[np.int64]


class ScoreTable(Struct, frozen=True, eq=False):
    """``counts[s, u, m]`` is (tp, fp, fn); ``blocks`` says which units belong to which data set.

    ``scored[s, d, m]`` is false where a system has no card for a data set, or the card gives a reason not to score it.
    """

    systems: tuple[str, ...]
    datasets: tuple[str, ...]
    measures: tuple[str, ...]
    counts: Integers
    blocks: tuple[slice, ...]
    scored: NDArray[np.bool_]
    cards: "dict[tuple[str, str], RankedCard]"

    @property
    def units(self) -> int:
        return int(self.counts.shape[1])

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many units each data set has."""
        return tuple(block.stop - block.start for block in self.blocks)

    def totals(self) -> Integers:
        """(systems, data sets, measures, 3): the counts each ratio is made of."""
        return np.stack([self.counts[:, block].sum(axis=1) for block in self.blocks], axis=1)

    def entries(self, system: str) -> "list[tuple[str, RankedCard]]":
        """The cards of one system with their data sets, in order."""
        return [(name, self.cards[system, name]) for name in self.datasets if (system, name) in self.cards]


def tabulate(entries: "Sequence[RankedCard]") -> ScoreTable:
    """The table of cards that may be compared; their order changes nothing."""
    from sandscore.ranking.card_reading import in_order, ranked_measures, refuse_incomparable

    refuse_incomparable(entries)
    ordered = in_order(entries)
    systems = tuple(sorted({entry.submission for entry in ordered}))
    datasets = tuple(sorted({entry.dataset for entry in ordered}))
    measures = tuple(dict.fromkeys(name for entry in ordered for name in ranked_measures(entry.card)))
    if not measures:
        raise ParticipantFault(f"{ordered[0].path} has no measure with integer counts: nothing can be ranked")
    cards = {(entry.submission, entry.dataset): entry for entry in ordered}
    members = [_units_of(next(e for e in ordered if e.dataset == name)) for name in datasets]
    starts = np.cumsum([0, *(len(set(of)) for of in members)])
    blocks = tuple(slice(int(a), int(b)) for a, b in pairwise(starts))
    counts = np.zeros((len(systems), int(starts[-1]), len(measures), 3), np.int64)
    scored = np.zeros((len(systems), len(datasets), len(measures)), np.bool_)
    for s, system in enumerate(systems):
        for d, dataset in enumerate(datasets):
            entry = cards.get((system, dataset))
            if entry is not None:
                counts[s, blocks[d]] = _summed(entry, measures, members[d])
                scored[s, d] = [_is_scored(entry, name) for name in measures]
    return ScoreTable(systems, datasets, measures, counts, blocks, scored, cards)


def _units_of(entry: "RankedCard") -> list[int]:
    """For each note the number of its patient, patients counted in order of first appearance."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(entry.card.units[note], len(numbers)) for note in entry.card.per_note]


def _summed(entry: "RankedCard", measures: tuple[str, ...], units: list[int]) -> Integers:
    nothing = (0, 0, 0)
    formulas = {name: _formula(entry, name) for name in measures}
    plain = [name for name in measures if formulas[name] is None]
    out = np.zeros((max(units) + 1, len(measures), 3), np.int64)
    if plain:
        columns = [measures.index(name) for name in plain]
        notes = np.array(
            [[note.get(name, nothing) for name in plain] for note in entry.card.per_note.values()], np.int64
        )
        added = np.zeros((len(out), len(plain), 3), np.int64)
        np.add.at(added, np.asarray(units), notes)
        out[:, columns] = added
    for at, name in enumerate(measures):
        if formula := formulas[name]:
            out[:, at] = _as_counts(formula, entry, name, units, len(out))
    return out


def _as_counts(formula: "Formula", entry: "RankedCard", name: str, units: list[int], size: int) -> Integers:
    """Counts whose F1 is the formula's quotient a/b: tp = a, fp = fn = b - a. A sum is divided by the units."""
    quotients = np.zeros((size, 2), np.int64)
    for unit, note in zip(units, entry.card.per_note.values(), strict=True):
        if name in note:
            quotients[unit] += formula.quotient(dict(zip(formula.components, note[name], strict=True)))
    over, under = quotients[:, 0], np.ones(size, np.int64) if formula.kind == "sum" else quotients[:, 1]
    return np.stack((over, under - over, under - over), axis=1)


def _formula(entry: "RankedCard", name: str) -> "Formula | None":
    from sandscore.ranking.card_reading import formula_of

    return formula_of(entry.card.measures.get(name))


def _is_scored(entry: "RankedCard", name: str) -> bool:
    score = entry.card.measures.get(name)
    if score is None or score.reason is not None:
        return False
    return score.counts is not None or _formula(entry, name) is not None

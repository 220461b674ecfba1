"""All cards as one block of integers: systems by units by measures, units being patients within data sets."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.base.errors import ParticipantFault
from sandscore.records.interval_rules import FEW_LEAKING

if TYPE_CHECKING:
    from sandscore.ranking.card_reading import RankedCard
    from sandscore.records.formula import Formula

Integers = NDArray[np.int64]


class MeasureScale(Struct, frozen=True):
    """Where a measure's scores lie, and which are better.

    Inside the ranking more is always better: scores of which less is better (``lower``) are turned round, to 1 − y
    where they lie between 0 and 1 (``bounded``), to −y elsewhere. What leaves the ranking is turned back.
    """

    bounded: bool = True
    lower: bool = False

    def shown(self, score: float) -> float:
        return score if not self.lower else 1 - score if self.bounded else -score

    def shown_interval(self, interval: tuple[float, float] | None) -> tuple[float, float] | None:
        if interval is None or not self.lower:
            return interval
        return self.shown(interval[1]), self.shown(interval[0])


F1_SCALE = MeasureScale()


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
    scales: dict[str, MeasureScale] = {}

    def scale(self, measure: int) -> MeasureScale:
        return self.scales.get(self.measures[measure], F1_SCALE)

    def annotations(self, measure: int) -> list[int]:
        """By unit: 2 tp + fp + fn of all the systems that the measure scores, what a unit weighs in its ratios."""
        counts = self.counts[self.scored[:, :, measure].any(axis=1), :, measure]
        by_unit: list[int] = (2 * counts[..., 0] + counts[..., 1] + counts[..., 2]).sum(axis=0).tolist()
        return by_unit

    def wrong(self, system: int, measure: int, units: slice = slice(None)) -> tuple[list[int], list[int]]:
        """By unit, of a measure that is a share: what counts against the system, and of how much."""
        right, against = np.moveaxis(self.counts[system, units, measure, :2], -1, 0)
        return against.tolist(), (right + against).tolist()

    def has_few(self, system: int, measure: int) -> bool:
        """Whether the measure is a share that too few patients count against for any interval of resamples."""
        from sandscore.records.scorecard import RatioScore

        name = self.measures[measure]
        scores = (entry.card.measures.get(name) for _, entry in self.entries(self.systems[system]))
        if not any(isinstance(score, RatioScore) for score in scores):
            return False
        return sum(wrong > 0 for wrong in self.wrong(system, measure)[0]) < FEW_LEAKING

    def pooled_scores(self, measure: int) -> NDArray[np.float64]:
        """The score of every system's counts on all data sets together; NaN where there is none."""
        tp, fp, fn = np.moveaxis(self.counts[:, :, measure].sum(axis=1), 1, 0)
        with np.errstate(invalid="ignore"):
            scores: NDArray[np.float64] = 2 * tp / (2 * tp + fp + fn)
        return scores

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
    quotients = {name: np.zeros((*counts.shape[:2], 2), np.int64) for name in measures if _formula(ordered, name)}
    scored = np.zeros((len(systems), len(datasets), len(measures)), np.bool_)
    plain = [at for at, name in enumerate(measures) if name not in quotients]
    for s, system in enumerate(systems):
        for d, dataset in enumerate(datasets):
            entry = cards.get((system, dataset))
            if entry is not None:
                counts[s, blocks[d], plain] = _summed(entry, [measures[at] for at in plain], members[d])
                for name, quotient in quotients.items():
                    quotient[s, blocks[d]] = _quotients(entry, name, members[d])
                scored[s, d] = [_is_scored(entry, name) for name in measures]
    scales = {name: _scale(ordered, name, quotient) for name, quotient in quotients.items()}
    for name, quotient in quotients.items():
        counts[:, :, measures.index(name)] = _as_counts(quotient, scales[name])
    return ScoreTable(systems, datasets, measures, counts, blocks, scored, cards, scales)


def _units_of(entry: "RankedCard") -> list[int]:
    """For each note the number of its patient, patients counted in order of first appearance."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(entry.card.units[note], len(numbers)) for note in entry.card.per_note]


def _summed(entry: "RankedCard", names: Sequence[str], units: list[int]) -> Integers:
    """By measure and unit; the measures come first, as they do where they are picked from the table."""
    out = np.zeros((max(units) + 1, len(names), 3), np.int64)
    if names:
        np.add.at(out, np.asarray(units), _note_counts(entry.card.per_note, names))
    return np.moveaxis(out, 1, 0)


def _note_counts(per_note: "Mapping[str, Mapping[str, tuple[int, ...]]]", names: Sequence[str]) -> Integers:
    """By note and measure; those of a card that was just made are a table still."""
    if not isinstance(per_note, dict):
        from sandscore.scoring.card_building import NoteCounts

        if isinstance(per_note, NoteCounts):
            return per_note.table(names)
    nothing = (0, 0, 0)
    return np.array([[note.get(name, nothing) for name in names] for note in per_note.values()], np.int64)


def _quotients(entry: "RankedCard", name: str, units: list[int]) -> Integers:
    """What a formula divides, and by what, unit by unit; a sum is divided by the units."""
    from sandscore.ranking.card_reading import rows_of

    out = np.zeros((max(units) + 1, 2), np.int64)
    formula = _formula([entry], name)
    if formula is None:
        return out
    numbers = {entry.card.units[note]: unit for note, unit in zip(entry.card.per_note, units, strict=True)}
    for unit, row in rows_of(entry.card, name):
        out[numbers[unit]] += formula.quotient(dict(zip(formula.components, row, strict=True)))
    if formula.kind == "sum":
        out[:, 1] = 1
    return out


def _scale(entries: "Sequence[RankedCard]", name: str, quotients: Integers) -> MeasureScale:
    formula = _formula(entries, name)
    summed = formula is not None and formula.kind == "sum"
    bounded = not summed and bool((quotients[..., 0] <= quotients[..., 1]).all())
    scores = (entry.card.measures[name] for entry in entries if name in entry.card.measures)
    return MeasureScale(bounded, any(score.direction == "lower" for score in scores))


def _as_counts(quotients: Integers, scale: MeasureScale) -> Integers:
    """Counts whose F1 is the quotient a/b, turned round where less is better: tp = a, fp = fn = b − a."""
    over, under = quotients[..., 0], quotients[..., 1]
    if scale.lower:
        over = under - over if scale.bounded else -over
    return np.stack((over, under - over, under - over), axis=-1)


def _formula(entries: "Iterable[RankedCard]", name: str) -> "Formula | None":
    """How the measure's score is made, as the first card says that has it."""
    from sandscore.ranking.card_reading import formula_of

    return next((formula_of(entry.card.measures[name]) for entry in entries if name in entry.card.measures), None)


def _is_scored(entry: "RankedCard", name: str) -> bool:
    from sandscore.ranking.card_reading import is_ranked

    score = entry.card.measures.get(name)
    if score is None or score.reason is not None:
        return False
    return is_ranked(score)

"""The page of one submission."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sandscore.records.board import AnyMeasure, Board, Pair, Row
from sandscore.site.board_columns import cost_of
from sandscore.site.board_files import Card, CardFacts
from sandscore.site.label_rows import LabelTable, label_table
from sandscore.site.plots.confidence_plot import Curve, curve_of
from sandscore.site.plots.error_plot import ErrorProfile, error_profile
from sandscore.site.standings import Bar, Line, Scale, bar, scale_of

NEIGHBOURS = 5


class NeighbourComparison(Struct, frozen=True):
    """This row against another; ``delta`` and ``wins`` as seen from this one."""

    other: Line
    delta: float | None
    p_holm: float | None
    wins: float | None


class Detail(Struct, frozen=True):
    """What the cards say, for one data set."""

    dataset: str
    facts: CardFacts
    labels: LabelTable | None
    errors: ErrorProfile | None
    curve: Curve | None


class SubmissionView(Struct, frozen=True):
    """All of it."""

    line: Line
    measures: Sequence[tuple[str, AnyMeasure, Bar | None]]
    scale: Scale
    comparisons: Sequence[NeighbourComparison]
    details: Sequence[Detail]
    cost: Mapping[str, float | None]


def submission_view(
    board: Board, lines: Sequence[Line], at: int, pairs: Mapping[tuple[str, str], Pair], cards: Mapping[str, Card]
) -> SubmissionView:
    """The row at that place; ``cards`` are its own, by data set."""
    row = lines[at].row
    scale = _scale(row)
    measures = [(name, measure, bar(scale, measure.f1, measure.f1_ci)) for name, measure in row.measures.items()]
    near = [0, *range(max(1, at - NEIGHBOURS), min(len(lines), at + NEIGHBOURS + 1))]
    comparisons = [_comparison(row, lines[other], pairs) for other in near if other != at]
    details = [_detail(name, card.facts, board.headline) for name, card in cards.items()]
    return SubmissionView(lines[at], measures, scale, [c for c in comparisons if c], details, cost_of(row))


def _scale(row: Row) -> Scale:
    ends = [end for measure in row.measures.values() for end in (measure.f1, *(measure.f1_ci or ()))]
    return scale_of([end for end in ends if end is not None])


def _comparison(row: Row, other: Line, pairs: Mapping[tuple[str, str], Pair]) -> NeighbourComparison | None:
    ours = pairs.get((row.submission, other.row.submission))
    pair = ours or pairs.get((other.row.submission, row.submission))
    if pair is None:
        return None
    if ours:
        return NeighbourComparison(other, pair.delta, pair.p_holm, pair.wins)
    delta = None if pair.delta is None else -pair.delta
    return NeighbourComparison(other, delta, pair.p_holm, None if pair.wins is None else 1 - pair.wins)


def _detail(name: str, facts: CardFacts, headline: str) -> Detail:
    strict = facts.measures.get("instance_strict")
    counts = strict.counts if strict else None
    errors = error_profile(counts.tp, facts.errors) if facts.errors and counts else None
    labels = label_table(facts.per_label, headline)
    return Detail(name or facts.dataset or "", facts, labels, errors, curve_of(facts.confidence))

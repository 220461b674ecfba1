"""Every row against every other: how often it is ahead when the patients are drawn again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sandscore.records.board import Board, Pair

SHOWN = 20
ALPHA = 0.05
_SHADES = 5


@dataclass(frozen=True, slots=True)
class HeatCell:
    """``wins`` is the share of resamples the row is ahead in; ``shade`` −5 … 5 is how blue or orange that is."""

    wins: float
    p_holm: float | None
    shade: int

    @property
    def apart(self) -> bool:
        """Whether the test tells the two apart."""
        return self.p_holm is not None and self.p_holm < ALPHA


@dataclass(frozen=True, slots=True)
class HeatMap:
    """The first rows of the board against each other; None where nothing is known, as on the diagonal."""

    names: Sequence[str]
    cells: Sequence[Sequence[HeatCell | None]]
    left_out: int


def heat_map(board: Board) -> HeatMap | None:
    """None where the board does not say how often one row beats another."""
    names = [row.submission for row in board.rows[:SHOWN]]
    known = pairs_by_name(board)
    cells = [[_cell(known, a, b) for b in names] for a in names]
    if not any(cell for row in cells for cell in row):
        return None
    return HeatMap(names, cells, len(board.rows) - len(names))


def pairs_by_name(board: Board) -> Mapping[tuple[str, str], Pair]:
    return {(pair.a, pair.b): pair for pair in board.pairwise}


def _cell(known: Mapping[tuple[str, str], Pair], a: str, b: str) -> HeatCell | None:
    pair = known.get((a, b)) or known.get((b, a))
    if pair is None or pair.wins is None:
        return None
    wins = pair.wins if pair.a == a else 1 - pair.wins
    return HeatCell(wins, pair.p_holm, round((2 * wins - 1) * _SHADES))

"""Where each row may really stand: its set of places, and how often it comes first or among the first."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sandscore.publishing.plots.scale import Scale
from sandscore.records.board import Board, Row

SHOWN = 25
_LARGEST = 11.0


@dataclass(frozen=True, slots=True)
class Blob:
    """A share of the resamples, drawn as an area."""

    share: float
    radius: str


@dataclass(frozen=True, slots=True)
class Podium:
    """One row: the ends of its set of places and its own place in per cent, and its blobs by "first how many"."""

    row: Row
    low: str | None
    high: str | None
    at: str | None
    blobs: Sequence[Blob | None]


@dataclass(frozen=True, slots=True)
class StabilityPlot:
    """``tops`` heads the blobs: among the first how many; ``ticks`` are places with their position."""

    tops: Sequence[int]
    podiums: Sequence[Podium]
    ticks: Sequence[tuple[str, str]]
    left_out: int


def stability_plot(board: Board) -> StabilityPlot | None:
    """None where the board says nothing of resamples or of places."""
    if board.stability is None or len(board.rows) < 2:
        return None
    tops = sorted({int(top) for shares in board.stability.p_top.values() for top in shares})
    tops = [top for top in tops if top < len(board.rows)]
    scale = Scale(0.5, len(board.rows) + 0.5)
    podiums = [_podium(board, row, tops, scale) for row in board.rows[:SHOWN]]
    return StabilityPlot(tops, podiums, _ticks(scale, len(board.rows)), len(board.rows) - len(podiums))


def _podium(board: Board, row: Row, tops: Sequence[int], scale: Scale) -> Podium:
    shares = board.stability.p_top.get(row.submission, {}) if board.stability else {}
    low, high = (None, None) if row.rank_set is None else (row.rank_set[0] - 0.4, row.rank_set[1] + 0.4)
    return Podium(
        row,
        None if low is None else scale.at(low),
        None if high is None else scale.at(high),
        None if row.rank is None else scale.at(row.rank),
        [_blob(shares.get(str(top))) for top in tops],
    )


def _blob(share: float | None) -> Blob | None:
    return None if share is None else Blob(share, f"{_LARGEST * math.sqrt(share):.2f}")


def _ticks(scale: Scale, rows: int) -> list[tuple[str, str]]:
    wanted = [1, *(int(tick) for tick in scale.ticks if 1 < tick < rows and tick == int(tick)), rows]
    return [(str(place), scale.at(place)) for place in dict.fromkeys(wanted)]

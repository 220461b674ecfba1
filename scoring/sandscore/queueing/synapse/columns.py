"""A board as rows of a Synapse table: what everybody may see of it, never more."""

from pathlib import Path

from pydantic import ValidationError

from sandscore.queueing.synapse.annotations import key
from sandscore.ranking.exports import records
from sandscore.records.board import Board
from sandscore.records.errors import InfrastructureFault

KEY = "submissionid"
WHOLE = ("rank_low", "rank_high", "group")
NUMBERS = ("rank", "score", "k", "p_vs_leader", "p_first")
_RATIOS = ("f1", "f1_low", "f1_high", "precision", "recall")
NAME_LENGTH, KEY_LENGTH = 200, 40
MOST_COLUMNS = 150

Rows = list[dict[str, object]]


def read_board(path: Path) -> Board:
    try:
        return Board.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise InfrastructureFault(f"{path} cannot be read as a board") from None


def table_rows(board: Board) -> Rows:
    """One dict a submission, the same keys in each: text as text, numbers as numbers, the rest left out."""
    measures = list(dict.fromkeys(name for row in board.rows for name in row.measures))
    ratios = {f"{name}.{ratio}": f"{key(name)}_{ratio}" for ratio in _RATIOS for name in measures}
    return [_row(flat, ratios) for flat in records(board)]


def _row(flat: dict[str, object], ratios: dict[str, str]) -> dict[str, object]:
    row: dict[str, object] = {KEY: str(flat["submission"])[:KEY_LENGTH], "team": _name(flat["team"])}
    row |= {name: flat[name] for name in WHOLE}
    row |= {name: _double(flat[name]) for name in NUMBERS}
    named = {name: _double(flat.get(source)) for source, name in ratios.items()}
    return dict(list((row | named).items())[:MOST_COLUMNS])


def _name(value: object) -> str:
    return " ".join(str(value or "").split())[:NAME_LENGTH]


def _double(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

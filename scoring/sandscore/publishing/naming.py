"""File names that are safe everywhere, for boards and submissions whose own names may be anything."""

import hashlib
import re
from collections.abc import Sequence

from sandscore.records.board import Board

_SAFE = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_UNSAFE = re.compile(r"[^a-z0-9]+")
_LONGEST = 60
_RESERVED = frozenset({"index", "board", "cards", "con", "prn", "aux", "nul"})


def file_name(name: str) -> str:
    """The name itself where it is plain; else what is plain of it, and a hash that tells it from others."""
    if len(name) <= _LONGEST and _SAFE.fullmatch(name) and name not in _RESERVED:
        return name
    bare = _UNSAFE.sub("-", name.lower()).strip("-")[:_LONGEST].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{bare}-{digest}" if bare else digest


def board_names(boards: Sequence[Board]) -> list[tuple[str, ...]]:
    """What to call each board: its task, its phase, and where that is not enough, what sets it apart."""
    short = [(board.task, board.phase or "") for board in boards]
    names = []
    for board, name in zip(boards, short, strict=True):
        alike = [_traits(other) for other, called in zip(boards, short, strict=True) if called == name]
        apart = [
            trait for trait, seen in zip(_traits(board), zip(*alike, strict=True), strict=True) if len({*seen}) > 1
        ]
        names.append(tuple(part for part in (*name, *apart) if part))
    return names


def _traits(board: Board) -> tuple[str, ...]:
    return board.headline, board.profile, " ".join(board.gold)

"""Blocks of columns on their way to become a file's; beyond some millions of annotations they wait on disk."""

from sandscore.annotations.columns import Columns, Tokens
from sandscore.base.arrays import Kind, Values, as_bytes, room_for, rooms_for
from sandscore.base.column_files import Spool, about_to_write

SPILL = 1 << 21
"""Annotations that memory holds."""
_ALL = 1 << 62
_SPARE = 1.015
"""Blocks differ a little in how many annotations they have."""
_TOKENS = ("words", "begin", "size")
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("note", "start", "length", "label", "text", *_TOKENS), "i"),
    "confidence": "d",
}


class Gathered:
    """Columns of several blocks. ``shared``: to be filled by a forked process for this one to read.

    ``spilling``: they may wait on disk.
    """

    def __init__(self, *, shared: bool = False, spilling: bool = True) -> None:
        self._most = SPILL if spilling else _ALL
        self._rooms = {name: room_for(0, kind) for name, kind in KINDS.items()}
        self._used = dict.fromkeys(KINDS, 0)
        self._spools = {name: Spool() for name in KINDS} if shared else {}
        self._spilling = False
        self.size = 0

    def add(self, part: Columns, rest: float = 0) -> None:
        """Another block, to be copied; ``rest``: about so many times as much will follow."""
        flat = _flat(part)
        rest = min(rest, SPILL / max(1, len(part)))
        if rest and not self.size:
            self._rooms |= rooms_for({n: (_wanted(len(c), rest), KINDS[n]) for n, c in flat.items() if c is not None})
        self.size += len(part)
        for name, column in flat.items():
            if column is None:
                self._rooms.pop(name, None)
            elif self._spilling and name in self._rooms:
                self._spools[name].append(column)
            elif name in self._rooms:
                self._put(name, column, rest)
        if self.size > self._most and not self._spilling:
            self._spill()

    def columns(self) -> Columns:
        """All blocks as one."""
        if self._spilling:
            return self.spilled(self.kept or ())
        return _columns({name: room[: self._used[name]] for name, room in self._rooms.items()})

    @property
    def kept(self) -> tuple[str, ...] | None:
        """The columns that are in files; None where nothing is."""
        return tuple(self._rooms) if self._spilling else None

    def spilled(self, kept: tuple[str, ...]) -> Columns:
        """All blocks as one, out of the files, whoever wrote them."""
        return _columns({name: self._spools[name].column(KINDS[name]) for name in kept})

    def _put(self, name: str, column: Values, rest: float) -> None:
        """Behind what is there; room for what follows costs nothing until it is written to."""
        room, used = self._rooms[name], self._used[name]
        self._used[name] = needed = used + len(column)
        if needed > len(room):
            wanted = max(used + _wanted(len(column), rest), 2 * used)
            self._rooms[name] = room_for(wanted, KINDS[name])
            self._rooms[name][:used] = room[:used]
        room = self._rooms[name]
        about_to_write(room, used * room.itemsize, needed * room.itemsize)
        as_bytes(room[used:needed])[:] = as_bytes(column)

    def _spill(self) -> None:
        self._spilling = True
        for name, room in self._rooms.items():
            spool = self._spools.get(name) or self._spools.setdefault(name, Spool())
            spool.append(room[: self._used[name]])
            self._rooms[name] = room_for(0, KINDS[name])


def _wanted(size: int, rest: float) -> int:
    """For a column of a block, and for what follows it."""
    return size + int(size * rest * _SPARE)


def _flat(part: Columns) -> dict[str, Values | None]:
    tokens = part.tokens.held if part.tokens else dict.fromkeys(_TOKENS)
    return {name: tokens[name] if name in tokens else part.held[name] for name in KINDS}


def _columns(found: dict[str, memoryview]) -> Columns:
    tokens = Tokens(*(found.pop(name) for name in _TOKENS)) if "words" in found else None
    return Columns(**found, tokens=tokens)

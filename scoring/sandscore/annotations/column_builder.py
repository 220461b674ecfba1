"""Blocks of columns on their way to become a file's; beyond some millions of annotations they wait on disk."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandscore.annotations.columns import Columns, Tokens
from sandscore.base.column_files import Spool, small_pages

SPILL = 1 << 21
"""Annotations that memory holds."""
_ALL = 1 << 62
KINDS: dict[str, type[np.generic]] = dict.fromkeys(
    ("note", "start", "length", "label", "text", "words", "begin", "size"), np.int32
) | {"confidence": np.float64}


class Gathered:
    """Columns of several blocks. ``shared``: to be filled by a forked process for this one to read.

    ``spilling``: they may wait on disk.
    """

    def __init__(self, *, shared: bool = False, spilling: bool = True) -> None:
        self._most = SPILL if spilling else _ALL
        self._parts: dict[str, list[NDArray[Any]]] = {name: [np.zeros(0, kind)] for name, kind in KINDS.items()}
        self._spools = {name: Spool() for name in KINDS} if shared else {}
        self._spilling = False
        self.size = 0

    def add(self, part: Columns) -> None:
        """Another block."""
        self.size += len(part)
        for name, column in _flat(part).items():
            if column is None:
                self._parts.pop(name, None)
            elif name in self._parts:
                self._parts[name].append(column)
        if self.size > self._most:
            self._spill()

    def columns(self) -> Columns:
        """All blocks as one; what was gathered is let go of, column by column, so that nothing is held twice."""
        if self._spilling:
            return self.spilled(self.kept or ())
        return _columns({name: _emptied(parts) for name, parts in self._parts.items()})

    @property
    def kept(self) -> tuple[str, ...] | None:
        """The columns that are in files; None where nothing is."""
        return tuple(self._parts) if self._spilling else None

    def spilled(self, kept: tuple[str, ...]) -> Columns:
        """All blocks as one, out of the files, whoever wrote them."""
        return _columns({name: self._spools[name].column(KINDS[name]) for name in kept})

    def _spill(self) -> None:
        self._spilling = True
        for name, parts in self._parts.items():
            spool = self._spools.get(name) or self._spools.setdefault(name, Spool())
            for part in parts:
                spool.append(part)
            parts.clear()


def _flat(part: Columns) -> dict[str, NDArray[Any] | None]:
    tokens = part.tokens
    return {
        "note": part.note,
        "start": part.start,
        "length": part.length,
        "label": part.label,
        "confidence": part.confidence,
        "text": part.text,
        "words": tokens.words if tokens else None,
        "begin": tokens.begin if tokens else None,
        "size": tokens.size if tokens else None,
    }


def _columns(found: dict[str, NDArray[Any]]) -> Columns:
    tokens = Tokens(found.pop("words"), found.pop("begin"), found.pop("size")) if "words" in found else None
    return Columns(**found, tokens=tokens)


def _emptied(parts: list[NDArray[Any]]) -> NDArray[Any]:
    whole = np.concatenate(parts, out=small_pages(sum(map(len, parts)), parts[0].dtype))
    parts.clear()
    return whole

"""Memory as the system gives it quickest."""

import mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_PIECE = 31 << 20
_LARGE = 1 << 22
"""Bytes from which on numpy asks for large pages."""


def keep_freed_memory() -> None:
    """Blocks need the same memory again and again, which the C library would give back to the system each time.

    It does not where a larger piece has been freed before; this one is never touched.
    """
    np.empty(_PIECE, np.uint8)


def small_pages(size: int, kind: DTypeLike) -> NDArray[Any]:
    """Room for values in pages of the ordinary size: for large ones the system may have to move others about first."""
    needed = size * np.dtype(kind).itemsize
    if needed < _LARGE:
        return np.empty(size, kind)
    return np.frombuffer(mmap.mmap(-1, needed, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), kind)

"""Arrays: values in plain memory, which the kernel fills, and numpy's view of them once somebody computes with them.

``np`` is numpy, imported when something of it is first asked for: importing it takes as long as scoring a small file,
for which the kernel needs addresses and nothing else.
"""

import mmap
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import accumulate
from struct import calcsize, pack
from typing import TYPE_CHECKING, Any, Literal, Self

__all__ = ["np"]

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Small = NDArray[np.int32]
    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Octets = NDArray[np.uint8]
    Values = memoryview | NDArray[Any]
else:

    class _Numpy:
        def __getattr__(self, name: str) -> object:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _Numpy()
    Ints = Small = Floats = Mask = Octets = Values = Any

Kind = Literal["B", "i", "q", "d", "I", "Q"]
"""Of values in plain memory, as ``struct`` names it."""
_LARGE = 1 << 16
"""Bytes from which on the system is asked: for pages of the ordinary size, as large ones may have it move others."""
_LARGE_PAGE, _FEW_PAGES, _BORDER = 1 << 21, 8, 64


def room_for(count: int, kind: Kind) -> memoryview:
    """Room for values, all of them 0 at first; it takes no memory before it is written to where there are many."""
    size = count * calcsize(kind)
    if size < _LARGE:
        return seen_as(bytearray(size), kind)
    return seen_as(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), kind)


def rooms_for(wanted: Mapping[str, tuple[int, Kind]]) -> dict[str, memoryview]:
    """Rooms that will be filled, end to end: on large pages where the system has some, which it gives in a fifth of the
    time. Only on those that are half filled, so that hardly more memory is taken, and only on a few: on the
    virtual machine where it was measured many of them took four times as long as small pages."""
    sizes = {name: -(-count * calcsize(kind) // _BORDER) * _BORDER for name, (count, kind) in wanted.items()}
    large = (sum(sizes.values()) + _LARGE_PAGE // 2) // _LARGE_PAGE * _LARGE_PAGE
    if not 0 < large <= _FEW_PAGES * _LARGE_PAGE:
        return {name: room_for(count, kind) for name, (count, kind) in wanted.items()}
    whole = mmap.mmap(-1, large + _LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a system without them
            whole.madvise(mmap.MADV_HUGEPAGE, 0, large)
    begins = accumulate(sizes.values(), initial=0)
    return {
        name: seen_as(memoryview(whole)[begin : begin + count * calcsize(kind)], kind)
        for begin, (name, (count, kind)) in zip(begins, wanted.items(), strict=False)
    }


def packed(values: Iterable[float], kind: Kind) -> memoryview:
    """Values in memory of their own."""
    listed = [*values]
    return seen_as(bytearray(pack(f"{len(listed)}{kind}", *listed)), kind)


def seen_as(memory: bytearray | mmap.mmap | memoryview, kind: Kind) -> memoryview:
    """All of some memory as values."""
    view: Any = memoryview(memory).cast(kind)
    found: memoryview = view
    return found


def as_bytes(values: Values) -> memoryview:
    """The same memory, byte by byte."""
    return values.cast("B") if isinstance(values, memoryview) else np.ascontiguousarray(values).view(np.uint8).data


def laid_end_to_end(values: Values, kind: Kind) -> Values:
    """As the kernel wants values of that kind, whoever made them."""
    return values if isinstance(values, memoryview) else np.ascontiguousarray(values, kind)


def as_array(values: Values) -> Any:
    """The same memory, as numpy sees it."""
    return np.asarray(values)


class HeldArrays:
    """Values by the names that a class annotates: ``held`` as they were given, else None; as attributes the arrays of
    them, made when somebody looks."""

    def __init__(self, *values: Any, **named: Any) -> None:
        names = type(self).__annotations__
        self.held: Mapping[str, Any] = dict.fromkeys(names) | dict(zip(names, values, strict=False)) | named

    def __getattr__(self, name: str) -> Any:
        if name == "held" or name not in self.held:
            raise AttributeError(name)
        value = self.held[name]
        found = as_array(value) if isinstance(value, memoryview) else value
        setattr(self, name, found)
        return found

    def __getstate__(self) -> dict[str, object]:
        return {"held": {name: getattr(self, name) for name in self.held}}

    def replace(self, **named: Any) -> Self:
        """The same with some other values."""
        return type(self)(**{**self.held, **named})

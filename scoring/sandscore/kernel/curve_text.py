"""A curve as JSON, its rows written from columns: no row becomes an object, and no number one of Python's."""

from collections.abc import Callable, Iterator
from ctypes import CDLL
from typing import Any

import msgspec

from sandscore.base.arrays import Values, laid_end_to_end, room_for
from sandscore.kernel.kernel_library import CURVE_ROW, address

_TOGETHER = 1024


_EMPTY = b'"curve":['


def curve_in_pieces(library: CDLL, record: Any, encoded: Callable[[object], bytes]) -> Iterator[bytes]:
    """What the record is encoded to, its curve written by the kernel."""
    before, opened, after = encoded(record.model_copy(update={"curve": []})).partition(_EMPTY)
    yield before + opened
    yield from rows_as_json(library, record.curve.columns)
    yield after


def rows_as_json(library: CDLL, columns: tuple[Values, ...]) -> Iterator[bytes]:
    """What the encoder writes between the brackets of a list of rows; it does where the kernel knows not how."""
    room = room_for(_TOGETHER * CURVE_ROW, "B")
    flat, before = [laid_end_to_end(column, "d") for column in columns], b""
    for first in range(0, len(flat[0]), _TOGETHER):
        some = [column[first : first + _TOGETHER] for column in flat]
        used = library.write_curve(*map(address, some), len(some[0]), address(room))
        yield before + (room[: used - 1] if used > 0 else _encoded(some))
        before = b","


def _encoded(columns: list[Values]) -> bytes:
    return msgspec.json.encode([*zip(*(column.tolist() for column in columns), strict=True)])[1:-1]

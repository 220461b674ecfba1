"""A curve as JSON, its rows written from columns: no row becomes an object, and no number one of Python's."""

from collections.abc import Iterator

import msgspec

from sandscore.base.arrays import Values, laid_end_to_end, room_for
from sandscore.kernel.kernel_library import CURVE_ROW, address, kernel

_TOGETHER = 1024


def curve_as_json(columns: tuple[Values, ...]) -> msgspec.Raw:
    """As the encoder writes a list of rows; it writes those that have numbers the kernel does not."""
    return msgspec.Raw(b"[" + b",".join(_written([laid_end_to_end(column, "d") for column in columns])) + b"]")


def _written(columns: list[Values]) -> Iterator[bytes]:
    library, room = kernel(), room_for(_TOGETHER * CURVE_ROW, "B")
    for first in range(0, len(columns[0]), _TOGETHER):
        some = [column[first : first + _TOGETHER] for column in columns]
        used = library.write_curve(*map(address, some), len(some[0]), address(room)) if library else -1
        yield bytes(room[: used - 1]) if used > 0 else _encoded(some)


def _encoded(columns: list[Values]) -> bytes:
    return msgspec.json.encode([*zip(*(column.tolist() for column in columns), strict=True)])[1:-1]

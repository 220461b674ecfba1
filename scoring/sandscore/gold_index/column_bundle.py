"""A bundle of columns: a head and named arrays in one file, checked whole when it is opened, used where it is mapped.

A preamble (magic, sizes, SHA-256 of the head), the head as JSON, then the arrays, each on a border of 64 bytes and the
end of all on that of a page. The head has a digest of each array: sums of its 64-bit words by row and by column of a
table, hashed. One flipped bit changes two sums for certain, pages that changed places change many, and summing takes a
twentieth of the time of hashing every byte.
"""

import struct
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.base.column_files import forget
from sandscore.base.removable_rooms import compiled

MAGIC = b"sandcol1"
_PREAMBLE = struct.Struct("<8sQQ32s")
_BORDER, _PAGE = 64, 4096
_COLUMNS, _ROWS = 509, 257
"""Of the table that is summed: primes, so that a page that went elsewhere meets other sums."""
_KINDS = ("<i4", "<i8", "<f8", "<u4", "|u1", "|b1")

Head = TypeVar("Head", bound=Struct)


class DamagedBundle(ValueError):
    """Bytes that are no whole bundle, or not as they were written."""


class _Place(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    kind: str
    count: int
    digest: str


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    head: msgspec.Raw
    arrays: tuple[_Place, ...]


class Bundle(Struct, Generic[Head], frozen=True):
    """What a bundle holds, and how many bytes it takes; arrays are read-only."""

    head: Head
    arrays: dict[str, NDArray[Any]]
    size: int


def pieces(head: Struct, arrays: Mapping[str, NDArray[Any]]) -> Iterator[bytes | memoryview]:
    """The bytes of a bundle, array by array."""
    flat = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    places = tuple(_Place(name, array.dtype.str, len(array), digest(array)) for name, array in flat.items())
    if odd := [place.kind for place in places if place.kind not in _KINDS]:
        raise ValueError(f"a bundle holds no columns of {odd[0]}")
    table = msgspec.json.encode(_Table(msgspec.Raw(msgspec.json.encode(head)), places))
    size = _after(_PREAMBLE.size + len(table)) + sum(_after(array.nbytes) for array in flat.values())
    whole = size + -size % _PAGE
    yield _PREAMBLE.pack(MAGIC, whole, len(table), _seal(whole, table))
    yield table
    yield bytes(_after(_PREAMBLE.size + len(table)) - _PREAMBLE.size - len(table))
    for array in flat.values():
        yield array.view(np.uint8).data
        yield bytes(-array.nbytes % _BORDER)
        forget(array)
    yield bytes(-size % _PAGE)


def size_of(begin: bytes) -> int:
    """How many bytes the bundle takes that begins so."""
    if len(begin) < _PREAMBLE.size or begin[: len(MAGIC)] != MAGIC:
        raise DamagedBundle("it does not begin as one")
    return int(_PREAMBLE.unpack_from(begin)[1])


def read(data: memoryview, kind: type[Head]) -> Bundle[Head]:
    """The bundle at the beginning of these bytes, looked at to the last one; raises DamagedBundle."""
    size = size_of(bytes(data[: _PREAMBLE.size]))
    _, _, length, sealed = _PREAMBLE.unpack_from(data)
    if size > len(data) or length > size - _PREAMBLE.size:
        raise DamagedBundle("it is cut off")
    table = bytes(data[_PREAMBLE.size : _PREAMBLE.size + length])
    if sealed != _seal(size, table):
        raise DamagedBundle("its head is not as it was written")
    try:
        places = msgspec.json.decode(table, type=_Table)
        head = msgspec.json.decode(places.head, type=kind)
    except msgspec.DecodeError:
        raise DamagedBundle("its head is of another kind") from None
    arrays, at = {}, _after(_PREAMBLE.size + length)
    for place in places.arrays:
        array, at = _taken(data, place, at)
        arrays[place.name] = array
    return Bundle(head, arrays, size)


def _taken(data: memoryview, place: _Place, at: int) -> tuple[NDArray[Any], int]:
    taken = place.count * np.dtype(place.kind).itemsize
    array: NDArray[Any] = np.frombuffer(data[at : at + taken], place.kind)
    if digest(array) != place.digest:
        raise DamagedBundle(f"its {place.name} are not as they were written")
    forget(array)
    return array, at + _after(taken)


def digest(array: NDArray[Any]) -> str:
    """Of an array's bytes: another one for whatever chance does to them, but no proof against a forger."""
    octets = array.view(np.uint8)
    words = octets[: len(octets) // 8 * 8].view(np.uint64)
    found, summed = sha256(len(octets).to_bytes(8, "little")), len(words) // _COLUMNS * _COLUMNS
    known = compiled().table_sums(words)
    for sums in _table_sums(words) if known is None else [known]:
        found.update(sums)
    found.update(octets[summed * 8 :].data)
    return found.hexdigest()[:32]


def _table_sums(words: NDArray[np.uint64]) -> Iterator[memoryview]:
    """By column and by row of each table."""
    for first in range(0, len(words), _COLUMNS * _ROWS):
        piece = words[first : first + _COLUMNS * _ROWS]
        table = piece[: len(piece) // _COLUMNS * _COLUMNS].reshape(-1, _COLUMNS)
        yield np.add.reduce(table, axis=0).data
        yield np.add.reduce(table, axis=1).data


def _seal(size: int, table: bytes) -> bytes:
    return sha256(size.to_bytes(8, "little") + table).digest()


def _after(size: int) -> int:
    return size + -size % _BORDER

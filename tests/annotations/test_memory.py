"""Memory in small pages is memory like any other."""

import numpy as np
import pytest

from sandscore.base.arrays import Kind, room_for, rooms_for
from sandscore.base.column_files import Spool, forget


@pytest.mark.parametrize("size", [0, 1, 100, 1 << 20])
def test_values_stay(size: int) -> None:
    """Only what a file holds can be given back and read again."""
    values = room_for(size, "q")
    np.asarray(values)[:] = np.arange(size)
    forget(values)
    forget(values[: size // 2])
    np.testing.assert_array_equal(values, np.arange(size))


def test_what_a_file_holds_is_read_again() -> None:
    spool = Spool()
    spool.append(np.arange(5000))
    column = spool.column("q")
    forget(column[10:])
    np.testing.assert_array_equal(column, np.arange(5000))


@pytest.mark.parametrize("count", [0, 1, 1000, 1 << 18, (1 << 20) + 3, (1 << 21) + 3])
def test_rooms_end_to_end_are_apart(count: int) -> None:
    """None writes into another, however large they are together."""
    wanted: dict[str, tuple[int, Kind]] = {"first": (count, "i"), "second": (count, "d"), "third": (3, "B")}
    rooms = rooms_for(wanted)
    assert {name: (len(room), room.format) for name, room in rooms.items()} == wanted
    for number, room in enumerate(rooms.values(), 1):
        assert not np.asarray(room).any()
        np.asarray(room)[:] = number
    for number, room in enumerate(rooms.values(), 1):
        assert (np.asarray(room) == number).all()

"""Memory in small pages is memory like any other."""

import numpy as np
import pytest

from sandscore.base.arrays import room_for
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

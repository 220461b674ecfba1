"""Memory in small pages is memory like any other."""

import numpy as np
import pytest

from sandscore.base.column_files import Spool, forget, small_pages


@pytest.mark.parametrize("size", [0, 1, 100, 1 << 20])
def test_values_stay(size: int) -> None:
    """Only what a file holds can be given back and read again."""
    values = small_pages(size, np.int64)
    values[:] = np.arange(size)
    forget(values)
    forget(values[: size // 2])
    np.testing.assert_array_equal(values, np.arange(size))


def test_what_a_file_holds_is_read_again() -> None:
    spool = Spool()
    spool.append(np.arange(5000))
    column = spool.column(np.int64)
    forget(column[10:])
    np.testing.assert_array_equal(column, np.arange(5000))

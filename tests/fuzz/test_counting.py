"""The kernel counts what the columns say, and within its rooms; ``make fuzz`` runs many more cases."""

from pathlib import Path

import pytest
from fuzz.counting import compare, compared, sanitized

SETS, NOTES = 40, 50


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sanitized(tmp_path_factory.mktemp("sanitized"))


@pytest.mark.parametrize("first", [0, 5000])
def test_as_on_columns(first: int) -> None:
    assert sum(map(compare, range(first, first + SETS))) == SETS * NOTES


def test_within_its_rooms(library: Path) -> None:
    assert compared(library, 9000, SETS) == SETS * NOTES


def test_too_small_a_room_is_noticed(library: Path) -> None:
    """Else nothing here could fail."""
    with pytest.raises(AssertionError, match="heap-buffer-overflow"):
        compared(library, 9000, 2, part=2)

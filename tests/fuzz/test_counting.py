"""The kernel counts what the columns say, and within its rooms; ``make fuzz`` runs many more cases."""

from pathlib import Path

import pytest
from fuzz.counting import compare, compared, sanitized
from fuzz.tab_files import compare as compare_files

SETS, NOTES, FILES = 40, 50, 200
TAB = "fuzz.tab_files"


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


def test_files_of_the_benchmark_as_decoded() -> None:
    """Nearly all right ones are taken, one of each four pairs, and some of those with a mistake."""
    assert sum(map(compare_files, range(FILES))) > FILES


def test_files_of_the_benchmark_within_rooms(library: Path) -> None:
    assert compared(library, FILES, FILES, module=TAB) > FILES
    with pytest.raises(AssertionError, match="heap-buffer-overflow"):
        compared(library, 0, FILES, part=2, module=TAB)

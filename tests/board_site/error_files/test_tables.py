"""A table opens in a spreadsheet without running anything, and gives back what went in."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spreadsheet_cells import armed

from sandscore.base.terminal_text import disarmed
from sandscore.site.error_files.error_file_writer import COLUMNS, table
from sandscore.site.error_files.error_report import ErrorRow


def row(text: str) -> ErrorRow:
    return ErrorRow("FP", "O", text, text, text, text, text, 0, 1)


@pytest.mark.parametrize("text", ["=1+1", "+1 555", "-7", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1"])
def test_no_cell_starts_like_a_formula(text: str) -> None:
    line = list(csv.reader(io.StringIO(table([row(text)]), newline="")))[1]
    assert line[2] == f"'{text}"


@pytest.mark.parametrize("text", ["w-9", "a=b", "'quoted'", "", "O'Neil"])
def test_harmless_cells_stay_as_they_are(text: str) -> None:
    assert disarmed(text) == text


@given(st.text())
def test_every_cell_comes_back(text: str) -> None:
    assert armed(disarmed(text)) == text


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), unique=True))
def test_quotes_line_breaks_and_commas_stay_in_their_cell(texts: list[str]) -> None:
    read = list(csv.DictReader(io.StringIO(table(map(row, texts)), newline="")))
    assert [armed(line["full_text"]) for line in read] == texts


def test_no_errors_leave_the_header() -> None:
    assert table([]) == ("error_type,annotation,prediction,token,full_text,sample_id,explanation,start,end\n")
    assert len(COLUMNS) == 9


def test_a_repeated_row_is_written_once() -> None:
    assert table([row("a"), row("a")]).count("\n") == 2

"""Error rows as CSV that is safe to open in a spreadsheet.

A cell that a spreadsheet would run as a formula gets an apostrophe in front, which makes it text; a cell
that already starts with apostrophes before such a character gets one more, so that taking one away always
gives the original back. Quotes, line breaks and separators are quoted as RFC 4180 has it.
"""

import csv
import io
from collections.abc import Iterable, Sequence

from msgspec.structs import astuple, fields

from sandscore.base.terminal_text import disarmed
from sandscore.site.error_files.error_report import ErrorRow

COLUMNS = tuple(field.name for field in fields(ErrorRow))


def table(rows: Iterable[ErrorRow]) -> str:
    """A header and one line a row, repeated rows once; kinds are written as Presidio's pipeline writes them."""
    lines = [_line(COLUMNS)]
    for row in dict.fromkeys(rows):
        kind, *others = astuple(row)
        lines.append(_line([f"ErrorType.{kind}", *_cells(others)]))
    return "".join(lines)


def _line(cells: Sequence[str | int]) -> str:
    """The writer quotes a carriage return only where it ends its own lines; ours end in a line feed."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow(cells)
    return written.getvalue().removesuffix("\r\n") + "\n"


def _cells(values: Sequence[str | int]) -> list[str | int]:
    return [disarmed(value) if isinstance(value, str) else value for value in values]

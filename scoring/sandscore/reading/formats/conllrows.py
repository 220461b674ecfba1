"""CoNLL columns as rows of token, tag and place, note by note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import NamedTuple
from urllib.parse import unquote

from sandscore.reading.formats.conllwriting import BORDER, NO_NAME
from sandscore.reading.formats.files import read_text, text_lines
from sandscore.records.errors import ParticipantFault

Span = tuple[int, int]


class Row(NamedTuple):
    """One token; ``span`` where the two columns before the tag are numbers."""

    token: str
    tag: str
    span: Span | None


@dataclass(slots=True)
class Part:
    """One note's rows. A sentence begins at each place of ``breaks``; ``where`` is the note's first line."""

    id: str | None
    where: str
    rows: list[Row] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)


def parts_of(paths: Sequence[Path]) -> Iterator[Part]:
    """The notes of the files one after another; a file that says nothing of notes is one."""
    for path in paths:
        part: Part | None = None
        for number, line in text_lines(read_text(path)):
            columns = line.split("\t") if "\t" in line else line.split()
            if columns and columns[0] == BORDER:
                if part:
                    yield part
                part = Part(_identifier(columns), f"{path}, line {number}")
            elif not line.strip():
                if part:
                    part.breaks.append(len(part.rows))
            elif len(columns) < 2 or not columns[0] or not columns[-1]:
                raise ParticipantFault(f"{path}, line {number}: expected columns, first the token, last the tag")
            else:
                part = part or Part(None, f"{path}, line {number}")
                part.rows.append(Row(columns[0], intern(columns[-1]), _span(columns)))
        if part:
            yield part


def _identifier(columns: list[str]) -> str | None:
    named = len(columns) == 4 and columns[1] != NO_NAME and columns[2] == NO_NAME
    if not named:
        return None
    return "" if columns[1] == "%" else unquote(columns[1], errors="replace")


def _span(columns: list[str]) -> Span | None:
    start, end = columns[-3:-1] if len(columns) >= 4 else ("", "")
    if not (start.isdigit() and end.isdigit() and start.isascii() and end.isascii()) or len(start + end) > 24:
        return None
    return int(start), int(end)

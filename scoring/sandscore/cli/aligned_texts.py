"""Two short texts under one another, with what differs between them marked below."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from sandscore.base.terminal_text import padded, printable, width

_SHOWN = 60
"""Characters of each text that are compared."""
_MARK = "^"


def aligned(first: str, second: str) -> tuple[str, str, str]:
    """Both texts on a line each, letters that are equal in the same columns, and a line of marks.

    Characters that would not be seen are written as escapes; what is too long is cut.
    """
    columns = list(_columns(_clipped(first), _clipped(second)))
    above, below, marks = (
        "".join(padded(column[row], max(map(width, column[:2]))) for column in columns) for row in (0, 1, 2)
    )
    return above.rstrip(" "), below.rstrip(" "), marks.rstrip(" ")


def _clipped(text: str) -> list[str]:
    cells = [_seen(character) for character in text[:_SHOWN]]
    return [*cells, "…"] if len(text) > _SHOWN else cells


def _seen(character: str) -> str:
    """A character that can be seen and takes a place of its own."""
    shown = printable(character)
    return shown if width(shown) else character.encode("unicode_escape").decode()


def _columns(first: list[str], second: list[str]) -> Iterator[tuple[str, str, str]]:
    """One of each text, with a mark where they differ; a blank where only the other has one."""
    for kind, begin, end, other_begin, other_end in SequenceMatcher(None, first, second, False).get_opcodes():
        for at in range(max(end - begin, other_end - other_begin)):
            one = first[begin + at] if begin + at < end else ""
            other = second[other_begin + at] if other_begin + at < other_end else ""
            yield one, other, "" if kind == "equal" else _MARK * max(width(one), width(other))

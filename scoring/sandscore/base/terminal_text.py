"""The printer of other people's text: harmless on a terminal, in a spreadsheet, in Markdown and on a page; and tables
whose columns stand under one another whatever they hold."""

import os
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from markupsafe import Markup

UNDEFINED = "–"
_SHORT = 60
_GAP = 2
_NARROWEST = 8
_MARKDOWN = str.maketrans({c: f"\\{c}" for c in "\\|`*_[]<>#~"} | {"\n": " ", "\r": " "})
_FORMULA = r"'*[=+\-@＝＋－＠\t\r\n\0]"
_COMMANDS = r"[^\n\t\x20-\x7e\xa0-\U0010ffff]"
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def printable(text: str) -> str:
    """Text that cannot play tricks on a terminal: control and invisible characters are written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def plain_cell(text: str) -> str:
    """For a cell that may not grow: every character that does not print becomes one that says so."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def plain_lines(data: bytes) -> str:
    """What a program printed, its lines and tabs kept, as text that does nothing to a terminal."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return re.sub(_COMMANDS, "\N{REPLACEMENT CHARACTER}", text)


def one_line(text: object, most: int | None = 200) -> str:
    """Somebody else's name or word in a sentence of ours: short, and without characters that move a cursor."""
    said = str(text)
    return (said if said.isprintable() else ascii(said))[:most]


def cited(word: str) -> str:
    """The same in quotation marks, and short."""
    said = word if len(word) <= _SHORT else f"{word[: _SHORT - 3]}..."
    return f"'{said}'" if said.isprintable() else ascii(said)


def disarmed(cell: str) -> str:
    """A spreadsheet's cell as text, never a formula: with an apostrophe in front where it would be taken for one, and
    with one more where it has some, so that taking one away always gives the original."""
    return f"'{cell}" if re.match(_FORMULA, cell) else cell


def markdown(text: str) -> str:
    """Text in which nothing is markup, on one line."""
    return text.translate(_MARKDOWN)


def on_page(text: str, keep: str = "") -> "Markup":
    """Escaped for HTML; characters that show nothing or turn the line around appear as their code points.

    ``keep`` are such characters that stay themselves, as line breaks do in a note.
    """
    from markupsafe import Markup, escape

    if text.isprintable():
        return escape(text)
    return Markup("").join(_marked(c) if _unseen(c, keep) else escape(c) for c in text)


def in_attribute(text: str) -> str:
    """The same for attributes and titles, where no markup can stand."""
    if text.isprintable():
        return text
    return "".join(f"[{_point(c)}]" if _unseen(c, "") else c for c in text)


def width(text: str) -> int:
    """How many columns of a terminal the text takes: two for wide characters, none for those that combine."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Filled with spaces to so many columns."""
    space = " " * (columns - width(text))
    return space + text if right else text + space


def clipped(text: str, columns: int) -> str:
    """At most so many columns, with an ellipsis where something was cut."""
    if width(text) <= columns:
        return text
    return f"{next(_pieces(text, columns - 1))}…"


def wrapped(text: str, columns: int) -> list[str]:
    """Lines of at most so many columns, broken at spaces where there are any."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if width(longer) <= columns:
            line = longer
            continue
        *cut, rest = _pieces(word, columns)
        lines += [line, *cut] if line else cut
        line = rest
    return [*lines, line]


def hanging(head: str, text: str, limit: int | None) -> str:
    """The text after its head; lines that follow stand under the first."""
    begin = width(head)
    if limit is None or limit - begin < _NARROWEST:
        return head + text
    return head + f"\n{' ' * begin}".join(wrapped(text, limit - begin))


def table(
    rows: Sequence[Sequence[str]], limit: int | None = None, *, keep: Collection[int] = (), right: Collection[int] = ()
) -> list[str]:
    """Lines with the cells of a column under one another.

    Where they would be wider than ``limit`` the widest columns are narrowed, and what no longer fits goes on in the
    next line. ``keep``: columns that are never narrowed; ``right``: columns that stand at their right edge.
    """
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    if limit is not None:
        _narrow(widths, limit - _GAP * (len(widths) - 1), _least(rows[0], widths, keep))
    return [line for row in rows for line in _row(row, widths, right)]


def terminal_width(stream: "TextIO | None" = None) -> int | None:
    """Columns of the terminal that standard output, or another stream, is shown on; None where it is read by no person.

    ``COLUMNS`` says them where it is set, as for other programs.
    """
    stream = stream or sys.stdout
    if not stream.isatty():
        return None
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def _least(heads: Sequence[str], widths: Sequence[int], keep: Collection[int]) -> list[int]:
    """How narrow each column may become: no word of its head is broken."""
    words = (max(map(width, head.split(" "))) for head in heads)
    least = (max(_NARROWEST, word) for word in words)
    return [wide if at in keep else min(wide, most) for at, (wide, most) in enumerate(zip(widths, least, strict=True))]


def _narrow(widths: list[int], room: int, least: Sequence[int]) -> None:
    while sum(widths) > room:
        spare, _, widest = max((min(wide - least[at], 1), wide, at) for at, wide in enumerate(widths))
        if spare < 1:
            return
        widths[widest] -= 1


def _row(row: Sequence[str], widths: Sequence[int], right: Collection[int]) -> Iterator[str]:
    cells = [wrapped(cell, wide) if width(cell) > wide else [cell] for cell, wide in zip(row, widths, strict=True)]
    for number in range(max(map(len, cells))):
        line = (cell[number] if number < len(cell) else "" for cell in cells)
        parts = (
            padded(part, wide, right=at in right) for at, (part, wide) in enumerate(zip(line, widths, strict=True))
        )
        yield (" " * _GAP).join(parts).rstrip(" ")


def _pieces(word: str, columns: int) -> Iterator[str]:
    """A word that is too long, cut where it must be; a mark stays with the letter it stands on."""
    begin = taken = 0
    for at, character in enumerate(word):
        wide = _columns(character)
        if at > begin and taken + wide > columns:
            yield word[begin:at]
            begin, taken = at, 0
        taken += wide
    yield word[begin:]


@cache
def _columns(character: str) -> int:
    import unicodedata

    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _unseen(character: str, keep: str) -> bool:
    import unicodedata

    return character not in keep and unicodedata.category(character) in _UNSEEN


def _marked(character: str) -> "Markup":
    import unicodedata

    from markupsafe import Markup

    name = unicodedata.name(character, "control character").lower()
    return Markup('<span class="odd" title="{}">{}</span>').format(name, _point(character))


def _point(character: str) -> str:
    return f"U+{ord(character):04X}"

"""A value of the library as a small table: for a terminal of 80 columns, and for a notebook.

A page of HTML that is shown inside somebody's notebook: no script, no colour of its own (so that it can be read on a
dark ground too), and whatever came from a file is escaped. Bars show an interval and what it is about.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.base.terminal_text import UNDEFINED, clipped, on_page, printable, table, wrapped

if TYPE_CHECKING:
    from markupsafe import Markup

COLUMNS = 80
SHOWN_ROWS = 20
"""Of a long value, the first."""
_LONGEST_CELL = 28
_BAR_WIDTH, _BAR_HEIGHT = 120, 12


class IntervalBar(Struct, frozen=True):
    """An interval around a value, on a scale from ``least`` to 1."""

    value: float | None
    interval: tuple[float, float] | None
    least: int = 0

    def place(self, number: float) -> float:
        """Where a number stands, in pixels."""
        return round((number - self.least) / (1 - self.least) * _BAR_WIDTH, 2)


class ValueView(Struct, frozen=True):
    """A title, rows under their heads (the first ``texts`` columns hold words, the others numbers), and remarks."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    bars: Sequence[IntervalBar] = ()
    remarks: Sequence[str] = ()
    texts: int = 1


def as_text(view: ValueView) -> str:
    """At most 80 columns, whatever the value holds."""
    lines = wrapped(printable(view.title), COLUMNS)
    if view.rows:
        cells = [tuple(clipped(printable(cell), _LONGEST_CELL) for cell in row) for row in (view.heads, *view.rows)]
        lines += table(cells, COLUMNS, right=range(view.texts, len(view.heads)))
    for remark in view.remarks:
        lines += wrapped(printable(remark), COLUMNS)
    return "\n".join(lines)


def as_html(view: ValueView) -> str:
    """A fragment of HTML."""
    from markupsafe import Markup

    heads = [*view.heads, ""] if view.bars else [*view.heads]
    head = Markup("").join(_cell(text, "th", at >= view.texts) for at, text in enumerate(heads))
    body = Markup("").join(
        Markup("<tr>{}{}</tr>").format(
            Markup("").join(_cell(text, "td", at >= view.texts) for at, text in enumerate(row)),
            Markup("<td>{}</td>").format(_bar(view.bars[number])) if view.bars else "",
        )
        for number, row in enumerate(view.rows)
    )
    rows = Markup("<thead><tr>{}</tr></thead><tbody>{}</tbody>").format(head, body) if view.rows else ""
    said = Markup("").join(Markup("<p>{}</p>").format(on_page(remark)) for remark in view.remarks)
    caption = Markup('<caption style="text-align:left">{}</caption>').format(on_page(view.title))
    return str(Markup("<div><table>{}{}</table>{}</div>").format(caption, rows, said))


def ratio_text(value: float | None) -> str:
    """Three digits; a dash where the ratio is not defined."""
    return UNDEFINED if value is None else f"{value:.3f}"


def count_text(value: int | None) -> str:
    return UNDEFINED if value is None else f"{value:,}"


def interval_text(interval: tuple[float, float] | None, sign: str = "") -> str:
    return UNDEFINED if interval is None else f"{interval[0]:{sign}.3f} to {interval[1]:{sign}.3f}"


def _cell(text: str, tag: str, number: bool) -> "Markup":
    from markupsafe import Markup

    side = "right" if number else "left"
    return Markup('<{} style="text-align:{}">{}</{}>').format(tag, side, on_page(text), tag)


def _bar(bar: IntervalBar) -> "Markup | str":
    """A line over the interval and a stroke at the value, in the colour of the text around them."""
    from markupsafe import Markup

    middle = _BAR_HEIGHT / 2
    lines: list[tuple[float, ...]] = [(0, middle, _BAR_WIDTH, middle, 0.5, 0.3)]
    if bar.least < 0:
        lines.append((bar.place(0), 0, bar.place(0), _BAR_HEIGHT, 0.5, 0.6))
    if bar.interval is not None:
        lines.append((bar.place(bar.interval[0]), middle, bar.place(bar.interval[1]), middle, 3, 0.7))
    if bar.value is not None:
        lines.append((bar.place(bar.value), 1, bar.place(bar.value), _BAR_HEIGHT - 1, 2, 1))
    drawn = Markup("").join(
        Markup('<line x1="{}" y1="{}" x2="{}" y2="{}" stroke-width="{}" stroke-opacity="{}"/>').format(*line)
        for line in lines
    )
    said = interval_text(bar.interval)
    return Markup('<svg width="{}" height="{}" stroke="currentColor" role="img" aria-label="{}">{}</svg>').format(
        _BAR_WIDTH, _BAR_HEIGHT, f"{ratio_text(bar.value)}, 95 % interval {said}", drawn
    )

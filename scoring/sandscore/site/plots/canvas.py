"""A figure measured in pixels from its upper left corner, and the words that stand in it.

The library never sees a name: the figure holds keys in the place of words, and the words are put in when the figure
is written down. So no name is taken for mathematics, and none asks for a letter that a font lacks.
"""

import unicodedata
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from sandscore.base.terminal_text import in_attribute
from sandscore.site.plots import palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ft2font import FT2Font

DOTS = 72
SIZE = 12.5
_ELLIPSIS = "…"


class PlotForm(Struct, frozen=True):
    """A width that a plot is drawn in; ``label`` is the room for a row's name."""

    name: str
    width: int
    label: int


WIDE = PlotForm("wide", 736, 200)
NARROW = PlotForm("narrow", 343, 104)
SMALL = PlotForm("small", 343, 84)


class Canvas:
    """A figure of so many pixels, before another that is the same for many where there is one."""

    def __init__(self, width: float, height: float, backdrop: "Canvas | None" = None) -> None:
        from matplotlib.figure import Figure

        self.width, self.height, self.backdrop = width, height, backdrop
        self.figure: Figure = Figure(figsize=(width / DOTS, height / DOTS), dpi=DOTS, frameon=False)
        self.words: dict[str, str] = {}

    def key(self, words: str) -> str:
        """What stands for these words until the figure is written down."""
        key = f"word {len(self.words)}"
        self.words[key] = in_attribute(words)
        return key

    def write(self, x: float, y: float, words: str, **how: Any) -> None:
        """Words at this pixel, halfway up; they begin there where ``ha`` does not say otherwise."""
        style = {"ha": "left", "va": "center", "size": SIZE, "color": palette.INK, **how}
        self.figure.text(x / self.width, 1 - (y + 1) / self.height, self.key(words), **style)

    def name(self, x: float, y: float, name: str, room: float, size: float = SIZE) -> None:
        """As much of a name as there is room for; who points at it reads the rest."""
        short = fitted(name, room, size)
        self.write(x, y, short, size=size, url=None if short == in_attribute(name) else self.key(name))

    def axes(self, left: float, top: float, width: float, height: float) -> "Axes":
        """Bare axes that take up these pixels: no frame, no marks, labels in soft ink."""
        box = (left / self.width, 1 - (top + height) / self.height, width / self.width, height / self.height)
        made = self.figure.add_axes(box, frameon=False)
        made.tick_params(left=False, bottom=False, pad=5, labelsize=SIZE - 0.5, labelcolor=palette.SOFT)
        made.set_axisbelow(True)
        return made


def ruled(axes: "Axes", axis: Literal["x", "y"], most: int) -> None:
    """Lines across the axes at round values of this axis, at most so many."""
    from matplotlib.ticker import MaxNLocator

    ruler = axes.xaxis if axis == "x" else axes.yaxis
    ruler.set_major_locator(MaxNLocator(most))
    ruler.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(True, axis=axis, color=palette.RULE, linewidth=1, clip_on=False)


def fitted(words: str, width: float, size: float = SIZE) -> str:
    """As much of the words as this many pixels hold, by the library's own font, which is a wide one."""
    text = in_attribute(words)
    if _width(text) * size <= width:
        return text
    room = width / size - _width(_ELLIPSIS)
    kept = 0
    while kept < len(text) and (room := room - _advance(text[kept])) >= 0:
        kept += 1
    return text[:kept].rstrip() + _ELLIPSIS


def _width(text: str) -> float:
    return sum(map(_advance, text))


@cache
def _advance(character: str) -> float:
    """In ems; a letter that the font lacks is as wide as it is high."""
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0.0
    if not _font().get_char_index(ord(character)):
        return 1.0
    return _font().load_char(ord(character)).linearHoriAdvance / 65536


@cache
def _font() -> "FT2Font":
    from matplotlib import get_data_path
    from matplotlib.ft2font import FT2Font

    font = FT2Font(f"{get_data_path()}/fonts/ttf/DejaVuSans.ttf")
    font.set_size(1, DOTS)
    return font

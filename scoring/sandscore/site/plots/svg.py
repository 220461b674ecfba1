"""SVG as the plotting library writes it, to SVG as a page wants it.

A figure written down as SVG that a page may hold.

Of what the library writes, the shapes stay. Style attributes, which a page forbids, become plain ones; colours become
variables of the style sheet, so that theme and print work by it alone; letters stay letters, in the page's font; ids
are counted, so that several plots live in one page; keys become the words they stand for. A key where the library
allows a link becomes a title, which a reader sees while pointing there.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from io import StringIO
from xml.parsers import expat

from markupsafe import escape
from msgspec import Struct

from sandscore.site.plots.canvas import Canvas, PlotForm
from sandscore.site.plots.palette import VARIABLES
from sandscore.site.plots.plot_library import as_it_comes

_DECIMALS = re.compile(r"-?\d+\.\d+")
_DROPPED = frozenset({"metadata", "style"})
_SHAPES = frozenset({"path", "use", "rect", "text", "pattern", "clipPath"})
_KEPT = frozenset({"d", "x", "y", "width", "height", "patternUnits"})
_USUAL = frozenset(
    {("stroke-linejoin", "round"), ("stroke-linecap", "butt"), ("stroke-dashoffset", "0"), ("text-anchor", "start")}
)


class Rewriting:
    """One figure: its words by their keys, the beginning of its ids, and what its colours are called."""

    def __init__(self, words: Mapping[str, str], name: str, colours: Mapping[str, str]) -> None:
        self._words, self._name, self._colours = words, name, colours
        self._ids: dict[str, str] = {}
        self._parts: list[str] = []
        self._closing: list[str] = []
        self._unwanted = 0
        self._text: list[str] = []

    def of(self, svg: str) -> str:
        """The content of the outermost element."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.Parse(svg, True)
        return "".join(self._parts).replace("<defs></defs>", "")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._unwanted or tag in _DROPPED:
            self._unwanted += 1
            return
        self._text.clear()
        opening, closing = "", ""
        if tag == "a":
            hint = escape(self._words[attributes["xlink:href"]])
            opening, closing = f"<g><title>{hint}</title>", "</g>"
        elif tag == "defs" or tag in _SHAPES:
            opening, closing = f"<{tag}{''.join(self._plain(attributes))}>", f"</{tag}>"
        self._parts.append(opening)
        self._closing.append(closing)

    def _end(self, tag: str) -> None:
        if self._unwanted:
            self._unwanted -= 1
            return
        if tag == "text":
            said = "".join(self._text)
            self._parts.append(escape(self._words.get(said, said)))
        self._parts.append(self._closing.pop())

    def _plain(self, attributes: Mapping[str, str]) -> Iterator[str]:
        for name, value in attributes.items():
            if name == "style":
                yield from self._styled(value)
            elif name == "id":
                yield f' id="{self._id(value)}"'
            elif name == "xlink:href":
                yield f' href="#{self._id(value[1:])}"'
            elif name in _KEPT:
                yield f' {name}="{_rounded(value)}"'
            elif name in ("fill", "stroke"):
                yield f' {name}="{self._colours.get(value, value)}"'

    def _styled(self, style: str) -> Iterator[str]:
        for declaration in style.split("; "):
            name, _, value = declaration.partition(": ")
            if value.startswith("url("):
                value = f"url(#{self._id(value[5:-1])})"
            elif name in ("fill", "stroke"):
                value = self._colours.get(value, value)
            elif name == "font-size":
                value = value.removesuffix("px")
            if name != "font-family" and (name, value) not in _USUAL:
                yield f' {name}="{_rounded(value)}"'

    def _id(self, given: str) -> str:
        return self._ids.setdefault(given, f"{self._name}-{len(self._ids)}")


def _rounded(value: str) -> str:
    """Numbers to hundredths of a pixel, where no machine differs from another."""
    return _DECIMALS.sub(_hundredths, value.replace("\n", " ").strip())


def _hundredths(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0:g}"


_BY_VARIABLE = {colour: f"var(--{variable})" for colour, variable in VARIABLES.items()}


class Plot(Struct, frozen=True):
    """Markup for a template to put in as it is."""

    markup: str

    def __html__(self) -> str:
        return self.markup


def plot(draw: Callable[[PlotForm], Canvas], name: str, label: str, *forms: PlotForm) -> Plot:
    """The plot in each form; the style sheet shows the one that fits. ``name`` begins its ids, ``label`` says to
    those who do not see it what there is to see."""
    with as_it_comes():
        return Plot("\n".join(_element(draw(form), form.name, f"{name}-{form.name}", label) for form in forms))


def document(draw: Callable[[], Canvas], label: str) -> str:
    """A file of its own, in the colours of the day on white."""
    with as_it_comes():
        canvas = draw()
        inside = written(canvas, "plot", {})
    opening = '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" stroke-linejoin="round"'
    paper = f'<rect width="{canvas.width:g}" height="{canvas.height:g}" fill="#ffffff"/>'
    return f'{opening} {_box(canvas)} role="img" aria-label="{escape(label)}">\n{paper}\n{inside}\n</svg>\n'


def written(canvas: Canvas, name: str, colours: Mapping[str, str]) -> str:
    """What is in the figure, without the element around it; ``colours`` names those that go by another name here."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = StringIO()
    FigureCanvasSVG(canvas.figure).print_svg(out)
    return Rewriting(canvas.words, name, colours).of(out.getvalue())


def _element(canvas: Canvas, form: str, name: str, label: str) -> str:
    opening = f'<svg class="plot {form}" {_box(canvas)} role="img" aria-label="{escape(label)}">'
    behind = _backdrop(canvas.backdrop, f"{name}-behind") if canvas.backdrop else ""
    return opening + behind + written(canvas, name, _BY_VARIABLE) + "</svg>"


@cache
def _backdrop(canvas: Canvas, name: str) -> str:
    return written(canvas, name, _BY_VARIABLE)


def _box(canvas: Canvas) -> str:
    return f'width="{canvas.width:g}" height="{canvas.height:g}" viewBox="0 0 {canvas.width:g} {canvas.height:g}"'

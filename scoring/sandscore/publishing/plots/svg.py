"""A figure written down as SVG that a page may hold.

Of what the library writes, the shapes stay. Style attributes, which a page forbids, become plain ones; colours become
variables of the style sheet, so that theme and print work by it alone; letters stay letters, in the page's font; ids
are counted, so that several plots live in one page; keys become the words they stand for. A key where the library
allows a link becomes a title, which a reader sees while pointing there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from io import StringIO

from markupsafe import escape

from sandscore.publishing.plots.canvas import Canvas, Form
from sandscore.publishing.plots.library import as_it_comes
from sandscore.publishing.plots.palette import VARIABLES
from sandscore.publishing.plots.rewriting import Rewriting

_BY_VARIABLE = {colour: f"var(--{variable})" for colour, variable in VARIABLES.items()}


@dataclass(frozen=True, slots=True)
class Plot:
    """Markup for a template to put in as it is."""

    markup: str

    def __html__(self) -> str:
        return self.markup


def plot(draw: Callable[[Form], Canvas], name: str, label: str, *forms: Form) -> Plot:
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

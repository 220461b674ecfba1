"""The plot of lost points: how many errors there are of each kind."""

from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from sandscore.records.scorecard import ErrorKinds
from sandscore.site.plots import palette
from sandscore.site.plots.canvas import SMALL, Canvas, PlotForm
from sandscore.site.plots.svg import Plot, plot

_ROW, _VALUE = 24, 52


class ErrorKind(Struct, frozen=True):
    """``key`` names the kind for the style sheet, ``title`` and ``meaning`` for a reader."""

    key: str
    title: str
    meaning: str
    count: int


_KINDS = (
    ("right", "right", "in the right place, and no label contradicts"),
    ("label", "wrong label", "in the right place under another label than gold's"),
    ("boundary", "boundary", "overlaps a gold annotation but begins or ends elsewhere"),
    ("missed", "missed", "in gold, and nothing predicted overlaps it"),
    ("spurious", "spurious", "predicted, and nothing in gold overlaps it"),
)


class ErrorProfile(Struct, frozen=True):
    """What became of the annotations; what is right comes first and is not drawn."""

    kinds: Sequence[ErrorKind]

    @property
    def wrong(self) -> Sequence[ErrorKind]:
        return self.kinds[1:]

    def plot(self, name: str) -> Plot | None:
        """None where there is no error."""
        if not any(kind.count for kind in self.wrong):
            return None
        label = "Errors: " + ", ".join(f"{kind.count} {kind.title}" for kind in self.wrong)
        return plot(lambda form: _drawn(form, self.wrong), name, label, SMALL)


def error_profile(strict_matches: int, errors: ErrorKinds) -> ErrorProfile:
    """Strict matches without those under a wrong label, and the four kinds of error."""
    right = strict_matches - errors.wrong_label
    counts = (right, errors.wrong_label, errors.boundary, errors.missed, errors.spurious)
    return ErrorProfile([ErrorKind(*kind, count) for kind, count in zip(_KINDS, counts, strict=True)])


def _drawn(form: PlotForm, kinds: Sequence[ErrorKind]) -> Canvas:
    """Straight onto the figure: a site has a drawing like this on every page, and axes would be most of the work."""
    from matplotlib.patches import Rectangle

    titles = _titles(form)
    canvas = Canvas(titles.width, titles.height, titles)
    room = form.width - form.label - _VALUE
    most = max(kind.count for kind in kinds)
    for at, kind in enumerate(kinds):
        middle = _ROW * (at + 0.5)
        length = room * kind.count / most
        corner = form.label / canvas.width, 1 - (middle + 8) / canvas.height
        colour = palette.KINDS[kind.key]
        canvas.figure.add_artist(
            Rectangle(corner, length / canvas.width, 16 / canvas.height, facecolor=colour, linewidth=0)
        )
        canvas.write(form.label + length + 6, middle, str(kind.count), weight="bold")
    return canvas


@cache
def _titles(form: PlotForm) -> Canvas:
    wrong = _KINDS[1:]
    canvas = Canvas(form.width, _ROW * len(wrong))
    for at, (_, title, _) in enumerate(wrong):
        canvas.write(form.label - 8, _ROW * (at + 0.5), title, ha="right")
    return canvas

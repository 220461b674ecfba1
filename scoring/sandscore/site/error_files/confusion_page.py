"""The confusion matrix as a page of its own, in the look of the site: a heat map that is a table, and what it says."""

from collections.abc import Sequence

from msgspec import Struct

from sandscore.site import page_templates

MOST_LABELS = 60
"""Labels with a row of their own; the others, which are rarer, share one."""
_LONGEST, _LONGEST_ODD = 40, 12
_SHADES = 5
_NAMED = 5


class Confused(Struct, frozen=True):
    """One cell off the diagonal: so many of ``gold`` were taken for ``predicted``."""

    gold: str
    predicted: str
    count: int


class HeatTable(Struct, frozen=True):
    """Rows gold, columns predicted, ``O`` (nothing there) last."""

    labels: Sequence[str]
    matrix: Sequence[Sequence[int]]

    @property
    def names(self) -> Sequence[str]:
        """Cut where they are too long to read; what does not print takes more room."""
        return [_cut(label) for label in self.labels]

    @property
    def shades(self) -> Sequence[Sequence[int]]:
        """From 0, nothing, to 5, as many as in the fullest cell."""
        most = max((count for row in self.matrix for count in row), default=0)
        return [[-(-_SHADES * count // most) if count else 0 for count in row] for row in self.matrix]

    @property
    def total(self) -> int:
        """Annotations in gold."""
        return sum(map(sum, self.matrix[:-1]))

    @property
    def right(self) -> int:
        return sum(self.matrix[at][at] for at in range(len(self.labels) - 1))

    @property
    def missed(self) -> int:
        return sum(row[-1] for row in self.matrix[:-1])

    @property
    def spurious(self) -> int:
        return sum(self.matrix[-1][:-1])

    @property
    def confused(self) -> Sequence[Confused]:
        """The labels that are taken for another most often."""
        named = range(len(self.labels) - 1)
        found = [Confused(self.names[i], self.names[j], self.matrix[i][j]) for i in named for j in named if i != j]
        return sorted((one for one in found if one.count), key=lambda one: -one.count)[:_NAMED]


def page(labels: Sequence[str], matrix: Sequence[Sequence[int]], counted: str = "annotations") -> str:
    """A self-contained HTML page; nothing in it is fetched from elsewhere. ``counted`` is what its cells count."""
    return page_templates.page("errors.html", heat=heat_table(labels, matrix), counted=counted).decode()


def heat_table(labels: Sequence[str], matrix: Sequence[Sequence[int]]) -> HeatTable:
    """All of it, or the most frequent labels and one row for the others; the last label is nobody's."""
    named = range(len(labels) - 1)
    if len(named) <= MOST_LABELS:
        return HeatTable(labels, matrix)
    often = sorted(named, key=lambda at: -sum(matrix[at]) - sum(row[at] for row in matrix))
    kept, others = sorted(often[:MOST_LABELS]), sorted(often[MOST_LABELS:])
    groups = [*([at] for at in kept), others, [len(named)]]
    summed = [[sum(matrix[i][j] for i in rows for j in columns) for columns in groups] for rows in groups]
    return HeatTable([*(labels[at] for at in kept), f"{len(others)} other labels", labels[-1]], summed)


def _cut(label: str) -> str:
    longest = _LONGEST if label.isprintable() else _LONGEST_ODD
    return label if len(label) <= longest else f"{label[: longest - 1]}…"

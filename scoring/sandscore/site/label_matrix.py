"""The matrix of a board: every submission's F1 on every label, the hardest label first."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from sandscore.records.board import Board
from sandscore.records.counts import Counts
from sandscore.records.totals_card import OTHER
from sandscore.site.board_files import ShownCard
from sandscore.site.submission_page import label_table

MOST_LABELS = 30
FEW = 10
"""Of fewer annotations in gold than this a ratio says little, and is marked."""
_SHADES = 5
Cards = Mapping[str, Mapping[str, ShownCard]]


class LabelColumn(Struct, frozen=True):
    """One label, and how often gold has it."""

    label: str
    gold: int

    @property
    def few(self) -> bool:
        return self.gold < FEW


class LabelMatrix(Struct, frozen=True):
    """``cells`` by submission, in the columns' order; None where a submission has no counts of a label."""

    measure: str
    columns: Sequence[LabelColumn]
    cells: Mapping[str, Sequence[Counts | None]]
    left_out: int

    @property
    def said(self) -> str:
        """What the numbers are, and which of them say little."""
        said = (
            f"F1 of each submission on each label, counted by {self.measure}. The label with the most trouble for all "
            "of them comes first."
        )
        ring = f" A ring (°) marks a label that gold has fewer than {FEW} times: its numbers say little."
        return said + (ring if any(column.few for column in self.columns) else "")

    @property
    def limits(self) -> str | None:
        """How many labels are not shown."""
        if not self.left_out:
            return None
        many = "1 easier label is" if self.left_out == 1 else f"{self.left_out} easier labels are"
        return f"{many} left out; each submission’s page has its own."

    @staticmethod
    def shade(counts: Counts) -> int:
        """From 0 where little is right to 4 where nearly everything is."""
        return min(_SHADES - 1, int(_SHADES * (counts.f1 or 0.0)))


def label_matrix(board: Board, cards: Cards) -> LabelMatrix | None:
    """None where no card that is shown counts labels. A label counts that gold has; other people's are no column."""
    tables = {
        submission: [label_table(card.facts.per_label, board.headline) for card in of.values()]
        for submission, of in cards.items()
    }
    known = [table for several in tables.values() for table in several if table is not None]
    if not known:
        return None
    measure = known[0].measure
    counted: dict[str, dict[str, Counts]] = {}
    for submission, several in tables.items():
        own = counted.setdefault(submission, {})
        for table in several:
            for row in table.rows if table is not None and table.measure == measure else ():
                own[row.label] = own.get(row.label, Counts()) + row.counts
    labels = _hardest_first([*counted.values()])
    shown = labels[:MOST_LABELS]
    cells = {submission: [own.get(column.label) for column in shown] for submission, own in counted.items()}
    return LabelMatrix(measure, shown, cells, len(labels) - len(shown)) if shown else None


def _hardest_first(counted: Sequence[Mapping[str, Counts]]) -> list[LabelColumn]:
    names = dict.fromkeys(label for own in counted for label in own if label != OTHER)
    columns, hardness = list[LabelColumn](), dict[str, tuple[float, str]]()
    for name in names:
        found = [own[name] for own in counted if name in own]
        gold = max(one.tp + one.fn for one in found)
        if gold:
            columns.append(LabelColumn(name, gold))
            hardness[name] = (sum(found, Counts()).f1 or 0.0, name)
    return sorted(columns, key=lambda column: hardness[column.label])

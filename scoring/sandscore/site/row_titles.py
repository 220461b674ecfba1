"""The names of rows as a reader meets them: what the submission is called, else its team, else its id.

A label says the same on one line, and is told from every other label of its board.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from sandscore.records.board import Row


class RowTitle(Struct, frozen=True):
    """``lead`` is what stands first; ``team`` and ``submission`` follow where they are not said yet."""

    lead: str
    team: str | None
    submission: str | None
    label: str


def row_titles(rows: Iterable[Row]) -> Mapping[str, RowTitle]:
    """By submission."""
    given = list(rows)
    labels = {row.submission: _label(row) for row in given}
    often = Counter(labels.values())
    titles = {}
    for row in given:
        lead, label = _lead(row), labels[row.submission]
        if often[label] > 1:
            label = f"{label} · {row.submission}"
        titles[row.submission] = RowTitle(
            lead,
            row.team if row.team and row.team != lead else None,
            row.submission if row.submission != lead else None,
            label,
        )
    return titles


def teams_among(rows: Iterable[Row]) -> int:
    """How many teams; a submission without one stands for itself."""
    return len({("team", row.team) if row.team else ("submission", row.submission) for row in rows})


def _lead(row: Row) -> str:
    return row.name or row.team or row.submission


def _label(row: Row) -> str:
    """A name that anybody may choose never stands for a team alone."""
    if row.name and row.team and row.name != row.team:
        return f"{row.name} ({row.team})"
    return _lead(row)

"""The names of measures and tasks for people who know neither: the identifier is there for those who ask."""

from functools import cache

from sandscore.base.errors import UsageFault
from sandscore.measures.measure import Measure
from sandscore.measures.measure_registry import MEASURES
from sandscore.records.board import Board
from sandscore.task_table.own_tasks import carried_task
from sandscore.task_table.task import TASKS


def plain_measure(name: str) -> str:
    """What a measure compares, in words; its own name where no row of the table has any."""
    row, bare = _row(name), _bare(name)
    said = row.plain.format(label=bare.replace("_", " ")) if row and row.plain else bare
    settings = name.removeprefix(bare)
    return f"{said} {settings}" if settings else said


def finding_of(name: str, find: str, share: str, things: str) -> str | None:
    """What a system does that has this recall; None where the measure's recall is no share of what gold holds."""
    row = _row(name)
    if row is None or not row.finding:
        return None
    return row.finding.format(find=find, share=share, things=things, label=_bare(name).replace("_", " "))


def things_of(board: Board) -> str:
    """What is annotated, many of them: dates, person names."""
    if board.definition is None and board.task not in TASKS:
        return plural(board.task.replace("-", " "))
    return plural(carried_task(board).kind)


def plural(kind: str) -> str:
    """Of an English noun; one that cannot be counted stays."""
    if kind.endswith("information"):
        return kind
    if kind.endswith(("s", "x", "ch", "sh")):
        return f"{kind}es"
    if kind.endswith("y") and not kind.endswith(("ay", "ey", "oy", "uy")):
        return f"{kind[:-1]}ies"
    return f"{kind}s"


def _bare(name: str) -> str:
    return name.partition("(")[0]


@cache
def _row(name: str) -> type[Measure] | None:
    """The row of the table; of a package that is not installed here, none."""
    bare = _bare(name)
    own = {measure for measure in MEASURES.names if measure == bare}
    try:
        return MEASURES.find(bare) if own else None
    except UsageFault:
        return None

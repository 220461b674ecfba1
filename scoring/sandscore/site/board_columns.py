"""The columns of the board's table: what stands in a cell, and what it is sorted by."""

from collections.abc import Callable

from msgspec import Struct

from sandscore.base.terminal_text import UNDEFINED
from sandscore.records.board import AnyMeasure, Board, RatioMeasure, Row
from sandscore.records.carried_run import RunCost
from sandscore.site import page_text
from sandscore.site.board_sentences import BoardSentences
from sandscore.site.plain_names import plain_measure
from sandscore.task_table.own_tasks import carried_task
from sandscore.task_table.task import TASKS

OPEN = 2
"""How many measures beside the headline are shown until a reader asks for more."""


class Cell(Struct, frozen=True):
    """``key`` is what the cell is sorted by where its text does not say."""

    text: str
    key: str | None = None


class Column(Struct, frozen=True):
    """``hint`` explains the heading; a column that is not ``open`` waits in the column chooser. ``falling``: whether it
    is first sorted from the largest."""

    title: str
    hint: str
    cell: Callable[[Row], Cell]
    open: bool = True
    words: bool = False
    falling: bool = True


def columns_of(said: BoardSentences) -> list[Column]:
    """The columns right of the score, without those that no row has a value for."""
    board = said.board
    wanted = [*_headline(said), *_safety(said), *_groups(board), *_others(board), *_certainty(said), *_cost()]
    return [column for column in wanted if any(column.cell(row).text != UNDEFINED for row in board.rows)]


def cost_of(row: Row) -> RunCost:
    """Of the run behind a row, as far as it says."""
    return RunCost() if row.run is None else row.run.cost


def _headline(said: BoardSentences) -> list[Column]:
    name, unit = said.board.headline, said.unit
    return [
        Column("Expected", f"The score to expect on new {unit}, allowing for the choice", _expected),
        Column("Precision", f"{name}: share of what was predicted that is right", _ratio(name, "precision")),
        Column("Recall", f"{name}: share of what gold holds that was found", _ratio(name, "recall")),
        Column("Bound", f"{name}: no more than this on new {unit}, one-sided, 95 %; exact", _bound(name)),
    ]


def _others(board: Board) -> list[Column]:
    """The label measure first; the headline too where the board ranks by an aggregate of several measures.

    What the organiser did not choose to show is put away but for two.
    """
    aggregated = board.config.aggregation != "headline"
    names = dict.fromkeys(name for row in board.rows for name in row.measures if aggregated or name != board.headline)
    label = carried_task(board).label_measure if board.definition or board.task in TASKS else None
    ordered = sorted(names, key=lambda name: name != label)
    chosen = board.config.secondary is not None
    return [
        Column(plain_measure(name), _said(board, name), _shared(name), open=chosen or at < OPEN)
        for at, name in enumerate(ordered)
    ]


def _said(board: Board, name: str) -> str:
    """Which of a measure's scores it is, and which way is better where that is down."""
    measure = next(row.measures[name] for row in board.rows if name in row.measures)
    kind = "F1" if measure.formula is None else measure.formula
    return f"{kind} of {name}{', lower is better' if measure.direction == 'lower' else ''}"


def _safety(said: BoardSentences) -> list[Column]:
    """Sorted by the bound: the fewest patients who may leak first."""

    def cell(row: Row) -> Cell:
        leak = said.leaks.get(row.submission)
        patients = leak.patients if leak else None
        return Cell(patients.short, f"{patients.bound:.9g}") if patients else Cell(UNDEFINED)

    def notes(row: Row) -> Cell:
        leak = said.leaks.get(row.submission)
        share = leak.share if leak else None
        return Cell(page_text.percent(share), None if share is None else f"{share:.9g}")

    unit = said.unit
    hint = f"{unit.title()} of which something slips through, and the upper 95 % bound for {unit} like these; "
    return [
        Column(f"{unit.title()} leaking", f"{hint}lower is better", cell, falling=False),
        Column(
            "Share of notes leaking",
            "Notes with anything to find in which something slips through",
            notes,
            open=False,
            falling=False,
        ),
    ]


def _groups(board: Board) -> list[Column]:
    """The worst slice, and what is lost on perturbed copies: both beside the score, never part of it."""
    slices = "The slice of the data that scores worst by the headline, with an interval that holds for all its slices"
    copies = "Score on this perturbed copy of the notes less that on the notes, with its 95 % interval over patients"
    return [
        *(Column(f"Worst {name}", slices, _worst(name), falling=False) for name in board.config.slices),
        *(Column(f"On {name}", copies, _perturbed(name)) for name in board.config.robustness),
    ]


def _worst(name: str) -> Callable[[Row], Cell]:
    def cell(row: Row) -> Cell:
        told = row.slices.get(name)
        if told is None or told.value is None:
            return Cell(UNDEFINED)
        ends = f", {told.ci[0]:.3f} to {told.ci[1]:.3f}" if told.ci else ""
        return Cell(f"{page_text.ratio(told.value)} ({told.slice}{ends})", f"{told.value:.9g}")

    return cell


def _perturbed(name: str) -> Callable[[Row], Cell]:
    def cell(row: Row) -> Cell:
        told = row.robustness.get(name)
        if told is None or told.difference is None:
            return Cell(UNDEFINED)
        ends = f" ({told.ci[0]:+.3f} to {told.ci[1]:+.3f})" if told.ci else ""
        return Cell(f"{told.difference:+.3f}{ends}", f"{told.difference:.9g}")

    return cell


def _certainty(said: BoardSentences) -> list[Column]:
    def factor(row: Row) -> Cell:
        return Cell(said.floors.k_text(row.k), None if row.k is None else f"{row.k:.6g}")

    def p_value(row: Row) -> Cell:
        return Cell(said.p_of(row), None if row.p_vs_leader is None else f"{row.p_vs_leader:.6g}")

    return [
        Column("K", "DREAM's Bayes factor against the leader: 3 or less is a tie", factor),
        Column(
            "p", "p-value of the difference to the leader, adjusted for the number of pairs", p_value, falling=False
        ),
        Column("P(first)", f"How often this row leads when the {said.unit} are drawn again", _first, open=False),
    ]


def _cost() -> list[Column]:
    return [
        Column("Time", "Wall-clock time of the run", _seconds, falling=False),
        Column("Memory", "Peak memory of the run", _memory, open=False, falling=False),
        Column("Date", "When it was submitted", lambda row: Cell(page_text.day(row.created)), words=True),
    ]


def _ratio(name: str, field: str) -> Callable[[Row], Cell]:
    def cell(row: Row) -> Cell:
        measure: AnyMeasure | None = row.measures.get(name)
        value = getattr(measure, field) if measure else None
        return Cell(page_text.ratio(value))

    return cell


def _bound(name: str) -> Callable[[Row], Cell]:
    """The upper bound of a share of patients; where nothing leaked it is all that can be said."""

    def cell(row: Row) -> Cell:
        measure = row.measures.get(name)
        return Cell(page_text.ratio(measure.bound if isinstance(measure, RatioMeasure) else None))

    return cell


def _shared(name: str) -> Callable[[Row], Cell]:
    """The score, with its bound where it has one."""
    score, bound = _ratio(name, "ranked"), _bound(name)

    def cell(row: Row) -> Cell:
        told, most = score(row).text, bound(row).text
        return Cell(told) if most == UNDEFINED else Cell(f"{told} (at most {most})", told)

    return cell


def _expected(row: Row) -> Cell:
    return Cell(page_text.ratio(row.expected), None if row.expected is None else f"{row.expected:.9g}")


def _first(row: Row) -> Cell:
    return Cell(page_text.percent(row.p_first), None if row.p_first is None else f"{row.p_first:.4f}")


def _seconds(row: Row) -> Cell:
    value = cost_of(row).seconds
    return Cell(page_text.seconds(value), None if value is None else f"{value:g}")


def _memory(row: Row) -> Cell:
    value = cost_of(row).memory_bytes
    return Cell(page_text.memory(value), None if value is None else f"{value:g}")

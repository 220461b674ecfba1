"""The tables of the library's values: what a reader sees first of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sandscore.api import results
from sandscore.base.terminal_text import UNDEFINED
from sandscore.value_views.value_tables import (
    SHOWN_ROWS,
    IntervalBar,
    ValueView,
    count_text,
    interval_text,
    ratio_text,
)

if TYPE_CHECKING:
    from sandscore.api.comparison_results import Comparison
    from sandscore.api.results import MeasureResult, Problems, RankedBoard, Result
    from sandscore.api.running_calls import Run
    from sandscore.records.board import Row


def problems_view(problems: "Problems") -> ValueView:
    """The first, errors before warnings, and how many there are."""
    ordered = sorted(problems, key=lambda problem: problem.severity)[:SHOWN_ROWS]
    rows = [(p.severity, p.code, p.pointer, p.message) for p in ordered]
    left = sum(problems.counts.values()) - len(rows)
    said = ", ".join(f"{code} {count:,}" for code, count in problems.counts.items())
    verdict = "valid" if problems.ok else "not valid"
    title = f"{verdict}{f', with warnings: {said}' if problems.ok and said else f': {said}' if said else ''}"
    more = [*([f"… and {left:,} more"] if left > 0 else []), *problems.remarks]
    more += [f"{one.sentence}{'; fixed() mends it' if one.fixable else ''}" for one in problems.diagnosis]
    return ValueView(title, ("severity", "code", "place", "problem"), rows, remarks=more, texts=4)


def measure_view(measure: "MeasureResult") -> ValueView:
    """One measure of a result."""
    return _view_of(measure.result, [measure.name])


def result_view(result: "Result") -> ValueView:
    """All measures of a result."""
    return _view_of(result, result.measures)


def _view_of(result: "Result", measures: Sequence[str]) -> ValueView:
    """Some of its measures, for people."""
    card = result.card
    quick = result.patients <= results.QUICK_UNITS
    intervals = {name: result[name].interval if quick else None for name in measures}
    rows = [
        (
            name,
            *(count_text(count) for count in (score.tp, score.fp, score.fn)),
            *(ratio_text(ratio) for ratio in (score.precision, score.recall, score.f1)),
            interval_text(intervals[name]),
        )
        for name, score in card.measures.items()
        if name in intervals
    ]
    bars = [IntervalBar(score.ranked, intervals[name]) for name, score in card.measures.items() if name in intervals]
    title = (
        f"{card.submission or card.team or card.task}: task {card.task}, profile {card.profile}, "
        f"{card.notes:,} notes, "
        f"{card.gold_annotations:,} annotations in gold, {card.predicted_annotations:,} predicted"
    )
    said = [*card.warnings, *result.remarks]
    if result.problems:
        counts = ", ".join(f"{code} {count:,}" for code, count in result.problems.counts.items())
        said.append(f"problems of the predictions: {counts}")
    if not quick:
        said.append(f"{result.patients:,} patients: intervals are computed when asked for (result.interval)")
    heads = ("measure", "tp", "fp", "fn", "precision", "recall", "F1", "95 % interval")
    return ValueView(title, heads, rows, bars, said)


def board_view(ranked: "RankedBoard") -> ValueView:
    """The first rows of a board."""
    board = ranked.board
    shown = board.rows[:SHOWN_ROWS]
    scores = [row.measures.get(board.headline) for row in shown]
    intervals = [
        row.chosen_ci or (score.ranked_ci if score else None) for row, score in zip(shown, scores, strict=True)
    ]
    rows = [
        (
            _place_text(row),
            row.submission,
            row.team or "",
            ratio_text(score.ranked if score else None),
            interval_text(interval),
            ratio_text(row.expected),
        )
        for row, score, interval in zip(shown, scores, intervals, strict=True)
    ]
    bars = [IntervalBar(score.ranked if score else None, span) for score, span in zip(scores, intervals, strict=True)]
    left = len(board.rows) - len(shown)
    said = [*([f"… and {left:,} more"] if left else []), *board.warnings]
    heads = ("rank", "submission", "team", "F1", "95 % interval", "expected")
    title = f"task {board.task}, ranked by {board.headline}, {board.units:,} units"
    return ValueView(title, heads, rows, bars, said, texts=3)


def _place_text(row: "Row") -> str:
    rank = UNDEFINED if row.rank is None else f"{row.rank:g}"
    return (
        rank if row.rank_set is None or row.rank_set[0] == row.rank_set[1] else "{} ({}–{})".format(rank, *row.rank_set)
    )


def run_view(run: "Run") -> ValueView:
    """How a run ended, and how much it answered."""
    record = run.record
    seconds = record.seconds.total
    title = f"task {record.task}: {record.outcome.value}, {record.notes:,} notes"
    title += "" if seconds is None else f", {seconds:.1f} seconds"
    size = "no predictions" if run.predictions is None else f"{len(run.predictions):,} bytes of predictions"
    return ValueView(title, (), [], remarks=[size, *([record.reason] if record.reason else []), *record.warnings])


def comparison_view(found: "Comparison") -> ValueView:
    """How far apart two cards are, and where."""
    ahead = UNDEFINED if found.difference is None else f"{found.difference:+.3f}"
    p = UNDEFINED if found.p is None else f"{found.p:.2g}"
    row = (found.measure, *map(ratio_text, found.f1), ahead, interval_text(found.interval, "+"), p)
    said = [f"{len(found.notes):,} of {found.cards[0].notes:,} notes differ; {found.patients:,} patients"]
    said += found.sentences
    for word, changes in (("gains", found.gains), ("losses", found.losses)):
        named = "; ".join(f"{c.label} {-c.fewer_errors:+,} errors" for c in changes[:SHOWN_ROWS])
        said += [f"{word} by label: {named}"] if named else []
    names = [card.submission or card.team or word for card, word in zip(found.cards, "ab", strict=True)]
    what = "F1" if getattr(found.cards[0].measures[found.measure], "formula", None) is None else "score"
    heads = ("measure", f"{what} of a", f"{what} of b", "b - a", "95 % interval", "p")
    bars = [IntervalBar(found.difference, found.interval, least=-1)]
    return ValueView(f"a: {names[0]}, b: {names[1]}", heads, [row], bars, said)

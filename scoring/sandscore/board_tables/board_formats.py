"""The board for other programs and for people: CSV, JSON, Markdown, plain text, a pandas DataFrame."""

import io
from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING

from sandscore.base.terminal_text import UNDEFINED, disarmed, markdown, plain_cell, table
from sandscore.ranking.board_exports import as_json, leading_sentence, lower_is_better, score_name
from sandscore.ranking.rank_agreement import band_of
from sandscore.records.board import Board, FormulaMeasure, RatioMeasure, Row

if TYPE_CHECKING:
    import pandas as pd


def records(board: Board) -> list[dict[str, object]]:
    """One flat dict a row, the same keys in each; undefined values are None."""
    names = list(dict.fromkeys(name for row in board.rows for name in row.measures))
    own = any(row.score is not None for row in board.rows)
    flat = [_record(row, names, None if own else board.headline) for row in board.rows]
    keys = dict.fromkeys(key for one in sorted(flat, key=len, reverse=True) for key in one)
    return [{key: one.get(key) for key in keys} for one in flat]


def frame(board: Board) -> "pd.DataFrame":
    """The rows as a pandas DataFrame."""
    import pandas as pd

    return pd.DataFrame(records(board))


def as_csv(board: Board) -> str:
    """One line a row; a name that a spreadsheet would take for a formula gets an apostrophe before it."""
    import csv

    flat = records(board)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(flat[0]) if flat else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {key: disarmed(value) if isinstance(value, str) else value for key, value in record.items()} for record in flat
    )
    return out.getvalue()


def as_markdown(board: Board) -> str:
    lines = [f"## {board.task}{f', {board.phase}' if board.phase else ''}: {markdown(board.headline)}", ""]
    if said := leading_sentence(board):
        lines += [f"{markdown(said)}.", ""]
    heads = "".join(f" {markdown(name)} |" for name in _group_names(board))
    lines += [
        f"| rank | rank set | group | team | submission | {_head(board)} | expected | precision | recall | K |{heads}"
    ]
    lines += [f"|---:|---:|---:|---|---|---|---:|---:|---:|---:|{'---|' * len(_group_names(board))}"]
    for row in board.rows:
        cells = [_rank(row), _set(row), str(row.group or UNDEFINED), markdown(row.team or ""), markdown(row.submission)]
        groups = map(markdown, _group_cells(row, board))
        lines.append("| " + " | ".join([*cells, *_scores(row, board), _k(row), *groups]) + " |")
    lines += ["", *(f"- {markdown(warning)}" for warning in board.warnings), f"- {markdown(provenance(board))}"]
    return "\n".join(lines) + "\n"


_WIDE = 100
"""Columns of a terminal from which on every score is shown."""


def as_text(board: Board, limit: int | None = None) -> str:
    """A table for a terminal of so many columns; a narrow one has no room for precision, recall, slices and copies."""
    narrow = limit is not None and limit < _WIDE
    parts = slice(2) if narrow else slice(None)
    scores = (_head(board), "expected", "precision", "recall")
    groups = [] if narrow else [plain_cell(name) for name in _group_names(board)]
    rows: list[tuple[str, ...]] = [("rank", "places", "group", "submission", "team", *scores[parts], "K", *groups)]
    for row in board.rows:
        left = (
            _rank(row),
            _set(row),
            str(row.group or UNDEFINED),
            plain_cell(row.submission),
            plain_cell(row.team or ""),
        )
        more = map(plain_cell, _group_cells(row, board)[: len(groups)])
        rows.append((*left, *_scores(row, board)[parts], _k(row), *more))
    said = leading_sentence(board)
    sentence = f"{plain_cell(board.rows[0].submission)}: {said}" if said else ""
    first = [*(wrap(sentence, limit) if limit else [sentence]), ""] if said else []
    lines = [*first, *table(rows, limit), "", *(f"note: {w}" for w in board.warnings), provenance(board)]
    return "\n".join(lines) + "\n"


EXPORTS: dict[str, Callable[[Board], str]] = {
    "text": as_text,
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
}


def provenance(board: Board) -> str:
    gold = ", ".join(f"{name} {hash_ or '?'}" for name, hash_ in board.gold.items())
    rules = board.config
    drawn = f"{board.units} units, {rules.resamples} resamples, seed {board.seed}"
    return f"{drawn}, gold {gold}, ties by {rules.tie_rule}, p by {board.adjustment}"


def _record(row: Row, names: list[str], ranking: str | None) -> dict[str, object]:
    low, high = row.rank_set or (None, None)
    measure = row.measures.get(ranking) if ranking else None
    score = measure.ranked if measure else row.score
    flat: dict[str, object] = {
        "rank": row.rank,
        "rank_low": low,
        "rank_high": high,
        "group": row.group,
        "team": row.team,
        "name": row.name,
        "submission": row.submission,
        "chosen_low": row.chosen_ci[0] if row.chosen_ci else None,
        "chosen_high": row.chosen_ci[1] if row.chosen_ci else None,
        "expected": row.expected,
        "score": score,
        "k": row.k,
        "p_vs_leader": row.p_vs_leader,
        "p_first": row.p_first,
    }
    for name in names:
        measure = row.measures.get(name)
        if isinstance(measure, RatioMeasure):
            flat |= _share(name, measure)
            continue
        for field in ("tp", "fp", "fn", "precision", "recall", "f1"):
            flat[f"{name}.{field}"] = getattr(measure, field) if measure else None
        if measure and measure.formula and not isinstance(measure, FormulaMeasure):
            flat[f"{name}.value"] = measure.value
            flat[f"{name}.value_low"], flat[f"{name}.value_high"] = measure.ci or (None, None)
        if measure and measure.direction:
            flat[f"{name}.direction"] = measure.direction
        interval = measure.f1_ci if measure else None
        flat[f"{name}.f1_low"], flat[f"{name}.f1_high"] = interval or (None, None)
    created = {"image": row.image, "created": row.created, "signature": row.signature}
    card = {"card": row.card.path if row.card else None, "card_sha256": row.card.sha256 if row.card else None}
    return flat | created | card | _groups(row)


def _groups(row: Row) -> dict[str, object]:
    """The worst slices, and the differences on perturbed copies, where the board shows them."""
    flat: dict[str, object] = {}
    for name, slice_ in row.slices.items():
        flat |= {f"worst_{name}": slice_.value, f"worst_{name}_slice": slice_.slice}
        flat[f"worst_{name}_low"], flat[f"worst_{name}_high"] = slice_.ci or (None, None)
    for name, copy in row.robustness.items():
        flat[f"on_{name}"] = copy.difference
        flat[f"on_{name}_low"], flat[f"on_{name}_high"] = copy.ci or (None, None)
    return flat


def _group_names(board: Board) -> list[str]:
    """Heads of the columns for slices and for perturbed copies, where any row has one."""
    rules, rows = board.config, board.rows
    return [
        *(f"worst {name}" for name in rules.slices if any(name in row.slices for row in rows)),
        *(f"on {name}" for name in rules.robustness if any(name in row.robustness for row in rows)),
    ]


def _group_cells(row: Row, board: Board) -> list[str]:
    found: dict[str, str] = {}
    for name, told in row.slices.items():
        found[f"worst {name}"] = f"{_with_interval(told.value, told.ci)} {told.slice}"
    for name, copy in row.robustness.items():
        found[f"on {name}"] = UNDEFINED if copy.difference is None else _difference(copy.difference, copy.ci)
    return [found.get(name, UNDEFINED) for name in _group_names(board)]


def _difference(value: float, interval: tuple[float, float] | None) -> str:
    return f"{value:+.4f}" if interval is None else f"{value:+.4f} [{interval[0]:+.4f}, {interval[1]:+.4f}]"


def _share(name: str, measure: RatioMeasure) -> dict[str, object]:
    """A share with its interval, and the bound that stands where there is none."""
    fields = ("n", "of", "value", "direction", "bound", "bound_level", "bound_clustered")
    low, high = measure.ci or (None, None)
    flat = {f"{name}.{field}": getattr(measure, field) for field in fields}
    return flat | {f"{name}.value_low": low, f"{name}.value_high": high}


def _rank(row: Row) -> str:
    return UNDEFINED if row.rank is None else f"{row.rank:g}"


def _set(row: Row) -> str:
    if row.rank_set is None:
        return UNDEFINED
    low, high = row.rank_set
    return f"{low}" if low == high else f"{low}–{high}"


def _head(board: Board) -> str:
    return f"{score_name(board)}{' (lower is better)' if lower_is_better(board) else ''} [95 %]"


def _scores(row: Row, board: Board) -> tuple[str, str, str, str]:
    """The ranked score with the interval that allows for the choice, where there is one."""
    measure = row.measures.get(board.headline)
    score, own = (measure.ranked, measure.ranked_ci) if measure else (None, None)
    if row.score is not None:
        score, own = row.score, row.score_ci
    precision, recall = (measure.precision, measure.recall) if measure else (None, None)
    return _with_interval(score, row.chosen_ci or own), _ratio(row.expected), _ratio(precision), _ratio(recall)


def _with_interval(score: float | None, interval: tuple[float, float] | None) -> str:
    if interval is None:
        return _ratio(score)
    return f"{_ratio(score)} [{_ratio(interval[0])}, {_ratio(interval[1])}]"


def _ratio(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.4f}"


def _k(row: Row) -> str:
    return UNDEFINED if row.k is None else f"{row.k:,.1f} ({band_of(row.k)})"

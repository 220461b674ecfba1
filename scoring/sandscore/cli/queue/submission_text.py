"""Submissions as organisers list them."""

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sandscore.cli.problem_text import printable
from sandscore.records.submission import Submission

_COLUMNS = ("id", "task", "team", "status", "attempt", "created", "finished", "reason")
_WIDEST = 40


def record(one: Submission) -> dict[str, Any]:
    """One submission for programs."""
    return {
        "id": one.id,
        "team": one.team,
        "task": one.task,
        "phase": one.phase,
        "kind": str(one.kind),
        "image": one.image,
        "status": str(one.status),
        "attempt": one.attempt,
        "failures": one.failures,
        "needs_organiser": one.needs_organiser,
        "cancel_requested": one.cancel_requested,
        "not_before": one.not_before,
        "reason": one.reason,
        "created": one.created,
        "finished": one.finished,
        "version": one.version,
        "scores": dict(one.scores),
    }


def as_json(found: Sequence[Submission]) -> str:
    """A list, one submission a line."""
    lines = ",\n".join(json.dumps(record(one), ensure_ascii=False) for one in found)
    return f"[\n{lines}\n]" if lines else "[]"


def as_csv(found: Sequence[Submission]) -> str:
    """A table for spreadsheets; a cell that would be taken for a formula is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in found:
        writer.writerow([_harmless(getattr(one, name)) for name in _COLUMNS])
    return out.getvalue()


def as_text(found: Sequence[Submission]) -> str:
    """A table, then how many stand where."""
    rows = [_COLUMNS, *(tuple(_cell(one, name) for name in _COLUMNS) for one in found)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([*lines, "", counted(found)])


def counted(found: Sequence[Submission]) -> str:
    """5 SCORED, 1 INVALID; and whether anything waits for the organiser."""
    counts = Counter(str(one.status) for one in found)
    said = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items())) or "no submissions"
    waiting = sum(one.needs_organiser for one in found)
    return f"{said}; {waiting:,} need an organiser (queue show, then queue requeue)" if waiting else said


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") else value


def _cell(one: Submission, name: str) -> str:
    value = getattr(one, name)
    text = "–" if value is None else printable(str(value))
    if name == "status" and one.needs_organiser:
        text += " needs_organiser"
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


FORMATS = {"text": as_text, "json": as_json}

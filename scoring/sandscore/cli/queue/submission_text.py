"""Submissions as organisers list them."""

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence

from sandscore.base.terminal_text import UNDEFINED, clipped, disarmed, printable, table, terminal_width, width
from sandscore.records.submission import Submission

_COLUMNS = ("id", "task", "team", "status", "attempt", "created", "finished", "reason")
_FEWER_COLUMNS = ("id", "task", "team", "status", "attempt", "day", "reason")
_WIDEST = 40


_SHOWN = (
    *("id", "team", "task", "phase", "kind", "image", "status", "attempt", "failures", "needs_organiser"),
    *("cancel_requested", "not_before", "reason", "created", "finished", "version", "scores"),
)


def record(one: Submission) -> dict[str, object]:
    """One submission for programs, as JSON has it."""
    return {name: getattr(one, name) for name in _SHOWN} | {"scores": dict(one.scores)}


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
        writer.writerow([_disarmed(getattr(one, name)) for name in _COLUMNS])
    return out.getvalue()


def as_text(found: Sequence[Submission]) -> str:
    """A table, then how many stand where. A narrow terminal is told the day a submission came, not its moments."""
    lines, limit = _table(found, _COLUMNS, None), terminal_width()
    if limit is not None and max(map(width, lines)) > limit:
        lines = _table(found, _FEWER_COLUMNS, limit)
    return "\n".join([*lines, "", counted(found)])


def _table(found: Sequence[Submission], columns: Sequence[str], limit: int | None) -> list[str]:
    rows = [columns, *([_cell(one, name) for name in columns] for one in found)]
    return table(rows, limit, keep=[columns.index(name) for name in ("id", "day") if name in columns])


def counted(found: Sequence[Submission]) -> str:
    """5 SCORED, 1 INVALID; and whether anything waits for the organiser."""
    counts = Counter(str(one.status) for one in found)
    said = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items())) or "no submissions"
    waiting = sum(one.needs_organiser for one in found)
    return f"{said}; {waiting:,} need an organiser (queue show, then queue requeue)" if waiting else said


def _disarmed(value: object) -> object:
    return disarmed(value) if isinstance(value, str) else value


def _cell(one: Submission, name: str) -> str:
    value = one.created[:10] if name == "day" else getattr(one, name)
    text = UNDEFINED if value is None else printable(str(value))
    if name == "status" and one.needs_organiser:
        text += " needs_organiser"
    return clipped(text, _WIDEST)


FORMATS = {"text": as_text, "json": as_json}

"""Submissions as organisers list them."""

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence

from sandscore.base.terminal_text import UNDEFINED, clipped, disarmed, printable, table, terminal_width, width
from sandscore.records.submission import Submission

_COLUMNS = ("id", "task", "phase", "team", "status", "score", "attempt", "created", "finished", "reason")
_FEWER_COLUMNS = ("id", "task", "phase", "team", "status", "score", "attempt", "day", "reason")
_WIDEST = 40
Scores = Mapping[str, float]
"""The score that ranks a submission, by its id."""
NO_SCORES: Scores = {}


_SHOWN = (
    *("id", "team", "task", "phase", "kind", "image", "status", "attempt", "failures", "needs_organiser"),
    *("cancel_requested", "not_before", "reason", "created", "finished", "version", "scores"),
)


def record(one: Submission) -> dict[str, object]:
    """One submission for programs, as JSON has it."""
    return {name: getattr(one, name) for name in _SHOWN} | {"scores": dict(one.scores)}


def as_json(found: Sequence[Submission], scores: Scores = NO_SCORES) -> str:
    """A list, one submission a line."""
    told = (record(one) | {"score": scores.get(one.id)} for one in found)
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in told)
    return f"[\n{lines}\n]" if lines else "[]"


def as_csv(found: Sequence[Submission], scores: Scores = NO_SCORES) -> str:
    """A table for spreadsheets; a cell that would be taken for a formula is quoted."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in found:
        writer.writerow([scores.get(one.id) if name == "score" else _disarmed(getattr(one, name)) for name in _COLUMNS])
    return out.getvalue()


def as_text(found: Sequence[Submission], scores: Scores = NO_SCORES) -> str:
    """A table, then how many stand where. A narrow terminal is told the day a submission came, not its moments."""
    empty = {"phase"} if all(one.phase is None for one in found) else set[str]()
    empty |= set() if scores else {"score"}
    lines, limit = _table(found, [name for name in _COLUMNS if name not in empty], None, scores), terminal_width()
    if limit is not None and max(map(width, lines)) > limit:
        lines = _table(found, [name for name in _FEWER_COLUMNS if name not in empty], limit, scores)
    return "\n".join([*lines, "", counted(found)])


def _table(found: Sequence[Submission], columns: Sequence[str], limit: int | None, scores: Scores) -> list[str]:
    rows = [columns, *([_cell(one, name, scores) for name in columns] for one in found)]
    return table(rows, limit, keep=[columns.index(name) for name in ("id", "day") if name in columns])


def counted(found: Sequence[Submission]) -> str:
    """5 SCORED, 1 INVALID; and whether anything waits for the organiser."""
    counts = Counter(str(one.status) for one in found)
    said = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items())) or "no submissions"
    waiting = sum(one.needs_organiser for one in found)
    return f"{said}; {waiting:,} need an organiser (queue show, then queue requeue)" if waiting else said


def _disarmed(value: object) -> object:
    return disarmed(value) if isinstance(value, str) else value


def _cell(one: Submission, name: str, scores: Scores) -> str:
    if name == "score":
        return UNDEFINED if one.id not in scores else f"{scores[one.id]:.4f}"
    value = one.created[:10] if name == "day" else getattr(one, name)
    text = UNDEFINED if value is None else printable(str(value))
    if name == "status" and one.needs_organiser:
        text += " needs_organiser"
    return clipped(text, _WIDEST)


FORMATS = {"text": as_text, "json": as_json}

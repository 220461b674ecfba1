"""What stands beside a status for people and views: within Synapse's limits, scores always as floating point."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sandscore.queueing.synapse.record import KEY, Record

MOST_KEYS, MOST_CHARACTERS = 100, 500
_UNSAFE = re.compile(r"[^a-zA-Z0-9_.]+")
_RATIOS = ("f1", "precision", "recall")


def key(name: str) -> str:
    """A measure's name as an annotation's: neither spaces, hyphens nor brackets are allowed there."""
    return _UNSAFE.sub("_", name).strip("_") or "_"


def text(value: str | None) -> list[str] | None:
    """An annotation of one text; None takes it away."""
    return [value[:MOST_CHARACTERS]] if value else None


def scores(feedback: Mapping[str, object]) -> dict[str, list[float] | None]:
    """What a team is told of its measures: all F1s first, so that they stay if there are too many keys."""
    return {f"{key(name)}_{ratio}": value for ratio in _RATIOS for name, value in _numbers(feedback, ratio)}


def _numbers(feedback: Mapping[str, object], ratio: str) -> Iterator[tuple[str, list[float] | None]]:
    measures = feedback.get("measures")
    for name, parts in measures.items() if isinstance(measures, Mapping) else ():
        value = parts.get(ratio) if isinstance(parts, Mapping) else None
        yield str(name), _double(value)


def _double(value: object) -> list[float] | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return [float(value)]


def merged(old: Mapping[str, Any], new: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """Everything that was there stays; ours is added in order of importance as long as there is room."""
    out = {name: value for name, value in old.items() if name != KEY and new.get(name, value) is not None}
    room = MOST_KEYS - 1
    for name, value in new.items():
        if value is not None and (name in out or len(out) < room):
            out[name] = value
    return dict(list(out.items())[:room]) | {KEY: [record.written()]}

"""Annotations beside a status for people and views: within Synapse's limits, scores always as floating point.

What our queue keeps about a submission beside its status: one private annotation, written whole each time.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

KEY = "private_queue"
_LONGEST = 490
"""Synapse keeps at most 500 characters under one key."""


Short = Annotated[str, Meta(max_length=80)]


class Record(Struct, frozen=True):
    """``fed``: the team was told its scores. ``day`` (2026-03-01) is that of the last claim, unless that failed because
    of us; ``rehearsed``: the image has done well on the practice notes; ``spent``: the seconds that its container ran.
    ``mark`` is new in every write: by it a write is recognised as our own although its answer was lost. ``by``: the
    state whose workers claimed it; ``pardoned``: an organiser gave it another chance, so no quota is asked again."""

    attempt: int = 0
    nonce: Short = ""
    owner: Short = ""
    lease: float = 0.0
    beat: int = 0
    failures: int = 0
    losses: int = 0
    help: bool = False
    after: Short = ""
    version: int = 0
    fed: bool = False
    day: Short = ""
    rehearsed: bool = False
    spent: float = 0.0
    told: tuple[str, ...] = ()
    mark: Short = ""
    by: Short = ""
    pardoned: bool = False

    @property
    def pulse(self) -> tuple[str, int]:
        """Changes with every renewal of the lease, and with nothing else."""
        return self.nonce, self.beat

    def written(self) -> str:
        """Without what has its default; the oldest notices are forgotten first if there is no room."""
        told = self.told
        while len(text := _plain(replace(self, told=told))) > _LONGEST and told:
            told = told[1:]
        return text


def _plain(record: Record) -> str:
    changed = {name: value for name, value in asdict(record).items() if value != getattr(_EMPTY, name)}
    return json.dumps(changed, separators=(",", ":"))


_EMPTY = Record()


def read_record(annotations: Mapping[str, Any]) -> Record:
    """Of a status; a new one where nobody of ours has written yet, or where it was damaged."""
    values = annotations.get(KEY)
    try:
        return msgspec.json.decode(values[0] if isinstance(values, list) and values else "", type=Record)
    except (msgspec.DecodeError, TypeError):
        return _EMPTY


MOST_KEYS, MOST_CHARACTERS = 100, 500
_UNSAFE = re.compile(r"[^a-zA-Z0-9_.]+")
_RATIOS = ("f1", "value", "precision", "recall")


def key(name: str) -> str:
    """A measure's name as an annotation's: neither spaces, hyphens nor brackets are allowed there."""
    return _UNSAFE.sub("_", name).strip("_") or "_"


def text(value: str | None) -> list[str] | None:
    """An annotation of one text; None takes it away."""
    return [value[:MOST_CHARACTERS]] if value else None


SCORES = "private_scores"
"""Which annotations beside it are scores of ours: four hexadecimal digits for each name."""
_SUFFIX = re.compile(r"_(?:f1|value|precision|recall)")


def with_marks(shown: Mapping[str, list[float] | None]) -> Mapping[str, list[float] | list[str] | None]:
    """Scores, and before them what tells them from annotations of other tools."""
    names = [name for name, value in shown.items() if value is not None][:MOST_KEYS]
    return {SCORES: ["".join(map(_digits, names))], **shown} if names else dict(shown)


def without_scores(annotations: Mapping[str, Any]) -> dict[str, None]:
    """Takes away what an earlier verdict of ours has said, and nothing else."""
    said = annotations.get(SCORES)
    ours = str(said[0]) if isinstance(said, list) and said else None
    marks = {ours[at : at + 4] for at in range(0, len(ours), 4)} if ours is not None else None
    numbers = [name for name, value in annotations.items() if _is_score(value)]
    if marks is None:  # of a version that kept no marks: what looks like one, beside a signature of ours
        found = [name for name in numbers if "signature" in annotations and _SUFFIX.search(name)]
    else:
        found = [name for name in numbers if _digits(name) in marks]
    return dict.fromkeys([*found, "reason", "finished", "signature", SCORES])


def _digits(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:4]


def _is_score(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], float)


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


def typed(values: Sequence[Any]) -> Mapping[str, object]:
    """An annotation of ours as Synapse keeps it."""
    kind = "DOUBLE" if values and isinstance(values[0], float) else "STRING"
    return {"type": kind, "value": list(values)}


_READ = {"DOUBLE": float, "LONG": int}


def plain(annotation: Any) -> Any:
    """The values of an annotation, numbers as numbers."""
    values = annotation.get("value") if isinstance(annotation, Mapping) else None
    if not isinstance(values, list):
        return values
    try:
        return [_READ.get(annotation.get("type"), _same)(value) for value in values]
    except (TypeError, ValueError):
        return values


def _same(value: Any) -> Any:
    return value


def merged(old: Mapping[str, Any], new: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """Everything that was there stays; ours is added in order of importance as long as there is room."""
    out = {name: value for name, value in old.items() if name != KEY and new.get(name, value) is not None}
    room = MOST_KEYS - 1
    for name, value in new.items():
        if value is not None and (name in out or len(out) < room):
            out[name] = value
    return dict(list(out.items())[:room]) | {KEY: [record.written()]}

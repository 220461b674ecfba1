"""What our queue keeps about a submission beside its status: one private annotation, written whole each time."""

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

KEY = "private_queue"
_LONGEST = 490
"""Synapse keeps at most 500 characters under one key."""


@dataclass(frozen=True, slots=True)
class Record:
    """``fed``: the team was told its scores. ``mark`` is new in every write: by it a write is recognised as our own
    although its answer was lost."""

    attempt: int = 0
    nonce: str = ""
    owner: str = ""
    lease: float = 0.0
    beat: int = 0
    failures: int = 0
    losses: int = 0
    help: bool = False
    after: str = ""
    version: int = 0
    fed: bool = False
    told: tuple[str, ...] = ()
    mark: str = ""

    @property
    def pulse(self) -> tuple[str, int]:
        """Changes with every renewal of the lease, and with nothing else."""
        return self.nonce, self.beat

    def written(self) -> str:
        """Without what has its default; the oldest notices are forgotten first if there is no room."""
        plain = {name: value for name, value in asdict(self).items() if value != getattr(_EMPTY, name)}
        text = json.dumps(plain, separators=(",", ":"))
        if len(text) > _LONGEST and self.told:
            return replace(self, told=self.told[1:]).written()
        return text if len(text) <= _LONGEST else replace(self, owner=self.owner[:80]).written()


_EMPTY = Record()


def read_record(annotations: dict[str, Any] | None) -> Record:
    """Of a status; a new one where nobody of ours has written yet, or where it was damaged."""
    values = (annotations or {}).get(KEY) or [""]
    try:
        found = json.loads(values[0] if isinstance(values, list) else values)
        known = {name: found[name] for name in Record.__slots__ if name in found}
        known["told"] = tuple(known.get("told", ()))
        return Record(**known)
    except (ValueError, TypeError):
        return _EMPTY

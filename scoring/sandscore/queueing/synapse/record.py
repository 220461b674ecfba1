"""What our queue keeps about a submission beside its status: one private annotation, written whole each time."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import msgspec
from msgspec import Meta

KEY = "private_queue"
_LONGEST = 490
"""Synapse keeps at most 500 characters under one key."""


Short = Annotated[str, Meta(max_length=80)]


@dataclass(frozen=True, slots=True)
class Record:
    """``fed``: the team was told its scores. ``mark`` is new in every write: by it a write is recognised as our own
    although its answer was lost."""

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
    told: tuple[str, ...] = ()
    mark: Short = ""

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

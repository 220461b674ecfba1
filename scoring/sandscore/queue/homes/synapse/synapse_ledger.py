"""The ledger of a Synapse queue: lines of a submission in its own status, where they are written with what they are
about; lines about nobody's in a file of the worker's local state."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from sandscore.base.clock import utc_now, written
from sandscore.base.whole_files import write_synced
from sandscore.records.released_view import LedgerLine

KEY = "private_disclosed"
FILE = "disclosed.json"
_LONGEST = 490
_MARK = 14
_EARLIER = "earlier"

Short = tuple[str, float, str, str]
"""What, bits (rounded up to a tenth), mark, when."""


def noted(annotations: Mapping[str, Any], lines: Iterable[LedgerLine]) -> dict[str, list[str] | None]:
    """The annotation with these lines added, each once; where there is no room the oldest are added up."""
    held, now = _read(annotations), written(utc_now())
    known = {(what, mark) for what, _, mark, _ in held}
    for line in lines:
        if (line.what, line.mark[:_MARK]) not in known:
            held.append((line.what, math.ceil(line.bits * 10) / 10, line.mark[:_MARK], now))
    while len(text := json.dumps(held, separators=(",", ":"))) > _LONGEST and len(held) > 1:
        (_, bits, _, _), (_, more, _, when), *rest = held
        held = [(_EARLIER, round(bits + more, 1), "", when), *rest]
    return {KEY: [text]} if held else {}


def lines_of_status(annotations: Mapping[str, Any], team: str, submission: str) -> list[LedgerLine]:
    """As they stand in a status."""
    return [
        LedgerLine(what=what, bits=bits, team=team, submission=submission, mark=mark, when=when)
        for what, bits, mark, when in _read(annotations)
    ]


def _read(annotations: Mapping[str, Any]) -> list[Short]:
    values = annotations.get(KEY)
    try:
        return msgspec.json.decode(values[0] if isinstance(values, list) and values else "[]", type=list[Short])
    except (msgspec.DecodeError, TypeError):
        return []


class PublicLines:
    """What was shown to everybody."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def add(self, lines: Sequence[LedgerLine]) -> None:
        """Each once, synced before this returns."""
        held, now = self.read(), written(utc_now())
        known = {(line.submission, line.what, line.mark) for line in held}
        new = [replace(line, when=now) for line in lines if (line.submission, line.what, line.mark) not in known]
        if new:
            write_synced(self._path, msgspec.json.encode([*held, *new]))

    def read(self) -> list[LedgerLine]:
        """Oldest first."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[LedgerLine])
        except FileNotFoundError:
            return []

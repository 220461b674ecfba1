"""The making of what is released: for the views of this room, and for a view that came from another process of ours."""

import hashlib
import math
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from sandscore.records.released_view import SEAL, LedgerLine, PackedView
from sandscore.records.released_view import Audience as Audience  # noqa: PLC0414
from sandscore.records.released_view import Released as Released  # noqa: PLC0414
from sandscore.records.submission import CANCELLED, FAILURE_QUOTA

View = TypeVar("View")
_Shown = TypeVar("_Shown", covariant=True)  # noqa: PLC0105
_MARK = 16


class Item(Struct, Generic[_Shown], frozen=True, kw_only=True, tag=True):
    """Something that somebody other than the organiser may want to see; ``View`` is what may become of it."""

    team: str | None = None
    submission: str | None = None
    attempt: int = 0
    """The same that was said of another attempt is news."""


def passed(item: Item[View], view: View, what: str, bits: float = 0.0, content: bytes | None = None) -> Released[View]:
    """For the views of this room: ``view`` is what may leave, with at most so many bits in it. ``content``: the bytes
    that leave, where they are known already; the ledger's mark is their hash."""
    mark = f"{item.attempt}-{_mark(_encoded(view) if content is None else content)}"
    line = LedgerLine(what=what, bits=bits, team=item.team, submission=item.submission, mark=mark)
    return Released(view, line, SEAL)


def withheld(item: Item[View | None], what: str) -> Released[View | None]:
    """Nothing leaves, and nothing is told by that: the policy alone decided it."""
    return passed(item, None, what)


def pack(released: Released[object]) -> PackedView:
    """For the wire."""
    return PackedView(released.view, released.line)


def unpack(packed: PackedView) -> Released[View]:
    """What another process of ours has released. Only what talks to children may take it for that."""
    return Released(packed.view, packed.line, SEAL)


OVER_QUOTA: Released[str] = Released(FAILURE_QUOTA, LedgerLine(what="reason"), SEAL)
"""The reason of a submission whose team has failed too often: our own word."""
CALLED_BACK: Released[str] = Released(CANCELLED, LedgerLine(what="reason"), SEAL)
"""The reason of a submission that was cancelled: our own word."""


def choice_bits(answers: float) -> float:
    """Of one answer out of so many."""
    return math.log2(answers) if answers > 1 else 0.0


def byte_bits(view: object) -> float:
    """At most what a view can tell that may be anything: eight a byte."""
    return 8.0 * len(_encoded(view))


def _mark(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_MARK]


def _encoded(view: object) -> bytes:
    return msgspec.json.encode(view, enc_hook=lambda value: value.model_dump(mode="json"))

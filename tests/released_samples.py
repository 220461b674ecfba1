"""Released views as a child process hands them on, for tests of what is done with them."""

from typing import Any

from sandscore.disclosure.released import unpack
from sandscore.records.released_view import LedgerLine, PackedView, Released
from sandscore.records.submission import NoticeText


def packed(view: Any, what: str = "score", bits: float = 0.0) -> PackedView:
    return PackedView(view, LedgerLine(what=what, bits=bits, mark=str(view)[:16]))


def released(view: Any, what: str = "score", bits: float = 0.0) -> Released[Any]:
    return unpack(packed(view, what, bits))


def words(subject: str, text: str) -> Released[NoticeText]:
    return released(NoticeText(subject, text), "notice")

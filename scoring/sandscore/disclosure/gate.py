"""The one gate: everything that reaches somebody other than the organiser passes ``release``.

A kind of item is a class of its own beside the function that makes its view; both stand in ``VIEWS``. Whoever has an
item has imported its module, and needs none of the others.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from sandscore.disclosure.released import Audience, Item, Released
from sandscore.records.disclosure_policy import DisclosurePolicy

_View = TypeVar("_View")
_Viewer = Callable[[Any, Audience, DisclosurePolicy], Released[Any]]
_ROOM = "sandscore.disclosure"
VIEWS = {
    (f"{_ROOM}.{module}", item): view
    for module, item, view in (
        ("run_views", "LogItem", "log_view"),
        ("run_views", "RehearsalItem", "rehearsal_view"),
        ("notice_view", "NoticeItem", "notice_view"),
        ("outcome_views", "ReasonItem", "reason_view"),
        ("outcome_views", "ScoreItem", "score_view"),
        ("outcome_views", "StatusItem", "status_view"),
        ("problem_view", "ProblemsItem", "problems_view"),
        ("run_views", "IdentifierItem", "identifier_view"),
        ("run_views", "ToolItem", "tool_view"),
        ("run_views", "TimingItem", "timing_view"),
        ("card_view", "CardItem", "card_view"),
        ("board_view", "BoardItem", "board_view"),
    )
}


def release(item: Item[_View], audience: Audience, policy: DisclosurePolicy) -> Released[_View]:
    """What the audience may see of the item, and the line of the ledger that says so. Pure."""
    kind = type(item)
    view: _Viewer = getattr(sys.modules[kind.__module__], VIEWS[kind.__module__, kind.__name__])
    return cast("Released[_View]", view(item, audience, policy))

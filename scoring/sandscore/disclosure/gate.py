"""The one gate: everything that reaches somebody other than the organiser passes ``release``.

A kind of item is a class of its own beside the function that makes its view; both stand in ``VIEWS``.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sandscore.disclosure.board_view import BoardItem, board_view
from sandscore.disclosure.card_view import CardItem, card_view
from sandscore.disclosure.notice_view import NoticeItem, notice_view
from sandscore.disclosure.outcome_views import (
    ReasonItem,
    ScoreItem,
    StatusItem,
    reason_view,
    score_view,
    status_view,
)
from sandscore.disclosure.problem_view import ProblemsItem, problems_view
from sandscore.disclosure.rehearsal_view import RehearsalItem, rehearsal_view
from sandscore.disclosure.released import Audience, Item, Released
from sandscore.disclosure.run_views import (
    IdentifierItem,
    LogItem,
    TimingItem,
    ToolItem,
    identifier_view,
    log_view,
    timing_view,
    tool_view,
)
from sandscore.records.disclosure_policy import DisclosurePolicy

_View = TypeVar("_View")
Viewer = Callable[[Any, Audience, DisclosurePolicy], Released[Any]]

VIEWS: dict[type[Item[Any]], Viewer] = {
    LogItem: log_view,
    RehearsalItem: rehearsal_view,
    NoticeItem: notice_view,
    ReasonItem: reason_view,
    ScoreItem: score_view,
    StatusItem: status_view,
    ProblemsItem: problems_view,
    IdentifierItem: identifier_view,
    ToolItem: tool_view,
    TimingItem: timing_view,
    CardItem: card_view,
    BoardItem: board_view,
}


def release(item: Item[_View], audience: Audience, policy: DisclosurePolicy) -> Released[_View]:
    """What the audience may see of the item, and the line of the ledger that says so. Pure."""
    return cast("Released[_View]", VIEWS[type(item)](item, audience, policy))

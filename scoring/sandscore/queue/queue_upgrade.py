"""The upgrade of a queue that an older version made: what it would change, and the change.

What was kept is scored anew in a shadow of the queue, boards are ranked from that, and compared with those that are
shown. Nothing of it counts before all of it does. Killed at any moment, it is taken up by giving the order again.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from sandscore.base.errors import InfrastructureFault
from sandscore.challenges.challenge_reading import rules_for
from sandscore.queue.attempt_files import card_name
from sandscore.queue.board_making import WITHDRAWN, BoardGroup, exact_board, slug_of
from sandscore.queue.children.child_messages import ScoredSubmission
from sandscore.queue.first_rules import unwritten_rules, write_first_names, write_first_rules
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.homes.home_row import HomeRow
from sandscore.queue.layout_move import update_layout
from sandscore.queue.public_log import PublicLog
from sandscore.queue.rescoring import Rescored, RescoredGroup, Rescoring
from sandscore.queue.worker.board_refresh import Follower
from sandscore.queue.worker.executor import Hands
from sandscore.queue.workspace import Workspace
from sandscore.records.board import Board


class BoardMove(Struct, frozen=True):
    """A row that would stand elsewhere; ``None`` before: it is not on the board that is shown."""

    submission: str
    team: str | None
    rank_before: int | float | None
    rank_after: int | float | None
    set_before: tuple[int, int] | None
    set_after: tuple[int, int] | None


class UpgradedBoard(Struct, frozen=True):
    """One board, and the rows of it that would move."""

    task: str
    phase: str | None
    rows: int
    moves: tuple[BoardMove, ...]


class QueueUpgrade(Struct, frozen=True):
    """What would change, or has: rules that challenge.toml did not name, cards, boards."""

    rules: dict[str, str]
    groups: tuple[RescoredGroup, ...]
    boards: tuple[UpgradedBoard, ...]
    written: tuple[str, ...] | None = None


def prepare(root: Path, row: HomeRow) -> dict[str, str]:
    """The folder and its database as this version makes them, and the rules by which its boards were made."""
    with row.resting(root) as rests:
        if not rests:
            raise InfrastructureFault(f"{root} is being worked with: stop its workers, then give the order again")
    rules = dict(write_first_rules(root))
    write_first_names(root)
    update_layout(root, row)
    return rules


async def upgrade(
    home: QueueHome, workspace: Workspace, hands: Hands, cause: str | None, rules: dict[str, str], *, boards: bool
) -> QueueUpgrade:
    """The plan; with a ``cause`` it is carried out. ``rules`` were written already; ``boards``: whether they are made
    here."""
    missing = dict(unwritten_rules(workspace.root))
    changed = Workspace(workspace.root, workspace.challenge.model_copy(update=missing), workspace.settings)
    rescoring = Rescoring(home, changed, hands)
    try:
        plan = await rescoring.plan((), counts=False)
        moved = tuple(_board(changed, group, plan.rescored) for group in plan.groups)
        said = QueueUpgrade(rules | missing, tuple(plan.groups), moved)
        if cause is None:
            return said
        written = await rescoring.apply(plan, cause)
    finally:
        rescoring.close()
    if boards:
        await Follower(home, workspace).refresh()
    return QueueUpgrade(said.rules, said.groups, said.boards, tuple(written))


def _board(workspace: Workspace, group: RescoredGroup, rescored: Sequence[Rescored]) -> UpgradedBoard:
    """The board as it would be, held against the one that is shown."""
    members = [one for one in rescored if (one.submission.task, one.submission.phase) == (group.task, group.phase)]
    rules, _ = rules_for(workspace.challenge, group.task, group.phase)
    made = [_scored(one, rules.headline) for one in members if one.after is not None]
    if not made:
        return UpgradedBoard(group.task, group.phase, 0, ())
    board, _ = exact_board(workspace, BoardGroup(group.task, group.phase, rules, made), PublicLog(workspace))
    places = (workspace.boards, workspace.private / workspace.boards.name, workspace.private / WITHDRAWN)
    name = f"{slug_of(group.task, group.phase)}.json"
    before = next((rows for place in places if (rows := _rows(place / name))), {})
    return UpgradedBoard(group.task, group.phase, len(board.rows), tuple(_moves(board, before)))


def _scored(one: Rescored, headline: str) -> ScoredSubmission:
    """As it would be: the card in the shadow."""
    submission, version = one.submission, one.submission.version + 1
    return ScoredSubmission(
        id=submission.id,
        team=submission.team,
        task=submission.task,
        phase=submission.phase,
        version=version,
        created=submission.created,
        score=one.after.card.measures[headline].ranked if one.after is not None else None,
        waiting=False,
        card=str(one.folder / card_name(version)),
    )


def _rows(place: Path) -> dict[str, dict[str, object]]:
    """Rows of a board that is shown, or was, by submission; of any version, so nothing but JSON is expected of it."""
    try:
        rows = json.loads(place.read_bytes())["rows"]
        return {row["submission"]: row for row in rows}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _moves(board: Board, before: dict[str, dict[str, object]]) -> Iterator[BoardMove]:
    for row in board.rows:
        was = before.get(row.submission, {})
        rank, span = was.get("rank"), was.get("rank_set")
        known = rank if isinstance(rank, int | float) else None
        pair = (int(span[0]), int(span[1])) if isinstance(span, list) and len(span) == 2 else None
        if known != row.rank or (pair is not None and pair != row.rank_set):
            yield BoardMove(row.submission, row.team, known, row.rank, pair, row.rank_set)

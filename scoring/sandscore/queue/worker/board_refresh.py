"""Boards and site follow the queue: one writer at a time, and not after every submission."""

import asyncio
import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandscore import __version__
from sandscore.base.clock import uptime
from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault, OrganiserFault, SandscoreError, UsageFault
from sandscore.base.process_identity import boot
from sandscore.base.whole_files import write_file
from sandscore.challenges.challenge_reading import rules_for
from sandscore.disclosure.outcome_views import outdated
from sandscore.queue.attempt_files import card_name
from sandscore.queue.children.child_messages import (
    BOARDS_ANSWERS,
    BoardsAnswer,
    BoardsRequest,
    ScoredSubmission,
    unfinished,
)
from sandscore.queue.children.child_process import Child, scorer_environment
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.public_log import handed_in
from sandscore.queue.queue_layout import private_path
from sandscore.queue.shared_data import policy_in
from sandscore.queue.worker import notice_text
from sandscore.queue.workspace import Workspace, said_challenge
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.submission import Status, Submission

_PATIENCE_SECONDS = 3600.0
_LOCK, _PUBLISHED = ".publishing.lock", ".published"


class Follower:
    """Rebuilds what changed. A board that cannot be made is a warning: submissions go on being scored."""

    def __init__(self, home: QueueHome, workspace: Workspace) -> None:
        self._home, self._workspace = home, workspace
        self._kept: dict[tuple[str, int], Path | None] = {}
        self._rules: dict[tuple[str, str | None], BoardRules] = {}
        self._policies: dict[tuple[str, str | None], DisclosurePolicy] = {}
        self._challenge = workspace.challenge
        self._begun = uptime()
        self._before: object = None

    async def refresh(self) -> bool:
        """False where another process is at it already."""
        try:
            with locked(private_path(self._workspace.root, _LOCK)) as ours:
                if ours:
                    await self._rebuild()
                return ours
        except (SandscoreError, OSError) as fault:
            warn(f"boards and site were not renewed: {fault}")
        return True

    async def _rebuild(self) -> None:
        if (challenge := self._workspace.challenge) is not self._challenge:
            self._challenge, self._before = challenge, None
            self._rules.clear()
        every = await self._home.submissions()
        submissions = [one for one in every if one.status is Status.SCORED]
        state = (len(every), [(one.id, one.version, one.feedback is None) for one in submissions])
        if not every or state == self._before or self._published(state):
            return
        self._policies.clear()  # what files hold may have changed
        records = [record for one in submissions if (record := await self._record(one)) is not None]
        child = Child("publisher", (str(self._workspace.root),), scorer_environment(), BOARDS_ANSWERS)
        try:
            accepted = tuple(map(handed_in, every))
            asked = BoardsRequest(tuple(records), accepted, said_challenge(challenge))
            answer = await child.ask(asked, _PATIENCE_SECONDS)
        finally:
            await child.stop()
        if not isinstance(answer, BoardsAnswer):
            raise InfrastructureFault(unfinished(answer))
        for warning in answer.warnings:
            warn(warning)
        await self._home.disclose(answer.lines)
        self._workspace.pending.unlink(missing_ok=True)
        by_id = {one.id: one for one in submissions}
        for submission_id, told in answer.told.items():
            one = by_id[submission_id]
            await self._home.disclose([told.line])
            await self._home.notify(notice_text.scored(one, one.attempt, told))
            await self._home.publish_feedback(one, told)
        await self._home.publish([Path(board) for board in answer.boards], self._workspace.site)
        settled = [(one.id, one.version, False) for one in submissions]
        self._before = (len(every), settled) if not answer.warnings else None
        if self._before is not None:
            published = f"{self._digest(self._before)} {uptime()}"
            write_file(private_path(self._workspace.root, _PUBLISHED), published.encode())

    def _published(self, state: object) -> bool:
        """Whether another worker has published just this since this one began."""
        try:
            digest, moment = private_path(self._workspace.root, _PUBLISHED).read_text(encoding="ascii").split()
        except (OSError, ValueError):
            return False
        return float(moment) >= self._begun and digest == self._digest(state)

    def _digest(self, state: object) -> str:
        """Of all that boards and site are made from, on this start of the machine."""
        configured = (self._challenge.model_dump_json(), self._workspace.settings.model_dump_json())
        return hashlib.sha256(repr((boot(), __version__, configured, state)).encode()).hexdigest()

    async def _record(self, one: Submission) -> ScoredSubmission | None:
        key = (one.id, one.version)
        if self._kept.get(key) is None:
            self._kept[key] = await self._home.kept(one)
        folder = self._kept[key]
        if folder is None or not (folder / card_name(one.version)).exists():
            warn(f"the score card of {one.id} is gone; queue requeue has it scored again")
            return None
        score, waiting = self._standing(one)
        return ScoredSubmission(
            id=one.id,
            team=one.team,
            task=one.task,
            phase=one.phase,
            version=one.version,
            created=one.created,
            score=score,
            waiting=waiting,
            card=str(folder / card_name(one.version)),
        )

    def _standing(self, one: Submission) -> tuple[float | None, bool]:
        """The score that ranks, and whether the team waits for what it may be told; neither without rules, which the
        publisher says."""
        asked = one.task, one.phase
        try:
            if asked not in self._rules:
                self._rules[asked], _ = rules_for(self._workspace.challenge, *asked)
            if asked not in self._policies:
                self._policies[asked] = policy_in(self._workspace, *asked)
        except (OrganiserFault, UsageFault):
            return None, False
        return one.scores.get(self._rules[asked].headline), outdated(one.feedback, self._policies[asked])


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Ours, or at once not; the lock goes with the process that holds it."""
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


async def follow(follower: Follower, seconds: float | None, stopping: asyncio.Event) -> None:
    """Renew every so often until the worker stops; never, where another machine does."""
    if seconds is None:
        return
    while not stopping.is_set():
        try:
            await asyncio.wait_for(stopping.wait(), seconds)
        except TimeoutError:
            await follower.refresh()

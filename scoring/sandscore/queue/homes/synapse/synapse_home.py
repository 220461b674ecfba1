"""The Synapse home of the queue: keeps the promises of ``QueueHome`` for an evaluation queue."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from sandscore.base.clock import utc_now
from sandscore.base.errors import InfrastructureFault
from sandscore.disclosure.released import CALLED_BACK, OVER_QUOTA
from sandscore.queue.attempt_files import REHEARSAL, TEAM, card_name
from sandscore.queue.failure_quota import Failure, failure_refusal
from sandscore.queue.homes.synapse.synapse_ledger import PublicLines, lines_of_status
from sandscore.queue.homes.synapse.synapse_notices import Notifier
from sandscore.queue.homes.synapse.synapse_options import read_options
from sandscore.queue.homes.synapse.synapse_parts import SynapseParts, assemble, belongs
from sandscore.queue.homes.synapse.synapse_quota import limits_of, over_quota
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.new_submission import quota_of
from sandscore.queue.team_release import TeamRelease
from sandscore.queue.worker import notice_text
from sandscore.queue.workspace import Workspace
from sandscore.records.released_view import LedgerLine, Released, view_of
from sandscore.records.submission import (
    REHEARSED,
    Claim,
    Committed,
    Event,
    Notice,
    Signal,
    Status,
    Submission,
    Verdict,
    Version,
)


def _tells(notice: Notice, committed: Committed) -> bool:
    """Whether the message says how it really ended."""
    called_back = committed is Committed.CANCELLED and notice.event is Event.CANCELLED
    return called_back or committed is Committed.DONE


class _Ends:
    """Messages about ends that no worker's verdict is, on disk before they are on Synapse."""

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self.prepared: list[tuple[Notice, Verdict]] = []

    def prepare(self, claim: Claim, verdict: Verdict) -> None:
        """Asked again after a 412, with the same."""
        self.prepared = [(notice_text.ended(claim, verdict), verdict)]
        self._notifier.prepare(self.prepared[0][0], claim.nonce)

    def forget(self) -> None:
        """It has not come to pass."""
        for notice, _ in self.prepared:
            self._notifier.unprepare(notice)


class SynapseHome:
    """Everything is on Synapse but predictions, cards and exact scores, which lie in the local state."""

    def __init__(self, evaluation_id: str, config: Path | None, workspace: Workspace) -> None:
        self._evaluation_id, self._workspace = evaluation_id, workspace
        self._options = read_options(workspace.root)
        self._session = Session(config, workspace.root, self._options)
        self._parts: SynapseParts | None = None
        self._failed: dict[str, Failure] = {}
        self._public_lines = PublicLines(workspace.private)

    @property
    def _on(self) -> SynapseParts:
        if self._parts is None:
            raise InfrastructureFault("Synapse: the queue is not open")
        return self._parts

    async def open(self) -> None:
        await self._session.connect()
        try:
            self._parts = await assemble(self._session, self._evaluation_id, self._workspace, self._options)
        except BaseException:
            await self._session.close()
            raise

    async def close(self) -> None:
        if self._parts is not None:
            await self._parts.mailbox.close()
        self._parts = None
        await self._session.close()

    async def submissions(self) -> Sequence[Submission]:
        return [await self._on.reader.read(one) for one in await self._on.listing.all()]

    async def claimable(self, most: int) -> Sequence[Submission]:
        """Whoever asks for work also sends what waits in the outbox."""
        if self._options.send_messages:
            self._on.mailbox.start()
        return [await self._on.reader.read(one) for one in await self._on.waiting.claimable(most)]

    async def seconds_until_claimable(self) -> float | None:
        return await self._on.waiting.seconds()

    async def claim(self, submission: Submission, owner: str, lease_seconds: float) -> Claim | None:
        refused = await self._refused(submission)
        first = self._on.waiting.take(submission.id)
        ends = _Ends(self._on.notifier)
        found = await self._on.claims.claim(submission, owner, lease_seconds, first, refused, ends.prepare)
        if isinstance(found, Verdict):
            self._on.mine.add(submission.id)
            await self._tell_end(ends)
            return None
        ends.forget()
        if found is not None:
            self._on.mine.add(found.submission.id)
            await self._on.logs.begun(found.submission)
        return found

    async def _tell_end(self, ends: "_Ends") -> None:
        """What no worker tells of, for none has it."""
        for notice, verdict in ends.prepared:
            await self._on.logs.tell(notice.submission, str(verdict.status), verdict.reason)
            await self.notify(notice)

    async def _refused(self, submission: Submission) -> Released[str] | None:
        """By the quota on failures, or by the challenge's own."""
        challenge, phase = self._workspace.challenge, submission.phase
        failures = await self._on.waiting.failures(submission.id, self._failed)
        if failure_refusal(challenge, phase, failures, utc_now()) is not None:
            return OVER_QUOTA
        if not self._on.keeps_quota or not limits_of(quota_of(challenge, phase)[0]):
            return None
        said = await self._on.waiting.over_quota(submission.id, partial(over_quota, challenge, phase))
        return None if said is None else TeamRelease(self._workspace, submission).reason(str(said), about_notes=False)

    async def heartbeat(self, claim: Claim) -> Signal:
        return await self._on.claims.heartbeat(claim)

    async def fetch_predictions(self, claim: Claim, target: Path, most_bytes: int) -> None:
        await self._on.files.fetch(claim.submission.id, target, most_bytes)

    async def advance(self, claim: Claim, status: Status) -> Signal:
        """Synapse is not told: a status may be written once a second by all workers together."""
        return await self._on.claims.heartbeat(claim)

    async def commit(self, claim: Claim, verdict: Verdict) -> Committed:
        """Logs first: they hold nothing of gold, and after the commit nobody would come back for them."""
        await self._on.logs.send(claim, verdict.folder)
        await self._send_rehearsal(claim, verdict.folder and verdict.folder / REHEARSAL)
        if verdict.status == Status.SCORED:
            version = claim.submission.version + 1
            facts = {"nonce": claim.nonce}
            self._on.results.keep(claim.submission.id, version, verdict.scores, view_of(verdict.feedback), **facts)
            if self._on.shared is not None and verdict.folder is not None:
                await self._on.shared.put(claim.submission, verdict.folder / card_name(version))
        notice, ends = self._prepared(claim, verdict), _Ends(self._on.notifier)
        committed = await self._on.claims.commit(claim, verdict, ends.prepare)
        if committed is not Committed.CANCELLED:
            ends.forget()
        if notice is not None and not _tells(notice, committed):
            self._on.notifier.unprepare(notice)
        if committed is Committed.CANCELLED or (committed is Committed.DONE and verdict.status is Status.INVALID):
            self._failed[claim.submission.id] = Failure(utc_now(), verdict.seconds)
        if committed is Committed.DONE:
            await self._on.logs.tell(claim.submission, str(verdict.status), verdict.reason, verdict.feedback)
        elif committed is Committed.CANCELLED:
            await self._on.logs.tell(claim.submission, str(Status.REJECTED), CALLED_BACK)
        return committed

    def _prepared(self, claim: Claim, verdict: Verdict) -> Notice | None:
        """The message about a verdict lies in the outbox before the verdict is on Synapse."""
        if verdict.status is Status.SCORED and verdict.feedback is None:
            return None
        notice = notice_text.ended(claim, verdict)
        return notice if self._on.notifier.prepare(notice, claim.nonce) else None

    async def release(self, claim: Claim, reason: str, *, our_fault: bool = True) -> Committed:
        if our_fault:
            with suppress(InfrastructureFault):  # a full disk must not keep the claim
                self._on.results.explain(claim.submission.id, claim.attempt, reason)
        return await self._handed_back(claim, reason, our_fault=our_fault)

    async def rehearsed(self, claim: Claim, folder: Path) -> Committed:
        await self._send_rehearsal(claim, folder)
        return await self._handed_back(claim, REHEARSED, our_fault=False, rehearsed=True)

    async def _handed_back(self, claim: Claim, reason: str, **how: bool) -> Committed:
        ends = _Ends(self._on.notifier)
        done = await self._on.claims.release(claim, reason, **how, ending=ends.prepare)
        if isinstance(done, Verdict):
            await self._tell_end(ends)
            return Committed.CANCELLED
        ends.forget()
        return Committed.DONE if done else Committed.STALE

    async def _send_rehearsal(self, claim: Claim, folder: Path | None) -> None:
        if folder is not None and (folder / TEAM).is_dir():
            await self._on.logs.send_rehearsal(claim, folder / TEAM)

    async def cancel(self, submission_id: str) -> bool:
        if not await self._ours(submission_id) or not await self._on.orders.cancel(submission_id):
            return False
        one = next((one for one in await self.submissions() if one.id == submission_id), None)
        notice = None if one is None else notice_text.ended_unseen(one)
        if notice is not None:
            await self._on.logs.tell(notice.submission, str(notice.submission.status), CALLED_BACK)
            await self.notify(notice)
        return True

    async def requeue(self, submission_id: str) -> bool:
        return await self._ours(submission_id) and await self._on.orders.requeue(submission_id)

    async def _ours(self, submission_id: str) -> bool:
        """Ids are Synapse's own: one of another queue, or a wrong one, must not be touched."""
        return submission_id.isdigit() and await belongs(self._session, submission_id, self._evaluation_id)

    async def add_version(self, submission: Submission, version: Version) -> bool:
        card = self._on.places.card(replace(submission, version=version.number))
        if self._on.shared is not None and card is not None:
            await self._on.shared.put(submission, card)
        if not await self._on.orders.add_version(submission.id, version):
            return False
        self._on.results.keep(
            submission.id, version.number, version.scores, view_of(version.feedback), cause=version.cause
        )
        return True

    async def kept(self, submission: Submission) -> Path | None:
        card = self._on.places.card(submission)
        if card is None:
            return None
        if card.is_file() or (not submission.version and card.parent.is_dir()):
            return card.parent
        shared = self._on.shared if submission.version else None
        return card.parent if shared is not None and await shared.get(submission, card) else None

    async def publish_feedback(self, submission: Submission, feedback: Released[Mapping[str, object]]) -> None:
        self._on.results.keep(submission.id, submission.version, submission.scores, feedback.view)
        await self._on.orders.publish_feedback(submission.id, feedback)
        await self._on.logs.tell(submission, str(submission.status), None, feedback)

    async def disclose(self, lines: Sequence[LedgerLine]) -> None:
        mine = dict.fromkeys(line.submission for line in lines)
        for submission_id in mine:
            told = [line for line in lines if line.submission == submission_id]
            if submission_id is None:
                self._public_lines.add(told)
            else:
                await self._on.orders.disclose(submission_id, told)

    async def disclosed(self) -> Sequence[LedgerLine]:
        found = self._public_lines.read()
        for listed in await self._on.listing.all():
            one = await self._on.reader.read(listed)
            found += lines_of_status(listed.now.annotations, one.team, one.id)
        return sorted(found, key=lambda line: line.when or "")

    async def notify(self, notice: Notice) -> bool:
        return await self._on.notifier.notify(notice)

    async def deliver(self, seconds: float) -> None:
        """Send what waits in the outbox, as far as there are turns for it."""
        await self._on.mailbox.deliver(seconds)

    async def publish(self, boards: Sequence[Path], site: Path) -> None:
        """The site stays where it is made; Synapse shows the boards as tables and wiki pages."""
        if self._on.board is not None:
            await self._on.board.publish(boards)

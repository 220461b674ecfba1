"""Notices to a team, told by the state whose worker has the claim, each at most once.

Messages to teams, sent in the background: a full mailbox must not hold up the queue.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from sandscore.base.clock import uptime
from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault
from sandscore.queue.homes.synapse.status_record import Record
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_outbox import Delivery, Outbox, OutboxMessage
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.homes.synapse.synapse_statuses import Statuses
from sandscore.queue.notices import NoticeLedger, identity, send
from sandscore.queue.settings import Notices
from sandscore.records.submission import Event, Notice, Status

_DRAIN_SECONDS = 20.0
"""How long a worker that ends goes on sending, if a turn comes in that time."""
_LOOK_SECONDS = 2.0
_POLICY: Mapping[str, object] = {"retry_status_codes": [418], "retry_errors": [], "retry_exceptions": []}
"""A message is asked for once: after most failures a second try could send it twice. An empty list of codes would be
the client's own; no answer has this one."""
_NOT_ASKED = 429


class Mailbox:
    """Sends what waits in the outbox, one after the other, in a task of its own."""

    def __init__(self, session: Session, outbox: Outbox, statuses: Statuses) -> None:
        self._session, self.outbox, self._statuses = session, outbox, statuses
        self._task: asyncio.Task[None] | None = None
        self._more, self._ends = asyncio.Event(), asyncio.Event()

    def start(self) -> None:
        """Once; what others have left waiting is sent too."""
        if self._task is None:
            self._task = asyncio.create_task(self._work())

    def wake(self) -> None:
        """Something waits."""
        self.start()
        self._more.set()

    async def close(self) -> None:
        """Send what is waiting, for a while; the rest stays where it is, for the next worker."""
        task, self._task = self._task, None
        if task is None:
            return
        await self.deliver(_DRAIN_SECONDS, task)
        if waiting := self.outbox.waiting():
            warn(f"{waiting} messages to teams wait in the outbox; the next worker sends them (sandscore queue outbox)")

    async def deliver(self, seconds: float, task: asyncio.Task[None] | None = None) -> None:
        """Send what waits as long as there are turns for it."""
        self._ends.set()
        self._more.set()
        if task is not None:
            await asyncio.wait({task}, timeout=seconds)
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        ends = uptime() + seconds
        while uptime() + self._session.budget.wait_for_message() < ends and await self._next():
            continue

    async def _work(self) -> None:
        await self._recover()
        while not self._ends.is_set():
            self._more.clear()
            wait = self._session.budget.wait_for_message()
            if wait > 0 or not await self._next():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._woken(wait), wait if wait > 0 else _LOOK_SECONDS)

    async def _woken(self, wait: float) -> None:
        """A message more brings no turn nearer; the end of the worker does."""
        await (self._ends if wait > 0 else self._more).wait()

    async def _next(self) -> bool:
        """Whether something was sent, or might have been."""
        try:
            taken = self.outbox.take()
        except OSError:
            return False
        if not taken:
            return False
        sending = asyncio.ensure_future(self._send(taken))
        try:
            return await asyncio.shield(sending)
        except asyncio.CancelledError:  # what was begun is brought to its end: it may be under way
            await sending
            raise

    async def _send(self, taken: Sequence[OutboxMessage]) -> bool:
        subject, text = _words(taken)
        try:
            body = await self._session.call("writing a message", self._upload(taken[0].recipients, subject, text))
        except InfrastructureFault as fault:
            self.outbox.give_back(taken)
            warn(f"a message to {_names(taken)} waits: {fault}")
            return False
        posting = self._session.client.rest_post_async("/message", body=body, retry_policy=dict(_POLICY))
        try:
            await self._session.call("sending a message", posting)
        except Refused as fault:
            if fault.status == _NOT_ASKED:
                self.outbox.give_back(taken)
                return False
            known = 400 <= fault.status < 500
            self._settle(taken, Delivery.UNDELIVERED if known else Delivery.UNKNOWN, str(fault))
        except InfrastructureFault as fault:
            self._settle(taken, Delivery.UNKNOWN, str(fault))
        else:
            self.outbox.settle(taken, Delivery.SENT)
        return True

    def _settle(self, taken: Sequence[OutboxMessage], delivery: Delivery, why: str) -> None:
        self.outbox.settle(taken, delivery, why)
        happened = "was not delivered" if delivery is Delivery.UNDELIVERED else "may not have arrived"
        warn(f"a message to {_names(taken)} {happened}: {why}")

    async def _upload(self, recipients: Sequence[str], subject: str, text: str) -> str:
        from synapseclient.core.upload.multipart_upload_async import multipart_upload_string_async

        handle = await multipart_upload_string_async(self._session.client, text or subject, content_type="text/plain")
        return json.dumps({"recipients": list(recipients), "subject": subject, "fileHandleId": handle})

    async def _recover(self) -> None:
        """What processes that are gone had prepared: told where it has come to pass, known as untold where not."""
        try:
            for one in self.outbox.abandoned():
                await self._settle_abandoned(one)
        except (InfrastructureFault, OSError) as fault:
            warn(f"messages that other workers left are looked at later: {fault}")

    async def _settle_abandoned(self, one: OutboxMessage) -> None:
        if not one.is_verdict:
            self.outbox.release(one.identity)
            return
        now = await self._statuses.read(one.submission)
        ours = (now.record.attempt, now.record.nonce) == (one.attempt, one.nonce)
        if ours and now.status is _STATUS[Event(one.event)]:
            self.outbox.release(one.identity)
        elif ours and now.status is not None and now.status.final:
            self.outbox.undeliver(one, f"it ended {now.status}, and the worker stopped before it could say so")
        else:  # it was never committed: another attempt tells how it ends
            self.outbox.drop(one.identity)


_STATUS = {Event.SCORED: Status.SCORED, Event.INVALID: Status.INVALID, Event.CANCELLED: Status.REJECTED}


def _words(taken: Sequence[OutboxMessage]) -> tuple[str, str]:
    """Of one message, or of several beginnings as one."""
    if len(taken) == 1:
        return taken[0].subject, taken[0].text
    ids = sorted({one.submission for one in taken}, key=lambda key: (len(key), key))
    return f"{len(ids)} of your submissions are being evaluated", "\n".join(f"{one.subject}." for one in taken)


def _names(taken: Sequence[OutboxMessage]) -> str:
    return ", ".join(taken[0].recipients)


class Notifier:
    """``mailbox`` is None where no messages are to be sent; the other channels are as for any home. ``claimed_by`` says
    what is known of a submission's record, ``own`` the name of this state."""

    def __init__(
        self,
        statuses: Statuses,
        mailbox: Mailbox | None,
        settings: Notices,
        ledger: NoticeLedger,
        organisers: Sequence[str],
        own: str = "",
        claimed_by: Callable[[str], Record | None] = lambda _: None,
        *,
        begun: bool = False,
    ) -> None:
        self._statuses, self._mailbox, self._settings, self._ledger = statuses, mailbox, settings, ledger
        self._organisers, self._own, self._claimed_by, self._begun = organisers, own, claimed_by, begun

    async def notify(self, notice: Notice) -> bool:
        """By the state whose worker had the claim, and by nobody else; scores that were held back, by whoever makes
        the boards."""
        try:
            if not self._settings.events & notice.event or not await self._ours(notice):
                return False
            prepared = self.prepare(notice)
        except (InfrastructureFault, OSError) as fault:
            warn(f"a notice about {notice.submission.id} was not sent: {fault}")
            return False
        name, mailbox = identity(notice), self._mailbox
        loop = asyncio.get_running_loop()

        def beside(told: Notice) -> None:
            if mailbox is not None and mailbox.outbox.release(name):
                loop.call_soon_threadsafe(mailbox.wake)

        wanted = mailbox is not None and mailbox.outbox.known(name)
        sent = await asyncio.to_thread(send, notice, self._settings, self._ledger, beside if wanted else None)
        if prepared and not sent and mailbox is not None:
            mailbox.outbox.drop(name)
        return sent

    def prepare(self, notice: Notice, nonce: str = "") -> bool:
        """Its message is on disk, to be sent once it is told. False where there is none, or was one before."""
        to = self._recipients(notice)
        unwanted = not self._settings.events & notice.event or (notice.event is Event.STARTED and not self._begun)
        if self._mailbox is None or not to or unwanted:
            return False
        words = notice.words.view
        return self._mailbox.outbox.prepare(
            OutboxMessage(
                identity(notice),
                int(notice.event),
                notice.submission.id,
                to,
                words.subject,
                words.text,
                "",
                nonce,
                notice.attempt,
            )
        )

    def unprepare(self, notice: Notice) -> None:
        """It has not come to pass."""
        if self._mailbox is not None:
            self._mailbox.outbox.drop(identity(notice))

    async def _ours(self, notice: Notice) -> bool:
        record = self._claimed_by(notice.submission.id) or (await self._statuses.read(notice.submission.id)).record
        late = notice.event is Event.SCORED and record.version > 0 and not record.fed
        return late or record.by in ("", self._own)

    def _recipients(self, notice: Notice) -> list[str]:
        """Messages are plain text: nothing in them is ever a link or a script."""
        submitter = notice.submission.submitter or ""
        to = [submitter] if submitter.isdigit() else []
        if notice.event is Event.NEEDS_ORGANISER:
            to += self._organisers
        return list(dict.fromkeys(to))

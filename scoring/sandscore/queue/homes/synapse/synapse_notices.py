"""Notices to a team, each at most once: that it is being sent is written beside the status first.

Messages to teams, sent in the background: a full mailbox must not hold up the queue.
"""

import asyncio
import json
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.homes.synapse.synapse_statuses import Change, Seen, Statuses
from sandscore.queue.notices import NoticeLedger, send
from sandscore.queue.settings import Notices
from sandscore.records.submission import Event, Notice

_DRAIN_SECONDS = 45.0
_POLICY = {"retry_status_codes": [429], "retry_errors": [], "retry_exceptions": [], "retry_base_wait": 2.0}
"""Only 429 says for certain that nothing was sent; after any other failure a second try could send it twice."""


class Message(Struct, frozen=True):
    recipients: Sequence[str]
    subject: str
    text: str


class Mailbox:
    """One message after the other, in a task of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._waiting: asyncio.Queue[Message] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    def put(self, message: Message) -> None:
        """Taken over; it is sent soon."""
        self._waiting.put_nowait(message)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def close(self) -> None:
        """Send what is waiting, for a while."""
        if self._task is not None:
            _, left = await asyncio.wait({self._task}, timeout=_DRAIN_SECONDS)
            for task in left:
                task.cancel()
                warn(f"{self._waiting.qsize() + 1} messages were not sent")

    async def _work(self) -> None:
        while not self._waiting.empty():
            message = self._waiting.get_nowait()
            try:
                await self._session.call("sending a message", self._send(message))
            except InfrastructureFault as fault:
                warn(f"a message to {', '.join(message.recipients)} may not have arrived: {fault}")

    async def _send(self, message: Message) -> None:
        from synapseclient.core.upload.multipart_upload_async import multipart_upload_string_async

        client = self._session.client
        handle = await multipart_upload_string_async(client, message.text or message.subject, content_type="text/plain")
        body = {"recipients": list(message.recipients), "subject": message.subject, "fileHandleId": handle}
        await client.rest_post_async("/message", body=json.dumps(body), retry_policy=_POLICY)


class Notifier:
    """``mailbox`` is None where no messages are to be sent; the other channels are as for any home."""

    def __init__(
        self,
        statuses: Statuses,
        mailbox: Mailbox | None,
        settings: Notices,
        ledger: NoticeLedger,
        organisers: Sequence[str],
    ) -> None:
        self._statuses, self._mailbox, self._settings, self._ledger = statuses, mailbox, settings, ledger
        self._organisers = organisers

    async def notify(self, notice: Notice) -> bool:
        """Two machines that tell the same: the etag decides which of them does."""
        loop = asyncio.get_running_loop()

        def beside(told: Notice) -> None:
            loop.call_soon_threadsafe(self._by_message, told)

        try:
            if not self._settings.events & notice.event or not await self._first(notice):
                return False
        except InfrastructureFault as fault:
            warn(f"a notice about {notice.submission.id} was not sent: {fault}")
            return False
        channel = beside if self._mailbox is not None else None
        return await asyncio.to_thread(send, notice, self._settings, self._ledger, channel)

    async def _first(self, notice: Notice) -> bool:
        name = f"{notice.attempt}.{notice.submission.version}.{int(notice.event)}"

        def edit(now: Seen) -> Change | None:
            if name in now.record.told:
                return None
            return Change(replace(now.record, told=(*now.record.told, name)))

        return await self._statuses.change(notice.submission.id, edit)

    def _by_message(self, notice: Notice) -> None:
        """Messages are plain text: nothing in them is ever a link or a script."""
        submitter = notice.submission.submitter or ""
        to = [submitter] if submitter.isdigit() else []
        if notice.event is Event.NEEDS_ORGANISER:
            to += self._organisers
        if self._mailbox is not None and to:
            self._mailbox.put(Message(list(dict.fromkeys(to)), notice.words.view.subject, notice.words.view.text))

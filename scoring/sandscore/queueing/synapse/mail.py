"""Messages to teams, sent in the background: a full mailbox must not hold up the queue."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from sandscore.queueing.synapse.session import Session
from sandscore.queueing.warning import warn
from sandscore.records.errors import InfrastructureFault

_DRAIN_SECONDS = 45.0
_POLICY = {"retry_status_codes": [429], "retry_errors": [], "retry_exceptions": [], "retry_base_wait": 2.0}
"""Only 429 says for certain that nothing was sent; after any other failure a second try could send it twice."""


@dataclass(frozen=True, slots=True)
class Message:
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

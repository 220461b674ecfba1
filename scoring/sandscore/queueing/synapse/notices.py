"""Notices to a team, each at most once: that it is being sent is written beside the status first."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from sandscore.queueing.notifying.ledger import Ledger
from sandscore.queueing.notifying.sending import send
from sandscore.queueing.settings import Notices
from sandscore.queueing.submission import Event, Notice
from sandscore.queueing.synapse.mail import Mailbox, Message
from sandscore.queueing.synapse.statuses import Change, Seen, Statuses
from sandscore.queueing.warning import warn
from sandscore.records.errors import InfrastructureFault


class Notifier:
    """``mailbox`` is None where no messages are to be sent; the other channels are as for any home."""

    def __init__(
        self,
        statuses: Statuses,
        mailbox: Mailbox | None,
        settings: Notices,
        ledger: Ledger,
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
            self._mailbox.put(Message(list(dict.fromkeys(to)), notice.subject, notice.text))

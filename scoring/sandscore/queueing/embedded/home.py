"""The queue in one SQLite file. Calls are short, and whoever waits for the file could do nothing without it: so they
are made where they are asked for, and only mail and webhooks are sent in a thread of their own."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from sandscore.queueing.embedded.claims import Claims
from sandscore.queueing.embedded.database import Database
from sandscore.queueing.embedded.journal import Journal
from sandscore.queueing.embedded.orders import Orders
from sandscore.queueing.embedded.writer import Writer
from sandscore.queueing.notifying.ledger import Ledger
from sandscore.queueing.notifying.sending import send
from sandscore.queueing.submission import Claim, Committed, Notice, Signal, Status, Submission, Verdict, Version
from sandscore.queueing.workspace import Workspace
from sandscore.records.errors import InfrastructureFault, ParticipantFault


class EmbeddedHome:
    """Keeps the promises of ``QueueHome`` for the folder of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._ledger = Ledger(workspace.root)
        self._notices = ThreadPoolExecutor(1, "notices")
        self._database: Database | None = None

    async def open(self) -> None:
        self._database = Database(self._workspace.root)
        journal = Journal(self._workspace.root)
        self._writer = Writer(self._database)
        self._claims = Claims(self._database, self._workspace.settings)
        self._orders = Orders(self._database, journal)
        self._database.check()
        _catch_up(self._database, journal)

    async def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None
        self._notices.shutdown()

    async def submissions(self) -> Sequence[Submission]:
        return self._orders.submissions()

    async def claimable(self, most: int) -> Sequence[Submission]:
        return self._claims.claimable(most)

    async def seconds_until_claimable(self) -> float | None:
        return self._claims.seconds_until_claimable()

    async def claim(self, submission: Submission, owner: str, lease_seconds: float) -> Claim | None:
        return await self._writer.write(lambda to: self._claims.claim(to, submission, owner, lease_seconds))

    async def heartbeat(self, claim: Claim) -> Signal:
        return await self._writer.write(lambda to: self._claims.heartbeat(to, claim))

    async def fetch_predictions(self, claim: Claim, target: Path, most_bytes: int) -> None:
        self._fetch(claim, target, most_bytes)

    async def advance(self, claim: Claim, status: Status) -> Signal:
        return await self._writer.write(lambda to: self._claims.heartbeat(to, claim, status))

    async def commit(self, claim: Claim, verdict: Verdict) -> Committed:
        kept = None if verdict.folder is None else verdict.folder.relative_to(self._workspace.root)
        return await self._writer.write(lambda to: self._claims.commit(to, claim, replace(verdict, folder=kept)))

    async def release(self, claim: Claim, reason: str, *, our_fault: bool = True) -> bool:
        return await self._writer.write(lambda to: self._claims.release(to, claim, reason, our_fault))

    async def cancel(self, submission_id: str) -> bool:
        return self._orders.cancel(submission_id)

    async def requeue(self, submission_id: str) -> bool:
        return self._orders.requeue(submission_id)

    async def add_version(self, submission: Submission, version: Version) -> bool:
        return self._orders.add_version(submission.id, version)

    async def kept(self, submission: Submission) -> Path | None:
        folder = self._orders.folder_of(submission.id)
        return folder if folder is None else self._workspace.root / folder

    async def publish_feedback(self, submission: Submission, feedback: Mapping[str, object]) -> None:
        self._orders.publish_feedback(submission, feedback)

    async def notify(self, notice: Notice) -> bool:
        settings = self._workspace.settings.notices
        if settings.smtp is None and settings.webhook is None:
            return send(notice, settings, self._ledger)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._notices, send, notice, settings, self._ledger)

    async def publish(self, boards: Sequence[Path], site: Path) -> None:
        """They are shown from where they lie."""

    def _fetch(self, claim: Claim, target: Path, most_bytes: int) -> None:
        digest = self._orders.file_of(claim.submission.id)
        kept = self._workspace.files / str(digest)
        try:
            if kept.stat().st_size > most_bytes:
                raise ParticipantFault(f"the file has more than the {most_bytes:,} bytes allowed")
            try:
                os.link(kept, target)
            except FileExistsError:
                return
            except OSError:
                shutil.copyfile(kept, target)
        except OSError as fault:
            raise InfrastructureFault(f"the submitted file {kept} cannot be had: {fault.strerror}") from None


def _catch_up(database: Database, journal: Journal) -> None:
    with database.reading() as connection:
        behind = journal.behind(connection)
    if behind:
        with database.writing() as connection:
            journal.catch_up(connection)

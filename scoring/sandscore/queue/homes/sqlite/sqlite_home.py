"""The queue in one SQLite file. Calls are short, and whoever waits for the file could do nothing without it: so they
are made where they are asked for, and only mail and webhooks are sent in a thread of their own.

Changes that are asked for at the same moment share one transaction, and one wait for the disk.
"""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault, ParticipantFault, SandscoreError
from sandscore.queue.homes.sqlite.sqlite_admin import SqliteAdmin
from sandscore.queue.homes.sqlite.sqlite_claims import SqliteClaims
from sandscore.queue.homes.sqlite.sqlite_database import Database
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.notices import NoticeLedger, send
from sandscore.queue.worker import notice_text
from sandscore.queue.workspace import Workspace
from sandscore.records.released_view import LedgerLine, Released
from sandscore.records.submission import Claim, Committed, Notice, Signal, Status, Submission, Verdict, Version

_Done = TypeVar("_Done")


class _Asked(Struct, frozen=True):
    change: Callable[[sqlite3.Connection], Any]
    done: "asyncio.Future[Any]"


class Writer:
    """Each change looks for itself whether it may be made; together they are on disk or not there."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asked: list[_Asked] = []

    async def write(self, change: Callable[[sqlite3.Connection], _Done]) -> _Done:
        """What the change returns, once it is on disk."""
        loop = asyncio.get_running_loop()
        asked = _Asked(change, loop.create_future())
        if not self._asked:
            loop.call_soon(self._write)
        self._asked.append(asked)
        done: _Done = await asked.done
        return done

    def _write(self) -> None:
        asked, self._asked = self._asked, []
        self._together(asked)

    def _together(self, asked: Sequence[_Asked]) -> None:
        try:
            with self._database.writing() as connection:
                answers = [one.change(connection) for one in asked]
        except Exception as fault:
            if isinstance(fault, SandscoreError) or len(asked) == 1:
                _fail(asked, fault)
                return
            for one in asked:  # a bug of ours in one of them must not cost the others
                self._together([one])
            return
        for one, answer in zip(asked, answers, strict=True):
            if not one.done.done():
                one.done.set_result(answer)


def _fail(asked: Sequence[_Asked], fault: Exception) -> None:
    for one in asked:
        if not one.done.done():
            one.done.set_exception(fault)


class EmbeddedHome:
    """Keeps the promises of ``QueueHome`` for the folder of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._ledger = NoticeLedger(workspace.root)
        self._notices = ThreadPoolExecutor(1, "notices")
        self._database: Database | None = None

    async def open(self) -> None:
        self._database = Database(self._workspace.root)
        journal = SubmissionJournal(self._workspace.root)
        self._writer = Writer(self._database)
        self._claims = SqliteClaims(self._database, self._workspace.settings, lambda: self._workspace.challenge)
        self._orders = SqliteAdmin(self._database, journal)
        self._database.check()
        self._database.check_journal()
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
        claim = await self._writer.write(lambda to: self._claims.claim(to, submission, owner, lease_seconds))
        if claim is None:
            await self._tell_end(submission.id)
        return claim

    async def heartbeat(self, claim: Claim) -> Signal:
        return await self._writer.write(lambda to: self._claims.heartbeat(to, claim))

    async def fetch_predictions(self, claim: Claim, target: Path, most_bytes: int) -> None:
        self._fetch(claim, target, most_bytes)

    async def advance(self, claim: Claim, status: Status) -> Signal:
        return await self._writer.write(lambda to: self._claims.heartbeat(to, claim, status))

    async def commit(self, claim: Claim, verdict: Verdict) -> Committed:
        kept = None if verdict.folder is None else verdict.folder.relative_to(self._workspace.attempts.parent)
        return await self._writer.write(lambda to: self._claims.commit(to, claim, replace(verdict, folder=kept)))

    async def release(self, claim: Claim, reason: str, *, our_fault: bool = True) -> Committed:
        done = await self._writer.write(lambda to: self._claims.release(to, claim, reason, our_fault))
        await self._tell_end(claim.submission.id)
        return done

    async def rehearsed(self, claim: Claim, folder: Path) -> Committed:
        done = await self._writer.write(lambda to: self._claims.rehearsed(to, claim))
        await self._tell_end(claim.submission.id)
        return done

    async def cancel(self, submission_id: str) -> bool:
        done = self._orders.cancel(submission_id)
        if done:
            await self._tell_end(submission_id)
        return done

    async def _tell_end(self, submission_id: str) -> None:
        """Of what ended here without an attempt; of what ends in one, its worker tells."""
        one = self._orders.find(submission_id)
        notice = None if one is None else notice_text.ended_unseen(one)
        if notice is not None:
            try:
                await self.notify(notice)
            except InfrastructureFault as fault:
                warn(f"a notice about {submission_id} was not sent: {fault}")

    async def requeue(self, submission_id: str) -> bool:
        return self._orders.requeue(submission_id)

    async def add_version(self, submission: Submission, version: Version) -> bool:
        return await self._writer.write(lambda to: self._orders.add_version(to, submission.id, version))

    async def kept(self, submission: Submission) -> Path | None:
        folder = self._orders.folder_of(submission.id)
        return folder if folder is None else self._workspace.attempts.parent / folder

    async def publish_feedback(self, submission: Submission, feedback: Released[Mapping[str, object]]) -> None:
        self._orders.publish_feedback(submission, feedback)

    async def disclose(self, lines: Sequence[LedgerLine]) -> None:
        self._orders.disclose(lines)

    async def disclosed(self) -> Sequence[LedgerLine]:
        return self._orders.disclosed()

    async def notify(self, notice: Notice) -> bool:
        settings = self._workspace.settings.notices
        if settings.smtp is None and settings.webhook is None:
            return send(notice, settings, self._ledger)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._notices, send, notice, settings, self._ledger)

    async def publish(self, boards: Sequence[Path], site: Path) -> None:
        """They are shown from where they lie."""

    def _fetch(self, claim: Claim, target: Path, most_bytes: int) -> None:
        kept = self._workspace.files / str(claim.submission.content).removeprefix("sha256:")
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


def _catch_up(database: Database, journal: SubmissionJournal) -> None:
    with database.reading() as connection:
        behind = journal.behind(connection)
    if behind and not database.only_read:
        with database.writing():
            pass  # whoever writes has caught up

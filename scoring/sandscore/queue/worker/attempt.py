"""One submission from its claim to its verdict, whatever happens on the way."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from sandscore.base.errors import InfrastructureFault, ParticipantFault, SandscoreError
from sandscore.disclosure.released import CALLED_BACK, unpack
from sandscore.queue.attempt_files import PREDICTIONS, RUN
from sandscore.queue.challenge_limits import limits_of
from sandscore.queue.children.child_messages import (
    Blame,
    FaultAnswer,
    RunAnswer,
    ScoreAnswer,
    SubmissionRunRequest,
    score_request,
    unfinished,
)
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.team_release import TeamRelease
from sandscore.queue.worker import notice_text
from sandscore.queue.worker.executor import Hands
from sandscore.queue.worker.lease_watch import HeldLeases, Interrupted
from sandscore.queue.workspace import Workspace
from sandscore.records.released_view import Released
from sandscore.records.run_record import Outcome
from sandscore.records.submission import Claim, Committed, Notice, Signal, Status, SubmissionKind, Verdict

_Done = TypeVar("_Done")
_RETRY_SECONDS = 0.2


class Ending(Struct, frozen=True):
    """How an attempt ended, for the status table."""

    claim: Claim
    status: str
    reason: str | None = None


class _RunFailed(Exception):
    """An image's own fault: how its run ended, and a sentence that may hold what it was told."""

    def __init__(self, outcome: Outcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome


class Attempts:
    """Carries out attempts, as many at a time as it is asked to."""

    def __init__(self, home: QueueHome, workspace: Workspace, hands: Hands, leases: HeldLeases) -> None:
        self._home, self._workspace, self._hands, self._leases = home, workspace, hands, leases

    async def carry_out(self, claim: Claim) -> Ending:
        folder = self._workspace.attempt(claim.submission.id, claim.attempt, claim.nonce)
        try:
            async with self._leases.watching(claim):
                folder.parent.mkdir(parents=True, exist_ok=True)
                folder.mkdir()
                await self._tell(notice_text.started(claim))
                verdict = await self._verdict(claim, folder)
        except ParticipantFault as fault:  # of what was handed in: no note was near
            verdict = self._invalid(claim, folder, str(fault), about_notes=False)
        except _RunFailed as failed:
            verdict = self._invalid(claim, folder, f"{failed.outcome}: {failed}", outcome=str(failed.outcome))
        except Interrupted as interrupted:
            return await self._interrupted(claim, folder, interrupted.signal)
        except (SandscoreError, OSError) as fault:
            return await self._failed(claim, folder, _sentence(fault))
        return await self._commit(claim, folder, verdict)

    async def _verdict(self, claim: Claim, folder: Path) -> Verdict:
        submission, settings = claim.submission, self._workspace.settings
        if submission.kind is SubmissionKind.PREDICTIONS:
            await self._home.fetch_predictions(claim, folder / PREDICTIONS, settings.most_bytes)
        else:
            await self._run(claim, folder)
            signal = await self._home.advance(claim, Status.VALIDATED)
            if signal is not Signal.GO_ON:
                raise Interrupted(signal)
        answer = await self._hands.score(score_request(claim.submission, folder))
        if isinstance(answer, ScoreAnswer):
            told: Released[Mapping[str, object]] | None = unpack(answer.feedback) if answer.feedback else None
            signed = answer.signature
            return Verdict(Status.SCORED, scores=answer.scores, feedback=told, signature=signed, folder=folder)
        if isinstance(answer, FaultAnswer) and answer.blame is Blame.PARTICIPANT:
            return self._invalid(claim, folder, answer.reason, counts=answer.counts)
        raise InfrastructureFault(unfinished(answer))

    async def _run(self, claim: Claim, folder: Path) -> None:
        answer = await self._hands.run(self._run_job(claim, folder))
        if not isinstance(answer, RunAnswer):
            raise InfrastructureFault(unfinished(answer))
        if answer.outcome.ours:
            raise InfrastructureFault(str(answer.reason))
        if answer.outcome is not Outcome.FINISHED:
            raise _RunFailed(answer.outcome, str(answer.reason))

    def _invalid(self, claim: Claim, folder: Path, sentence: str, **facts: Any) -> Verdict:
        reason = TeamRelease(self._workspace, claim.submission).reason(sentence, **facts)
        return Verdict(Status.INVALID, reason, folder=folder)

    def _run_job(self, claim: Claim, folder: Path) -> SubmissionRunRequest:
        settings = self._workspace.settings
        return SubmissionRunRequest(
            task=claim.submission.task,
            image=claim.submission.image or "",
            notes=str(self._workspace.notes(claim.submission.phase)),
            folder=str(folder),
            protocol=settings.protocol,
            concurrency=settings.concurrency,
            limits=limits_of(self._workspace.challenge.limits),
            own_task=self._workspace.own_tasks.get(claim.submission.task),
        )

    async def _commit(self, claim: Claim, folder: Path, verdict: Verdict) -> Ending:
        verdict = TeamRelease(self._workspace, claim.submission).with_files(verdict)
        committed = await self._insist(claim, lambda: self._home.commit(claim, verdict))
        if committed is None:
            return Ending(claim, "STALE", "the queue could not be reached to commit it")
        if committed is Committed.STALE:
            shutil.rmtree(folder, ignore_errors=True)
            return Ending(claim, "STALE", "another worker has taken it over")
        if committed is Committed.CANCELLED:
            verdict = Verdict(Status.REJECTED, CALLED_BACK)
        sweep(folder)
        if verdict.status is not Status.SCORED or verdict.feedback is not None:
            await self._tell(notice_text.ended(claim, verdict))
        return Ending(claim, verdict.status, verdict.reason_text)

    async def _interrupted(self, claim: Claim, folder: Path, signal: Signal | None) -> Ending:
        if signal is Signal.CANCEL:
            return await self._commit(claim, folder, Verdict(Status.REJECTED, CALLED_BACK))
        shutil.rmtree(folder, ignore_errors=True)
        if signal is Signal.LOST:
            return Ending(claim, "STALE", "another worker has taken it over")
        await self._insist(claim, lambda: self._home.release(claim, "the worker was stopped", our_fault=False))
        return Ending(claim, Status.RECEIVED, "the worker was stopped")

    async def _failed(self, claim: Claim, folder: Path, reason: str) -> Ending:
        if not (folder / RUN).exists():
            shutil.rmtree(folder, ignore_errors=True)
        held = await self._insist(claim, lambda: self._home.release(claim, reason))
        helpless = claim.submission.failures + 1 >= self._workspace.settings.most_failures
        if held:
            await self._tell(notice_text.failed(claim, reason, helpless))
        return Ending(claim, "needs_organiser" if helpless else Status.RECEIVED, reason)

    async def _tell(self, notice: Notice) -> None:
        """A notice that cannot be sent is no reason to fail a submission."""
        with suppress(InfrastructureFault, OSError):
            await self._home.notify(notice)

    async def _insist(self, claim: Claim, call: Callable[[], Awaitable[_Done]]) -> _Done | None:
        """Again and again for as long as the lease could last; None where the home stays out of reach."""
        waited, pause = 0.0, _RETRY_SECONDS
        while True:
            try:
                return await call()
            except InfrastructureFault:
                if waited >= claim.lease_seconds:
                    return None
                await asyncio.sleep(pause)
                waited, pause = waited + pause, 2 * pause


def sweep(folder: Path) -> None:
    """Attempts that died without a run to look into leave nothing behind."""
    for other in folder.parent.iterdir():
        if other != folder and not (other / RUN).exists():
            shutil.rmtree(other, ignore_errors=True)


def _sentence(fault: Exception) -> str:
    if isinstance(fault, OSError):
        return f"the operating system refused: {fault.strerror}"
    return str(fault)

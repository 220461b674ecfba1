"""One submission from its claim to its verdict, whatever happens on the way."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.byte_sources import opened
from sandscore.base.clock import uptime
from sandscore.base.errors import InfrastructureFault, ParticipantFault, SandscoreError
from sandscore.base.whole_files import sync_folders, write_synced
from sandscore.containers.registries.image_pull import REGISTRY_FAILED
from sandscore.containers.registries.registry_list import for_team, require_allowed
from sandscore.disclosure.released import CALLED_BACK
from sandscore.queue.attempt_files import COPIES, EARLY_LOG, LOG, PREDICTIONS, REFUSED, REHEARSAL, RUN
from sandscore.queue.challenge_limits import limits_of, protocol_of
from sandscore.queue.children.child_messages import (
    TOO_COSTLY,
    Blame,
    FaultAnswer,
    RunAnswer,
    ScoreAnswer,
    SubmissionRunRequest,
    score_request,
    unfinished,
)
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.homes.home_registry import home_of
from sandscore.queue.phase_groups import copies_in
from sandscore.queue.team_release import TeamRelease
from sandscore.queue.worker import notice_text
from sandscore.queue.worker.executor import Hands
from sandscore.queue.worker.lease_watch import HeldLeases, Interrupted
from sandscore.queue.worker.ticks import seconds_to_tick
from sandscore.queue.workspace import Workspace
from sandscore.records.run_record import Outcome, RunRecord
from sandscore.records.submission import (
    CANCELLED,
    REHEARSED,
    Claim,
    Committed,
    Notice,
    Signal,
    Status,
    Submission,
    SubmissionKind,
    Verdict,
)

_Done = TypeVar("_Done")
_RETRY_SECONDS = 0.2
_LOOK_SECONDS = 1.0
_STOPPED = "the worker was stopped"
_TAKEN_OVER = "another worker has taken it over"


class Ending(Struct, frozen=True):
    """How an attempt ended, for the status table."""

    claim: Claim
    status: str
    reason: str | None = None


class _RunFailed(Exception):
    """An image's own fault: how its run ended, and a sentence that may hold what it was told."""

    def __init__(self, answer: RunAnswer, rehearsal: bool = False) -> None:
        super().__init__(f"{'the rehearsal on practice notes: ' if rehearsal else ''}{answer.outcome}: {answer.reason}")
        self.outcome, self.stage, self.rehearsal = str(answer.outcome), answer.stage, rehearsal
        self.counts = None if answer.code is None else {answer.code: 1}


class Attempts:
    """Carries out attempts, as many at a time as it is asked to."""

    def __init__(self, home: QueueHome, workspace: Workspace, hands: Hands, leases: HeldLeases) -> None:
        self._home, self._workspace, self._hands, self._leases = home, workspace, hands, leases
        self._container = asyncio.Semaphore()
        self._seconds: dict[str, float] = {}
        self.waiting_to_run = 0
        """Images that have not come to the end of their run."""

    async def carry_out(self, claim: Claim) -> Ending:
        folder = self._workspace.attempt(claim.submission.id, claim.attempt, claim.nonce)
        hidden = self._hidden(claim.submission)
        try:
            async with self._leases.watching(claim):
                folder.parent.mkdir(parents=True, exist_ok=True)
                folder.mkdir()
                if not self._rehearses(claim.submission):
                    await self._tell(notice_text.started(claim))
                verdict = await self._verdict(claim, folder)
        except ParticipantFault as fault:  # of what was handed in: no note was near
            verdict = self._invalid(claim, folder, str(fault), about_notes=False)
        except _RunFailed as failed:
            verdict = self._invalid(
                claim,
                folder,
                str(failed),
                outcome=failed.outcome,
                stage=failed.stage,
                rehearsal=failed.rehearsal,
                counts=failed.counts,
            )
        except Interrupted as interrupted:
            if hidden and interrupted.signal is Signal.CANCEL:
                await self._until_tick(claim)
            return await self._interrupted(claim, folder, interrupted.signal)
        except (SandscoreError, OSError) as fault:
            if hidden and not await self._until_tick(claim):
                return await self._interrupted(claim, folder, None)
            return await self._failed(claim, folder, _sentence(fault))
        if verdict is None:
            return await self._rehearsed(claim, folder)
        if hidden and not await self._until_tick(claim):
            return await self._interrupted(claim, folder, None)
        return await self._commit(claim, folder, verdict)

    def _hidden(self, one: Submission) -> bool:
        """Whether an image meets hidden notes: then nobody may see when it ends."""
        return one.kind is SubmissionKind.IMAGE and one.rehearsed and self._workspace.notes_hidden(one.phase)

    def _rehearses(self, one: Submission) -> bool:
        return one.kind is SubmissionKind.IMAGE and not one.rehearsed and self._workspace.notes_hidden(one.phase)

    async def _until_tick(self, claim: Claim) -> bool:
        """Keep the claim until then, whatever is said of it meanwhile; False where the worker stops before."""
        left, renewed = seconds_to_tick(), uptime()
        while not self._leases.halted:
            await asyncio.sleep(min(left, self._leases.pause, _LOOK_SECONDS))
            if uptime() - renewed >= self._leases.pause:
                renewed = uptime()
                with suppress(InfrastructureFault):
                    await self._home.heartbeat(claim)
            before, left = left, seconds_to_tick()
            if left > before:
                return True
        return False

    async def _verdict(self, claim: Claim, folder: Path) -> Verdict | None:
        """None where a rehearsal went well."""
        submission = claim.submission
        if submission.kind is SubmissionKind.PREDICTIONS:
            most = self._workspace.most_bytes(submission.phase)
            await self._home.fetch_predictions(claim, folder / PREDICTIONS, most)
        elif self._rehearses(submission):
            await self._rehearse(claim, folder)
            return None
        elif self._hidden(submission):
            await self._run_hidden(claim, folder)
        else:
            await self._run(claim, folder)
            signal = await self._home.advance(claim, Status.VALIDATED)
            if signal is not Signal.GO_ON:
                raise Interrupted(signal)
        answer = await self._hands.score(score_request(claim.submission, folder))
        if isinstance(answer, ScoreAnswer):
            told, signed = answer.told, answer.signature
            return Verdict(Status.SCORED, scores=answer.scores, feedback=told, signature=signed, folder=folder)
        if isinstance(answer, FaultAnswer) and answer.blame is Blame.PARTICIPANT:
            costly = TOO_COSTLY if answer.reason.startswith(TOO_COSTLY) else None
            how = (costly or str(Outcome.INVALID_OUTPUT), "validate") if self._hidden(submission) else (costly, None)
            return self._invalid(claim, folder, answer.reason, counts=answer.counts, outcome=how[0], stage=how[1])
        raise InfrastructureFault(unfinished(answer))

    async def _rehearse(self, claim: Claim, folder: Path) -> None:
        """Once a submission: one that went well before its worker died is not asked for again."""
        place = self._workspace.rehearsal(claim.submission.id)
        if (place / RUN).exists():
            return
        own = folder / REHEARSAL
        own.mkdir()
        job = replace(self._run_job(claim, own), practice=str(self._workspace.practice(claim.submission.phase)))
        answer = await self._ran(claim, job)
        if answer.outcome is not Outcome.FINISHED:
            raise _RunFailed(answer, rehearsal=True)
        released = await asyncio.to_thread(TeamRelease(self._workspace, claim.submission).rehearsal, own)
        await self._home.disclose([released.line])
        shutil.rmtree(place, ignore_errors=True)
        own.rename(place)
        sync_folders([place.parent])

    async def _rehearsed(self, claim: Claim, folder: Path) -> Ending:
        self._seconds.pop(claim.nonce, None)
        shutil.rmtree(folder, ignore_errors=True)
        place = self._workspace.rehearsal(claim.submission.id)
        done = await self._insist(claim, lambda: self._home.rehearsed(claim, place))
        return _handed_back(claim, done, REHEARSED)

    async def _run(self, claim: Claim, folder: Path) -> None:
        job = replace(self._run_job(claim, folder), masked=False)
        async with self._turn():
            answer = await self._ran(claim, job)
            await self._run_on_copies(claim, folder, answer)
        if answer.outcome is not Outcome.FINISHED:
            raise _RunFailed(answer)

    async def _run_on_copies(self, claim: Claim, folder: Path, answer: RunAnswer) -> None:
        """An image that did well also runs on the perturbed copies of its notes, of which none decides anything. What
        an attempt that died has run is not run again."""
        if answer.outcome is not Outcome.FINISHED:
            return
        one = claim.submission
        for copy in (await asyncio.to_thread(copies_in, self._workspace, one.task, one.phase)).there:
            place = folder / COPIES / copy.name
            job = replace(self._run_job(claim, place), notes=str(copy.notes), masked=self._hidden(one))
            if not await asyncio.to_thread(_usable, place, job):
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir(parents=True)
                await self._ran(claim, job)

    async def _run_hidden(self, claim: Claim, folder: Path) -> None:
        """What is said of it is one of so many words, none of which the image chooses freely."""
        job = self._run_job(claim, folder)
        async with self._turn():
            record = await self._earlier(claim, job, folder)
            answer = await self._ran(claim, job) if record is None else _answer_of(record)
            await self._run_on_copies(claim, folder, answer)
        if answer.outcome is not Outcome.FINISHED:
            raise _RunFailed(answer)

    async def _ran(self, claim: Claim, job: SubmissionRunRequest) -> RunAnswer:
        """How a run ended, if that was not because of us, and timed however it ends."""
        begun = uptime()
        try:
            answer = await self._hands.run(job)
        finally:
            self._seconds[claim.nonce] = self._seconds.get(claim.nonce, 0.0) + uptime() - begun
        if not isinstance(answer, RunAnswer):
            raise InfrastructureFault(unfinished(answer))
        if answer.outcome.ours:
            raise InfrastructureFault(str(answer.reason))
        return answer

    async def _earlier(self, claim: Claim, job: SubmissionRunRequest, folder: Path) -> RunRecord | None:
        """A run that ended while its worker waited for the tick, and whose worker then died: nobody has seen it yet."""
        committed = await self._home.kept(claim.submission)
        for other in sorted(folder.parent.iterdir()):
            if other not in (folder, committed) and other.name != REHEARSAL and (other / RUN).exists():
                record = await asyncio.to_thread(_taken_over, other, folder, job)
                if record is not None:
                    return record
        return None

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One container of a job at a time, but for a rehearsal."""
        self.waiting_to_run += 1
        try:
            async with self._container:
                yield
        finally:
            self.waiting_to_run -= 1

    def _invalid(self, claim: Claim, folder: Path, sentence: str, **facts: Any) -> Verdict:
        reason = TeamRelease(self._workspace, claim.submission).reason(sentence, **facts)
        return Verdict(Status.INVALID, reason, folder=folder)

    def _run_job(self, claim: Claim, folder: Path) -> SubmissionRunRequest:
        settings, images = self._workspace.settings, self._workspace.challenge.images
        limits = self._workspace.challenge.limits
        home, listed = home_of(self._workspace, {}).registries, images.registries
        team = images.team(claim.submission.team)
        require_allowed(claim.submission.image or "", listed, home, team)
        return SubmissionRunRequest(
            task=claim.submission.task,
            image=claim.submission.image or "",
            notes=str(self._workspace.notes(claim.submission.phase)),
            folder=str(folder),
            protocol=settings.protocol if limits.batch is None else protocol_of(limits),
            concurrency=limits.concurrency or settings.concurrency,
            limits=limits_of(limits),
            registries=for_team(home if listed is None else listed, team),
            registry_failed=(claim.submission.reason or "").startswith(REGISTRY_FAILED),
            own_task=self._workspace.own_tasks.get(claim.submission.task),
            engine=self._workspace.engine,
        )

    async def _commit(self, claim: Claim, folder: Path, verdict: Verdict) -> Ending:
        verdict = replace(verdict, seconds=self._seconds.pop(claim.nonce, 0.0))
        verdict = TeamRelease(self._workspace, claim.submission).with_files(verdict)
        committed = await self._insist(claim, lambda: self._home.commit(claim, verdict))
        if committed is None:
            return Ending(claim, "STALE", "the queue could not be reached to commit it")
        if committed is Committed.STALE:
            shutil.rmtree(folder, ignore_errors=True)
            return Ending(claim, "STALE", _TAKEN_OVER)
        if committed is Committed.CANCELLED:
            verdict = Verdict(Status.REJECTED, CALLED_BACK)
        sweep(folder)
        if verdict.status is not Status.SCORED or verdict.feedback is not None:
            await self._tell(notice_text.ended(claim, verdict))
        return Ending(claim, verdict.status, verdict.reason_text)

    async def _interrupted(self, claim: Claim, folder: Path, signal: Signal | None) -> Ending:
        if signal is Signal.CANCEL:
            return await self._commit(claim, folder, Verdict(Status.REJECTED, CALLED_BACK))
        if signal is not None or not self._hidden(claim.submission) or not (folder / RUN).exists():
            shutil.rmtree(folder, ignore_errors=True)
        self._seconds.pop(claim.nonce, None)
        if signal is Signal.LOST:
            return Ending(claim, "STALE", _TAKEN_OVER)
        done = await self._insist(claim, lambda: self._home.release(claim, _STOPPED, our_fault=False))
        return _handed_back(claim, done, _STOPPED)

    async def _failed(self, claim: Claim, folder: Path, reason: str) -> Ending:
        if not (folder / RUN).exists():
            shutil.rmtree(folder, ignore_errors=True)
        self._seconds.pop(claim.nonce, None)
        done = await self._insist(claim, lambda: self._home.release(claim, reason))
        helpless = claim.submission.failures + 1 >= self._workspace.settings.most_failures
        if done is Committed.DONE:
            await self._tell(notice_text.failed(claim, reason, helpless))
        return _handed_back(claim, done, reason, "needs_organiser" if helpless else Status.RECEIVED)

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


def _handed_back(claim: Claim, done: Committed | None, reason: str, status: str = Status.RECEIVED) -> Ending:
    """Where it stands now; who called it back has been told so by the home."""
    if done is None:
        return Ending(claim, "STALE", "the queue could not be reached to hand it back")
    if done is Committed.STALE:
        return Ending(claim, "STALE", _TAKEN_OVER)
    return Ending(claim, Status.REJECTED, CANCELLED) if done is Committed.CANCELLED else Ending(claim, status, reason)


def _answer_of(record: RunRecord) -> RunAnswer:
    return RunAnswer(record.outcome, record.reason, record.stage, record.code)


def _taken_over(other: Path, folder: Path, job: SubmissionRunRequest) -> RunRecord | None:
    """The files of another attempt's run, if it asked for the same and was not our fault; its record last."""
    try:
        if (record := _usable(other, job)) is None:
            return None
        if (other / COPIES).is_dir():
            (other / COPIES).rename(folder / COPIES)
        for name in (PREDICTIONS, REFUSED, EARLY_LOG, LOG, RUN):
            if (other / name).exists():
                write_synced(folder / name, (other / name).read_bytes())
        shutil.rmtree(other, ignore_errors=True)
    except (OSError, ValueError):
        return None
    return record


def _usable(place: Path, job: SubmissionRunRequest) -> RunRecord | None:
    """The record of a run that asked for the same, if it is whole and its end was not our fault."""
    try:
        record = RunRecord.model_validate_json((place / RUN).read_bytes())
    except (OSError, ValueError):
        return None
    with opened(job.notes) as notes:
        same = (record.limits, record.notes_sha256) == (job.limits, notes.sha256())
    return record if same and not record.outcome.ours else None


def sweep(folder: Path) -> None:
    """Attempts that died without a run to look into leave nothing behind."""
    for other in folder.parent.iterdir():
        if other != folder and not (other / RUN).exists():
            shutil.rmtree(other, ignore_errors=True)


def _sentence(fault: Exception) -> str:
    if isinstance(fault, OSError):
        return f"the operating system refused: {fault.strerror}"
    return str(fault)

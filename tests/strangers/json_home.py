"""A home of queues as somebody else's package would bring it: one JSON file, changed under a lock.

Its row is chosen with ``queue init DIR --home json-file``; an entry point of the group ``sandscore.homes`` names it.
"""

import asyncio
import fcntl
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from sandscore.base.clock import read, stamped, uptime, utc_now, wait_after, written
from sandscore.base.errors import InfrastructureFault, ParticipantFault
from sandscore.base.whole_files import write_synced
from sandscore.disclosure.released import CALLED_BACK, OVER_QUOTA
from sandscore.queue.failure_quota import Failure, failure_refusal, is_failure
from sandscore.queue.fair_turns import Turns
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.homes.home_row import Chosen, HomeRow
from sandscore.queue.new_submission import NewSubmission, checked, keep_file, quota_of, refusal
from sandscore.queue.notices import NoticeLedger, send
from sandscore.queue.queue_setup import NewQueue, QueueMade, found
from sandscore.queue.workspace import Workspace
from sandscore.records.released_view import LedgerLine, Released, lines_of, view_of
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
    Version,
)

FILE, PUBLIC = "queue.json", "public.json"
HELD = ("EVALUATION_IN_PROGRESS", "VALIDATED")
FREE = {"nonce": None, "owner": None, "until": 0.0}

Entry = dict[str, Any]


class JsonFileRow(HomeRow):
    """A queue in one JSON file."""

    name: ClassVar[str] = "json-file"
    description: ClassVar[str] = "a folder of this machine, with one JSON file"
    where: ClassVar[str] = "in a JSON file"
    making: ClassVar[str] = "With --home json-file it makes queue.json."

    def init(self, new: NewQueue) -> QueueMade:
        folder = Path(new.folder or "")
        made = found(folder, new.challenge, new.settings, lambda private: write_synced(private / FILE, b"{}"))
        return QueueMade(folder, made, {"options": list(new.chosen.get("home_options") or ())})

    def open(self, workspace: Workspace, chosen: Chosen) -> QueueHome:
        return JsonFileHome(workspace)

    def submit(self, workspace: Workspace, handed_in: NewSubmission) -> str:
        phase = checked(workspace, handed_in)
        kept = None if handed_in.predictions is None else keep_file(workspace, handed_in.predictions, phase)
        kind = SubmissionKind.IMAGE if handed_in.image else SubmissionKind.PREDICTIONS
        with _changing(workspace.private) as entries:
            quota, within = quota_of(workspace.challenge, phase)
            counted = [
                read(one["created"])
                for one in (entry["submission"] for entry in entries.values())
                if one["team"] == handed_in.team and within in (None, one["phase"]) and Status(one["status"]).counts
            ]
            failed = _failures(entries, handed_in.team, within)
            refused = refusal(quota, counted, utc_now())
            refused = refused or failure_refusal(workspace.challenge, phase, failed, utc_now())
            if refused is not None:
                raise ParticipantFault(refused)
            new = Submission(
                id=secrets.token_hex(6),
                team=handed_in.team,
                task=handed_in.task,
                kind=kind,
                status=Status.RECEIVED,
                created=stamped(utc_now()),
                phase=phase,
                image=handed_in.image,
                submitter=handed_in.submitter,
            )
            entries[new.id] = {"submission": msgspec.to_builtins(new), "file": kept, "losses": 0, "folder": None} | FREE
        return new.id


class JsonFileHome:
    """Keeps the promises of ``QueueHome``."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._root = workspace, workspace.private
        self._ledger = NoticeLedger(workspace.root)

    async def open(self) -> None:
        self._entries()

    async def close(self) -> None:
        """Nothing is held open."""

    async def submissions(self) -> Sequence[Submission]:
        return [_submission(entry) for entry in self._entries().values()]

    async def claimable(self, most: int) -> Sequence[Submission]:
        entries, turns = self._entries().values(), Turns()
        for entry in entries:
            one = entry["submission"]
            turns.running[one["team"]] += one["status"] in HELD and _wait(entry) != 0
            turns.today[one["team"]] += entry.get("day") == written(utc_now())[:10]
        waiting = [_submission(entry) for entry in entries if _wait(entry) == 0]
        return list(turns.ordered(waiting, lambda one: one.team))[:most]

    async def seconds_until_claimable(self) -> float | None:
        waits = [wait for entry in self._entries().values() if (wait := _wait(entry)) is not None]
        return min(waits, default=None)

    async def claim(self, submission: Submission, owner: str, lease_seconds: float) -> Claim | None:
        with _changing(self._root) as entries:
            entry = entries[submission.id]
            one = entry["submission"]
            if _wait(entry) != 0:
                return None
            if one["cancel_requested"]:
                _end(entry, Verdict(Status.REJECTED, CALLED_BACK))
                return None
            challenge, phase = self._workspace.challenge, one["phase"]
            failed = _failures(entries, one["team"], quota_of(challenge, phase)[1])
            if failure_refusal(challenge, phase, failed, utc_now()) is not None:
                _end(entry, Verdict(Status.REJECTED, OVER_QUOTA))
                return None
            if one["status"] in HELD:
                entry["losses"] += 1
                if entry["losses"] >= self._workspace.settings.most_losses:
                    one.update(status=Status.RECEIVED, needs_organiser=True)
                    return None
            one.update(status=Status.EVALUATION_IN_PROGRESS, attempt=one["attempt"] + 1, reason=None, not_before=None)
            nonce = secrets.token_hex(16)
            entry.update(nonce=nonce, owner=owner, until=uptime() + lease_seconds, day=written(utc_now())[:10])
            return Claim(_submission(entry), one["attempt"], owner, nonce, lease_seconds)

    async def heartbeat(self, claim: Claim) -> Signal:
        return self._beat(claim, None)

    async def fetch_predictions(self, claim: Claim, target: Path, most_bytes: int) -> None:
        content = (self._workspace.files / self._entries()[claim.submission.id]["file"]).read_bytes()
        if len(content) > most_bytes:
            raise ParticipantFault(f"the file has more than the {most_bytes:,} bytes allowed")
        write_synced(target, content)

    async def advance(self, claim: Claim, status: Status) -> Signal:
        return self._beat(claim, status)

    def _beat(self, claim: Claim, status: Status | None) -> Signal:
        with _changing(self._root) as entries:
            entry = entries[claim.submission.id]
            if not self.holds(entry, claim):
                return Signal.LOST
            entry["until"] = uptime() + claim.lease_seconds
            entry["submission"]["status"] = status or entry["submission"]["status"]
            return Signal.CANCEL if entry["submission"]["cancel_requested"] else Signal.GO_ON

    def holds(self, entry: Entry, claim: Claim) -> bool:
        return entry["submission"]["status"] in HELD and _is(entry, claim)

    async def commit(self, claim: Claim, verdict: Verdict) -> Committed:
        with _changing(self._root) as entries:
            entry = entries[claim.submission.id]
            if Status(entry["submission"]["status"]).final and _is(entry, claim):
                again = entry["submission"]["reason"] == CANCELLED
                return Committed.CANCELLED if again else Committed.DONE
            if not self.holds(entry, claim):
                return Committed.STALE
            called_back = entry["submission"]["cancel_requested"]
            _end(entry, Verdict(Status.REJECTED, CALLED_BACK) if called_back else verdict)
            return Committed.CANCELLED if called_back or verdict.reason_text == CANCELLED else Committed.DONE

    async def release(self, claim: Claim, reason: str, *, our_fault: bool = True) -> Committed:
        with _changing(self._root) as entries:
            entry = entries[claim.submission.id]
            one = entry["submission"]
            if not self.holds(entry, claim):
                return Committed.STALE
            if one["cancel_requested"]:
                _end(entry, Verdict(Status.REJECTED, CALLED_BACK))
                return Committed.CANCELLED
            settings = self._workspace.settings
            failures = one["failures"] + our_fault
            wait = wait_after(failures, settings.first_wait_seconds) if our_fault else 0.0
            helpless = our_fault and failures >= settings.most_failures
            one.update(status=Status.RECEIVED, reason=reason, failures=failures, needs_organiser=helpless)
            one["not_before"] = written(utc_now()) if wait else None
            entry.update(FREE | {"until": uptime() + wait, "losses": 0, "day": None})
            return Committed.DONE

    async def rehearsed(self, claim: Claim, folder: Path) -> Committed:
        with _changing(self._root) as entries:
            if not self.holds(entries[claim.submission.id], claim):
                return Committed.STALE
            entries[claim.submission.id]["submission"]["rehearsed"] = True
        return await self.release(claim, REHEARSED, our_fault=False)

    async def cancel(self, submission_id: str) -> bool:
        with _changing(self._root) as entries:
            entry = entries.get(submission_id)
            if entry is None or Status(entry["submission"]["status"]).final:
                return False
            entry["submission"]["cancel_requested"] = True
            if entry["submission"]["status"] == Status.RECEIVED:
                _end(entry, Verdict(Status.REJECTED, CALLED_BACK))
            return True

    async def requeue(self, submission_id: str) -> bool:
        with _changing(self._root) as entries:
            entry = entries.get(submission_id)
            if entry is None or (entry["submission"]["status"] in HELD and _wait(entry)):
                return False
            fresh = {"failures": 0, "needs_organiser": False, "cancel_requested": False, "not_before": None}
            entry["submission"].update(fresh | {"status": Status.RECEIVED, "reason": None, "finished": None})
            entry.update(FREE | {"losses": 0})
            return True

    async def add_version(self, submission: Submission, version: Version) -> bool:
        with _changing(self._root) as entries:
            one = entries[submission.id]["submission"]
            if one["version"] != version.number - 1:
                return False
            one.update(version=version.number, scores=dict(version.scores), feedback=view_of(version.feedback))
            _note(entries[submission.id], lines_of([version.feedback]))
            return True

    async def kept(self, submission: Submission) -> Path | None:
        folder = self._entries()[submission.id]["folder"]
        return None if folder is None else Path(folder)

    async def publish_feedback(self, submission: Submission, feedback: Released[Mapping[str, object]]) -> None:
        with _changing(self._root) as entries:
            entries[submission.id]["submission"]["feedback"] = dict(feedback.view)
            _note(entries[submission.id], [feedback.line])

    async def disclose(self, lines: Sequence[LedgerLine]) -> None:
        with _changing(self._root) as entries:
            for line in lines:
                if line.submission is not None:
                    _note(entries[line.submission], [line])
        public = [line for line in lines if line.submission is None]
        with _changing(self._root, PUBLIC) as ledger:
            _note(ledger, public)

    async def disclosed(self) -> Sequence[LedgerLine]:
        with _changing(self._root, PUBLIC) as ledger:
            found = list(ledger.get("ledger", {}).values())
        for entry in self._entries().values():
            found += entry.get("ledger", {}).values()
        return msgspec.convert(found, list[LedgerLine])

    async def notify(self, notice: Notice) -> bool:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, send, notice, self._workspace.settings.notices, self._ledger)

    async def publish(self, boards: Sequence[Path], site: Path) -> None:
        """They are shown from where they lie."""

    def _entries(self) -> dict[str, Entry]:
        try:
            found: dict[str, Entry] = json.loads((self._root / FILE).read_bytes())
        except OSError as fault:
            raise InfrastructureFault(f"{self._root / FILE} cannot be read: {fault.strerror}") from None
        return found


@contextmanager
def _changing(root: Path, file: str = FILE) -> Iterator[dict[str, Entry]]:
    """All entries, for one who may change them; written whole."""
    with (root / f".{FILE}.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        there = (root / file).exists() or file == FILE
        entries: dict[str, Entry] = json.loads((root / file).read_bytes()) if there else {}
        yield entries
        write_synced(root / file, json.dumps(entries).encode())


def _note(entry: Entry, lines: Sequence[LedgerLine]) -> None:
    """Into the ledger, each line once."""
    whose, ledger = entry.get("submission", {}), entry.setdefault("ledger", {})
    for line in lines:
        own = {"team": whose.get("team"), "submission": whose.get("id"), "when": written(utc_now())}
        ledger.setdefault(f"{line.what} {line.mark}", msgspec.to_builtins(line) | own)


def _failures(entries: dict[str, Entry], team: str, phase: str | None) -> list[Failure]:
    mine = [one for one in map(_submission, entries.values()) if one.team == team and phase in (None, one.phase)]
    return [
        Failure(read(str(one.finished)), one.spent) for one in mine if is_failure(one.status, one.reason, one.attempt)
    ]


def _submission(entry: Entry) -> Submission:
    return msgspec.convert(entry["submission"], Submission)


def _wait(entry: Entry) -> float | None:
    """Seconds until it can be claimed; None never."""
    one = entry["submission"]
    if one["needs_organiser"] or Status(one["status"]).final:
        return None
    return max(0.0, float(entry["until"]) - uptime())


def _is(entry: Entry, claim: Claim) -> bool:
    return (entry["submission"]["attempt"], entry["nonce"]) == (claim.attempt, claim.nonce)


def _end(entry: Entry, verdict: Verdict) -> None:
    one, scored = entry["submission"], verdict.status is Status.SCORED
    told = {"reason": verdict.reason_text, "feedback": view_of(verdict.feedback)}
    one.update(status=verdict.status, scores=dict(verdict.scores), **told)
    _note(entry, verdict.lines)
    one.update(spent=verdict.seconds, finished=written(utc_now()), version=one["version"] + scored, failures=0)
    entry.update(folder=None if verdict.folder is None else str(verdict.folder), until=0.0, losses=0)

"""The protocol of a queue's home: all that the worker knows of it.

The queue alone is the truth: whatever a worker holds in memory or on its disk can be lost at any moment.

- A submission is worked on only under a claim, written before anything is started.
- Every result carries the claim's attempt number as a fence; a home takes a result only from the claim it holds now.
  So each submission is committed at most once per attempt, and only the latest attempt counts.
- INVALID is for the participant's fault alone. A cancelled submission ends REJECTED with the reason ``cancelled``.
- A failure of ours puts the submission back to RECEIVED, costs no quota, and waits longer each time; after
  ``most_failures`` in a row it stays RECEIVED with ``needs_organiser`` and is not claimed until it is requeued.

Methods raise ``InfrastructureFault`` where the home cannot be reached or cannot write; the worker tries again later.
They never raise for a lost race: that is an answer.
"""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from sandscore.queue.new_submission import NewSubmission, TeamSlots
from sandscore.queue.workspace import Workspace
from sandscore.records.released_view import LedgerLine, Released
from sandscore.records.submission import Claim, Committed, Notice, Signal, Status, Submission, Verdict, Version


class QueueHome(Protocol):
    """Async, one event loop; calls for different claims may be under way at once. Every method may be called again
    after a crash with the same arguments."""

    async def open(self) -> None:
        """Connect and check that the queue is there and may be written."""

    async def close(self) -> None:
        """Let go of connections; safe to call twice."""

    async def submissions(self) -> Sequence[Submission]:
        """All submissions, oldest first: a whole list, read before anything is changed."""

    async def claimable(self, most: int) -> Sequence[Submission]:
        """Up to ``most`` that a claim may succeed for now, a whole list, in the order of their teams' turns: the team
        with the fewest running, then the fewest run today, then the oldest (``queue.fair_turns``).

        RECEIVED, or begun under a lease that has run out; not waiting out a back-off; not ``needs_organiser``.
        """

    async def seconds_until_claimable(self) -> float | None:
        """Until a back-off ends or a lease runs out; 0 if something can be claimed now; None if nothing is left.

        ``--once`` ends when this is None: no submission is waiting, backing off or in progress anywhere.
        """

    async def claim(self, submission: Submission, owner: str, lease_seconds: float) -> Claim | None:
        """Take it: EVALUATION_IN_PROGRESS, attempt number raised by one, lease and owner written.

        None if another got it first. A write whose answer was lost is recognised as our own by the nonce.
        """

    async def heartbeat(self, claim: Claim) -> Signal:
        """Renew the lease; LOST if it is no longer ours, CANCEL if the team asked to cancel."""

    async def fetch_predictions(self, claim: Claim, target: Path, most_bytes: int) -> None:
        """Copy the submitted file to ``target``, a name of ours, whole and synced.

        Raises ``ParticipantFault`` with a reason for the team where what was submitted is no acceptable file
        (too large, an outside handle), ``InfrastructureFault`` where it cannot be had just now.
        """

    async def advance(self, claim: Claim, status: Status) -> Signal:
        """Record VALIDATED, where that costs little: the predictions exist and are valid. Same answers as
        ``heartbeat``."""

    async def commit(self, claim: Claim, verdict: Verdict) -> Committed:
        """Write the verdict, its lines of the ledger, and end the claim, in one step, if the claim is still current.

        STALE and nothing written if it is not. If a cancel was asked for and not yet seen, REJECTED ``cancelled``
        is written instead of the verdict, and the answer is CANCELLED. A repeated commit of the same claim (the
        first answer was lost) is DONE again.
        """

    async def release(self, claim: Claim, reason: str, *, our_fault: bool = True) -> Committed:
        """Hand it back to RECEIVED. ``our_fault=False``: a clean stop, no failure is counted and nothing waits.

        A cancel that was asked for meanwhile is honoured: REJECTED ``cancelled``, and the answer is CANCELLED. STALE
        and nothing written where the claim was.
        """

    async def rehearsed(self, claim: Claim, folder: Path) -> Committed:
        """Its image has done well on the practice notes, and all of that lies in the folder, for its team.

        Handed back to RECEIVED as by ``release(our_fault=False)``, and ``rehearsed`` from now on, whatever happens.
        """

    async def cancel(self, submission_id: str) -> bool:
        """Ask for it: REJECTED at once where nobody works on it, else at the worker's next heartbeat.

        False if it has ended already.
        """

    async def requeue(self, submission_id: str) -> bool:
        """An organiser's second chance: RECEIVED, failures forgotten, the attempt number kept. False: in progress."""

    async def add_version(self, submission: Submission, version: Version) -> bool:
        """Keep a rescored result beside the old; False if ``version.number`` is not the current version plus one."""

    async def kept(self, submission: Submission) -> Path | None:
        """The folder of the attempt that was committed, on this machine (fetched if need be); None if it is gone.

        ``artifacts.card_name(submission.version)`` in it is the organiser's card.
        """

    async def publish_feedback(self, submission: Submission, feedback: Released[Mapping[str, object]]) -> None:
        """Set what the team may be told, where the verdict left it open (``feedback=None``), and commit its line in the
        same step. Called by one writer."""

    async def disclose(self, lines: Sequence[LedgerLine]) -> None:
        """Write these into the ledger before what they are about is shown. A line that is there already (the same
        submission, ``what`` and ``mark``) is not written twice."""

    async def disclosed(self) -> Sequence[LedgerLine]:
        """The whole ledger, oldest first."""

    async def notify(self, notice: Notice) -> bool:
        """Send it at most once: that it is being sent is recorded first. False if it was recorded before.

        A channel that fails is a warning on stderr, never a failure of the submission.
        """

    async def publish(self, boards: Sequence[Path], site: Path) -> None:
        """Boards and site were rebuilt here: bring them to where the home shows them (nothing to do for a folder)."""


class ErasedSubmissions(Struct, frozen=True):
    """What there is of a team that is to be forgotten: its submissions, what it called them, and files of its alone."""

    ids: Sequence[str]
    names: Sequence[str]
    files: Sequence[str]


class SubmissionDoor(Protocol):
    """What a server asks of a home for the teams that hand in to it: short calls, all of them from one thread.

    Whatever is said of a team's submission is said to that team: nobody is told that another one's exists.
    """

    def close(self) -> None:
        """Let go of connections."""

    def submit(self, workspace: Workspace, entry: NewSubmission) -> str:
        """As ``HomeRow.submit``; phase, quota and key are looked at in the step that takes it in."""

    def knows(self, team: str, key: str) -> bool:
        """Whether the team has handed something in under that key."""

    def slots(self, workspace: Workspace, team: str, phase: str | None, now: datetime.datetime) -> TeamSlots:
        """Its quota as it stands."""

    def submissions(self, team: str) -> Sequence[Submission]:
        """The team's own, oldest first."""

    def find(self, team: str, submission_id: str) -> Submission | None:
        """One of the team's own."""

    def folder(self, workspace: Workspace, submission_id: str) -> Path | None:
        """Of the attempt that was committed."""

    def cancel(self, submission_id: str) -> bool:
        """As the home does it."""

    def changes(self) -> Sequence[int]:
        """Other numbers than before wherever anything may have changed; cheap to ask for."""

    def refused_before(self, moment: str) -> set[str]:
        """The SHA-256 of files that were handed in for nothing but what ended INVALID before that moment."""

    def invalid_before(self, moment: str) -> set[str]:
        """Submissions that ended INVALID before that moment."""

    def teams(self) -> set[str]:
        """All that have handed something in."""

    def submissions_to_erase(self, team: str) -> ErasedSubmissions:
        """What goes with the team."""

    def erase(self, team: str, pseudonym: str) -> None:
        """The team's name is the pseudonym from now on, wherever the home has written it; what is not done is called
        back, and what it called its submissions, its keys and its addresses are gone."""

"""The state of a queue in numbers: what waits, runs and has ended, for how long, on what disk; for people and programs.

Whoever scrapes it reads Prometheus' text form (https://prometheus.io/docs/instrumenting/exposition_formats/).
"""

import datetime
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import asdict

from sandscore.base.clock import read, utc_now
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.challenges.challenge_reading import rules_for
from sandscore.queue.draining import is_draining
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Status, Submission

if TYPE_CHECKING:
    from sandscore.queue.homes.home_row import HomeRow

RUNNING = (Status.EVALUATION_IN_PROGRESS, Status.VALIDATED)


class AttemptFacts(Struct, frozen=True):
    """Attempts that have ended: how many by their outcome, and the seconds that containers ran in them."""

    outcomes: Mapping[str, int] = {}
    seconds: float = 0.0

    @property
    def takeovers(self) -> int:
        """Leases that ran out under a worker that is gone."""
        return self.outcomes.get("lost", 0)


class QueueStatus(Struct, frozen=True):
    """The numbers of one moment. ``ended`` is by status; ages are seconds."""

    waiting: int
    running: int
    needs_organiser: int
    ended: dict[str, int]
    teams: int
    oldest_waiting_seconds: float
    attempts: dict[str, int]
    lease_takeovers: int
    run_seconds: float
    free_bytes: int
    draining: bool = False

    def to_dict(self) -> dict[str, object]:
        """For programs."""
        return asdict(self)


def ranking_scores(workspace: Workspace, found: Sequence[Submission]) -> dict[str, float]:
    """The score that ranks each submission that has one; none where the rules do not hold together."""
    headlines: dict[tuple[str, str | None], str | None] = {}
    for one in found:
        key = one.task, one.phase
        if key not in headlines:
            try:
                headlines[key] = rules_for(workspace.challenge, *key)[0].headline
            except (OrganiserFault, UsageFault):
                headlines[key] = None
    scores = {one.id: one.scores.get(headlines[one.task, one.phase] or "") for one in found}
    return {name: score for name, score in scores.items() if score is not None}


def status_of(
    workspace: Workspace, row: "HomeRow", found: Sequence[Submission], now: datetime.datetime | None = None
) -> QueueStatus:
    """From the queue's list of submissions, and what its home knows of attempts."""
    facts, now = row.attempt_facts(workspace), now or utc_now()
    waiting = [one for one in found if one.status is Status.RECEIVED and not one.needs_organiser]
    came = [read(one.created) for one in waiting]
    return QueueStatus(
        waiting=len(waiting),
        running=sum(one.status in RUNNING for one in found),
        needs_organiser=sum(one.needs_organiser for one in found),
        ended=dict(sorted(Counter(str(one.status) for one in found if one.status.final).items())),
        teams=len({one.team for one in found}),
        oldest_waiting_seconds=max((max(0.0, (now - moment).total_seconds()) for moment in came), default=0.0),
        attempts=dict(sorted(facts.outcomes.items())),
        lease_takeovers=facts.takeovers,
        run_seconds=facts.seconds,
        free_bytes=shutil.disk_usage(workspace.root).free,
        draining=is_draining(workspace.root),
    )


def prometheus(status: QueueStatus) -> str:
    """The text that a Prometheus server scrapes."""
    return "\n".join(_families(status)) + "\n"


def _families(status: QueueStatus) -> Iterator[str]:
    gauges = {
        "waiting": ("Submissions that wait for a worker.", status.waiting),
        "running": ("Submissions that a worker has claimed.", status.running),
        "needs_organiser": ("Submissions that failed too often and wait for the organiser.", status.needs_organiser),
        "teams": ("Teams that have handed in.", status.teams),
        "oldest_waiting_seconds": ("Age of the oldest submission that waits.", status.oldest_waiting_seconds),
        "draining": ("Whether workers claim nothing.", int(status.draining)),
        "free_bytes": ("Free space on the disk of the queue's folder.", status.free_bytes),
    }
    for name, (told, value) in gauges.items():
        yield from _family(name, "gauge", told, [("", value)])
    ended = [(f'{{status="{name}"}}', count) for name, count in status.ended.items()]
    yield from _family("ended", "gauge", "Submissions that have ended, by status.", ended)
    outcomes = [(f'{{outcome="{_escaped(name)}"}}', count) for name, count in status.attempts.items()]
    yield from _family("attempts_total", "counter", "Attempts that have ended, by outcome.", outcomes)
    takeovers = "Leases taken over from workers that were gone."
    yield from _family("lease_takeovers_total", "counter", takeovers, [("", status.lease_takeovers)])
    seconds = "Seconds that containers of submissions ran."
    yield from _family("run_seconds_total", "counter", seconds, [("", status.run_seconds)])


def _family(name: str, kind: str, told: str, samples: Sequence[tuple[str, float]]) -> Iterator[str]:
    whole = f"sandscore_queue_{name}"
    yield f"# HELP {whole} {told}"
    yield f"# TYPE {whole} {kind}"
    yield from (f"{whole}{labels} {value!r}" for labels, value in samples)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')

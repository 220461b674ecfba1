"""Fires every case at a configuration and says, for each, whether it was contained and called by its name."""

import hashlib
import itertools
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sandscore.records.run import Limits, Outcome, RunRecord
from sandscore.running.container import sandbox
from sandscore.running.engine import engine
from sandscore.running.hostile.cases import CASES, Case
from sandscore.running.hostile.images import HostileImages, hostile_images
from sandscore.running.images import find_image
from sandscore.running.isolation import own_network
from sandscore.running.leftovers import labels, remaining
from sandscore.running.logwatch import LogWatch
from sandscore.running.notes import Note
from sandscore.running.running import Job, Run, run
from sandscore.running.setting import Annotator, Isolation
from sandscore.tasks import find_task

if TYPE_CHECKING:
    from docker import DockerClient

ESCAPED = "ESCAPED: "
CANARY = "sandscore-canary"
_PATIENCE = 3.0
_NOTES = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """``complaints`` is empty where the case was contained."""

    case: Case
    outcome: str
    complaints: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.complaints


def attack(
    limits: Limits,
    isolation: Isolation = "best",
    cases: Iterable[Case] = CASES,
    report: Callable[[Verdict], None] = lambda _: None,
) -> list[Verdict]:
    """All verdicts; each is reported as soon as it is known."""
    verdicts = []
    prefix = f"sandscore-attack-{os.getpid()}"
    with (
        engine() as client,
        hostile_images(client, prefix) as images,
        _secret(),
        _host() as host,
        _neighbour(client, images.image("harmless"), limits) as neighbour,
    ):
        for case in cases:
            verdict = fire(client, images, case, limits, [*host, neighbour], isolation)
            verdicts.append(verdict)
            report(verdict)
    return verdicts


def fire(
    client: "DockerClient",
    images: HostileImages,
    case: Case,
    limits: Limits,
    targets: Iterable[str] = (),
    isolation: Isolation = "best",
) -> Verdict:
    """One case against a configuration whose waits are shortened."""
    begun = time.monotonic()
    before = set(remaining(client))
    notes = attack_notes(targets)
    job = Job(
        task=find_task("date"),
        annotator=Annotator("image", images.image(case.name), case.protocol, isolation),
        notes=notes,
        notes_sha256=hashlib.sha256(b"attack").hexdigest(),
        limits=shortened(limits, case),
        check_robustness=case.check == "robustness",
        check_determinism=case.check == "determinism",
    )
    done = run(job)
    left = sorted(set(remaining(client)) - before)
    complaints = [*_complaints(case, done), *(f"left behind: {thing}" for thing in left)]
    return Verdict(case, done.record.outcome, tuple(complaints), time.monotonic() - begun)


def shortened(limits: Limits, case: Case) -> Limits:
    """The organiser's limits; an attack that waits for ever is waited for less."""
    patience: dict[str, float] = {}
    if Outcome.NEVER_READY in case.expected:
        patience["ready_seconds"] = _PATIENCE
    elif Outcome.TIMED_OUT in case.expected:
        patience["total_seconds" if case.protocol == "batch" else "note_seconds"] = _PATIENCE
    return limits.model_copy(update={key: min(getattr(limits, key), most) for key, most in patience.items()})


def attack_notes(targets: Iterable[str]) -> list[Note]:
    """A few notes of no meaning that name the addresses to be tried."""
    named = " ".join(f"target={target}" for target in targets)
    return [Note(f"note-{i}", f"note-{i}", f"Note {i}. {named}") for i in range(_NOTES)]


def _complaints(case: Case, done: Run) -> Iterator[str]:
    record: RunRecord = done.record
    if record.outcome not in case.expected:
        expected = " or ".join(case.expected)
        yield f"ended as {record.outcome} instead of {expected}: {record.reason}"
    if case.check is not None:
        check = getattr(record, case.check)
        if check is None or check.passed:
            yield f"the {case.check} check did not notice"
    yield from (line.partition(ESCAPED)[2] for line in done.log.splitlines() if ESCAPED in line)


@contextmanager
def _secret() -> Iterator[None]:
    """A marker in the harness's environment and in a file of the host, for the gold hunt to find."""
    value = f"{CANARY}-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory(prefix=value) as folder:
        (Path(folder) / f"{CANARY}.json").write_text(value, encoding="utf-8")
        os.environ["SANDSCORE_CANARY"] = value
        try:
            yield
        finally:
            del os.environ["SANDSCORE_CANARY"]


@contextmanager
def _host() -> Iterator[list[str]]:
    """A listener on all addresses of the host, under each of the addresses it can be reached at."""
    with socket.create_server(("", 0)) as listener:
        port = listener.getsockname()[1]
        yield [f"{address}:{port}" for address in sorted(_addresses())]


@contextmanager
def _neighbour(client: "DockerClient", reference: str, limits: Limits) -> Iterator[str]:
    """Another submission, on a network where it has an address."""
    image = find_image(client, reference, limits)
    marks = labels(f"neighbour-{secrets.token_hex(4)}", 3600)
    with (
        own_network(client, marks) as apart,
        sandbox(client, image, limits, marks, apart.network, {}, LogWatch(0)) as box,
    ):
        yield apart.door(box.attributes()).host


def _addresses() -> set[str]:
    """Addresses of this host: its names', the engine's bridges'."""
    found = {"127.0.0.1"}
    try:
        found |= {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    except OSError:
        found.add("127.0.1.1")
    routes = Path("/proc/net/fib_trie")
    if routes.exists():
        lines = routes.read_text(encoding="ascii").splitlines()
        pairs = itertools.pairwise(lines)
        found |= {line.split()[-1] for line, after in pairs if "/32 host LOCAL" in after and "|--" in line}
    return found

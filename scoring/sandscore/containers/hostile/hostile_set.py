"""Fires every case at a configuration and says, for each, whether it was contained and called by its name.

What is fired, what it is meant to end in, and which limits are shortened so that waiting for it ends.
"""

import hashlib
import itertools
import os
import secrets
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.containers.annotation_run import FinishedRun, RunJob, run
from sandscore.containers.engines.engine_protocol import Engine, labels
from sandscore.containers.engines.engine_registry import connected
from sandscore.containers.hostile.hostile_images import HostileImages, hostile_images
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.run_context import Annotator, Isolated
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import Outcome, Protocol, RunLimits, RunRecord
from sandscore.task_table.task import find_task

FINISHED, INVALID = Outcome.FINISHED, Outcome.INVALID_OUTPUT
CRASHED, LATE, MEMORY = Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY


class Case(Struct, frozen=True):
    """``expected`` outcomes; ``check`` names the check that must be failed, where finishing is not the point."""

    name: str
    tries: str
    expected: tuple[Outcome, ...]
    protocol: Protocol = "service"
    check: str | None = None


def _service(name: str, tries: str, *expected: Outcome, check: str | None = None) -> Case:
    return Case(name, tries, expected, check=check)


def _batch(name: str, tries: str, *expected: Outcome) -> Case:
    return Case(name, tries, expected, "batch")


CASES: tuple[Case, ...] = (
    _service("harmless", "nothing: the control", FINISHED),
    _service("fork-bomb", "doubles its processes for ever", FINISHED, CRASHED, LATE, INVALID, MEMORY),
    _service("memory-bomb", "doubles its memory for ever, in a child", MEMORY),
    _service("disk-filler", "fills every folder, an image's VOLUME too", FINISHED, MEMORY),
    _service("log-flood", "writes its log without end", INVALID),
    _service("endless-answer", "answers without end", INVALID),
    _service("dripped-answer", "answers one byte a second", LATE),
    _service("endless-continue", "answers '100 Continue' for ever", LATE, INVALID),
    _service("long-announced", "announces 100 GB", INVALID),
    _service("compressed-answer", "answers with a compressed bomb", INVALID),
    _service("huge-answer", "answers with more than any note has", INVALID),
    _service("deep-json", "nests its answer 100,000 deep", INVALID),
    _service("nan-json", "answers a number that is none", INVALID),
    _service("wrong-text", "answers with a text that the note does not have", INVALID),
    _service("redirect", "has the note sent elsewhere", INVALID),
    _service("crash-midway", "dies at the third note", CRASHED),
    _service("never-ready", "opens its port and answers 500", Outcome.NEVER_READY),
    _service("ignores-sigterm", "does not stop when asked to", FINISHED),
    _service("reaches-internet", "looks for routes, names and hosts outside", FINISHED),
    _service("reaches-metadata", "asks the cloud's metadata address", FINISHED),
    _service("reaches-targets", "connects to the host and to another submission", FINISHED),
    _service("docker-socket", "looks for the engine's socket", FINISHED),
    _service("writes-outside", "writes, mounts, makes devices, runs what it wrote", FINISHED),
    _service("gold-hunt", "looks for a secret in environment, mounts, /proc and files", FINISHED),
    _service("remembers-notes", "answers a note differently the second time", FINISHED, check="robustness"),
    _service("random-answers", "throws a coin for each note", FINISHED, check="determinism"),
    _batch("link-out", "hands out a link to a file of the host", INVALID),
    _batch("fifo-out", "hands out a FIFO, which never ends", INVALID),
    _batch("folder-out", "hands out a folder", INVALID),
    _batch("device-out", "hands out a device", INVALID, CRASHED),
    _batch("sparse-out", "hands out a terabyte of nothing", INVALID),
    _batch("no-output", "hands out nothing", INVALID),
    _batch("many-files", "hands out 20,000 files with evil names", INVALID),
    _batch("full-output", "fills the folder for results", INVALID, MEMORY),
    _batch("changes-notes", "changes the notes it is given", INVALID),
    _batch("never-ends", "sleeps for ever", LATE),
    _batch("bad-exit", "ends with exit code 3", CRASHED),
    _batch("child-memory", "kills a child for memory and ends well", MEMORY),
)


def choose(names: Iterable[str]) -> tuple[Case, ...]:
    """The cases of these names, or all."""
    by_name = {case.name: case for case in CASES}
    if unknown := [name for name in names if name not in by_name]:
        raise UsageFault(f"no attack is called '{unknown[0]}'; there are {', '.join(by_name)}")
    return tuple(by_name[name] for name in names) or CASES


ESCAPED = "ESCAPED: "
CANARY = "sandscore-canary"
_PATIENCE = 3.0
_NOTES = 8


class AttackVerdict(Struct, frozen=True):
    """``complaints`` is empty where the case was contained."""

    case: Case
    outcome: str
    complaints: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.complaints


def attack(
    limits: RunLimits,
    isolation: Isolated = "best",
    cases: Iterable[Case] = CASES,
    report: Callable[[AttackVerdict], None] = lambda _: None,
    engine: str | None = None,
) -> list[AttackVerdict]:
    """All verdicts; each is reported as soon as it is known."""
    verdicts = []
    prefix = f"sandscore-attack-{os.getpid()}"
    with (
        connected(engine) as reached,
        hostile_images(reached, prefix) as images,
        _secret(),
        _host() as host,
        _neighbour(reached, images.image("harmless"), limits) as neighbour,
    ):
        for case in cases:
            verdict = fire(reached, images, case, limits, [*host, neighbour], isolation)
            verdicts.append(verdict)
            report(verdict)
    return verdicts


def fire(
    engine: Engine,
    images: HostileImages,
    case: Case,
    limits: RunLimits,
    targets: Iterable[str] = (),
    isolation: Isolated = "best",
) -> AttackVerdict:
    """One case against a configuration whose waits are shortened."""
    begun = time.monotonic()
    before = set(engine.remaining())
    notes = attack_notes(targets)
    job = RunJob(
        task=find_task("date"),
        annotator=Annotator("image", images.image(case.name), case.protocol, isolation),
        notes=notes,
        notes_sha256=hashlib.sha256(b"attack").hexdigest(),
        limits=shortened(limits, case),
        check_robustness=case.check == "robustness",
        check_determinism=case.check == "determinism",
        engine=engine.name,
    )
    done = run(job)
    left = sorted(set(engine.remaining()) - before)
    complaints = [*_complaints(case, done), *(f"left behind: {thing}" for thing in left)]
    return AttackVerdict(case, done.record.outcome, tuple(complaints), time.monotonic() - begun)


def shortened(limits: RunLimits, case: Case) -> RunLimits:
    """The organiser's limits; an attack that waits for ever is waited for less."""
    patience: dict[str, float] = {}
    if Outcome.NEVER_READY in case.expected:
        patience["ready_seconds"] = _PATIENCE
    elif Outcome.TIMED_OUT in case.expected:
        patience["total_seconds" if case.protocol == "batch" else "note_seconds"] = _PATIENCE
    return limits.model_copy(update={key: min(getattr(limits, key), most) for key, most in patience.items()})


def attack_notes(targets: Iterable[str]) -> list[SentNote]:
    """A few notes of no meaning that name the addresses to be tried."""
    named = " ".join(f"target={target}" for target in targets)
    return [SentNote(f"note-{i}", f"note-{i}", f"Note {i}. {named}") for i in range(_NOTES)]


def _complaints(case: Case, done: FinishedRun) -> Iterator[str]:
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
def _neighbour(engine: Engine, reference: str, limits: RunLimits) -> Iterator[str]:
    """Another submission, on a network where it has an address."""
    image = engine.find_image(reference, limits)
    marks = labels(f"neighbour-{secrets.token_hex(4)}", 3600)
    with (
        engine.own_network(marks) as apart,
        engine.sandbox(image, limits, marks, apart.network, {}, LogWatch(0)) as box,
    ):
        yield apart.door(box).host


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

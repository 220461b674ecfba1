"""The firing range: fires every case at a configuration and says, for each, whether it was contained and well named.

Beside the submission stands what it could get at if it got out: a secret in the harness's environment, in the command
line of a process and in files; listeners at every address of the host; another submission. Each is made sure of from
this side first: nothing passes because it was not there.
"""

import hashlib
import itertools
import os
import secrets
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from sandscore.base.errors import InfrastructureFault
from sandscore.containers.annotation_run import FinishedRun, RunJob, run
from sandscore.containers.engines.engine_protocol import Engine, labels
from sandscore.containers.engines.engine_registry import connected
from sandscore.containers.hostile.hostile_images import HostileImages, hostile_images
from sandscore.containers.hostile.hostile_set import CASES, Case
from sandscore.containers.hostile.protections import Complaints, explained, inspect
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.run_context import Annotator, Isolated
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import Outcome, RunFault, RunLimits, RunRecord
from sandscore.task_table.task import find_task

ESCAPED = "ESCAPED: "
CANARY = "sandscore-canary"
_VARIABLE = "SANDSCORE_CANARY"
_PATIENCE = 3.0
_READY_SECONDS = 60.0
_NOTES = 8


class AttackVerdict(Struct, frozen=True):
    """``complaints`` is empty where the case was contained."""

    case: Case
    outcome: str
    complaints: tuple[str, ...]
    seconds: float
    reason: str | None = None
    """Of an outcome that is none of success."""

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
    with firing_range(limits, isolation, engine) as firing:
        for case in cases:
            verdict = firing.fire(case)
            verdicts.append(verdict)
            report(verdict)
    return verdicts


@contextmanager
def firing_range(limits: RunLimits, isolation: Isolated = "best", engine: str | None = None) -> Iterator["FiringRange"]:
    """A range on which everything that can be hit stands and answers."""
    prefix = f"sandscore-attack-{os.getpid()}-{secrets.token_hex(2)}"
    with (
        connected(engine) as reached,
        hostile_images(reached, prefix) as images,
        _secret(),
        _Listener() as host,
        _neighbour(reached, images.image("harmless"), limits) as neighbour,
    ):
        yield FiringRange(reached, images, limits, isolation, host, neighbour)


class FiringRange:
    """Fires cases, one at a time."""

    def __init__(
        self,
        engine: Engine,
        images: HostileImages,
        limits: RunLimits,
        isolation: Isolated,
        host: "_Listener",
        neighbour: str | None,
    ) -> None:
        self._engine, self._images, self._limits, self._isolation = engine, images, limits, isolation
        self._host, self._neighbour = host, neighbour
        self.inspected: Complaints | None = None
        """What the container of the inspected cases showed, once it has been looked at."""

    def fire(self, case: Case) -> AttackVerdict:
        """One case against the configuration, whose waits are shortened."""
        begun = time.monotonic()
        outcome, complaints, reason = (*self._inspect(case), None) if case.inspected else self._run(case)
        return AttackVerdict(case, outcome, complaints, time.monotonic() - begun, reason)

    def _inspect(self, case: Case) -> tuple[str, tuple[str, ...]]:
        """All inspected cases share one container, and what was found there."""
        if self.inspected is None:
            before = self._engine.remaining()
            image = self._engine.find_image(self._images.image("protections"), self._limits)
            try:
                found = inspect(self._engine, image, self._limits, self._host.targets, self._isolation)
            except (RunFault, TimeoutError) as fault:
                found = {one.name: [explained(fault)] for one in CASES if one.inspected}
            found.setdefault("host-network", []).extend(self._host.visits())
            found.setdefault("harmless", []).extend(_left(self._engine, before))
            self.inspected = found
        return Outcome.FINISHED, (*self.inspected.get(case.name, ()), *self.inspected.get("harmless", ()))

    def _run(self, case: Case) -> tuple[str, tuple[str, ...], str | None]:
        before = self._engine.remaining()
        limits = shortened(self._limits, case)
        job = RunJob(
            task=find_task("date"),
            annotator=Annotator("image", self._images.image(case.name), case.protocol, self._isolation),
            notes=attack_notes([*self._host.targets, *([self._neighbour] if self._neighbour else [])], limits),
            notes_sha256=hashlib.sha256(b"attack").hexdigest(),
            limits=limits,
            concurrency=case.concurrency,
            check_robustness=case.check == "robustness",
            check_determinism=case.check == "determinism",
            engine=self._engine.name,
        )
        done = run(job)
        complaints = [*_complaints(case, done), *self._host.visits(), *_left(self._engine, before)]
        return done.record.outcome, tuple(complaints), done.record.reason


def shortened(limits: RunLimits, case: Case) -> RunLimits:
    """The organiser's limits; an attack that waits for ever is waited for less."""
    patience: dict[str, float] = {}
    if Outcome.NEVER_READY in case.expected:
        patience["ready_seconds"] = _PATIENCE
    elif Outcome.TIMED_OUT in case.expected:
        patience["total_seconds" if case.protocol == "batch" else "note_seconds"] = _PATIENCE
    return limits.model_copy(update={key: min(getattr(limits, key), most) for key, most in patience.items()})


def attack_notes(targets: Iterable[str], limits: RunLimits) -> list[SentNote]:
    """A few notes of no meaning that name the addresses to be tried, and what may be had."""
    named = " ".join([f"memory={limits.memory_bytes}", *(f"target={target}" for target in targets)])
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


def _left(engine: Engine, before: Sequence[str]) -> list[str]:
    return [f"left behind: {thing}" for thing in sorted(set(engine.remaining()) - set(before))]


@contextmanager
def _secret() -> Iterator[None]:
    """A marker where the harness and other programs of the host might have one, for a hunt to find."""
    value = f"{CANARY}-{secrets.token_hex(4)}"
    with ExitStack() as stack:
        for parent in (tempfile.gettempdir(), "/dev/shm"):  # noqa: S108 (looked for, not used)
            if Path(parent).is_dir():
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=value, dir=parent))
                (Path(folder) / f"{CANARY}.json").write_text(value, encoding="utf-8")
        waiting = subprocess.Popen(["/bin/sh", "-c", "read _", value], stdin=subprocess.PIPE)
        stack.callback(waiting.communicate)
        before = os.environ.get(_VARIABLE)
        os.environ[_VARIABLE] = value
        stack.callback(_restore, before)
        yield


def _restore(value: str | None) -> None:
    os.environ.pop(_VARIABLE, None)
    if value is not None:
        os.environ[_VARIABLE] = value


class _Listener:
    """Listens at all addresses of the host, and remembers who came."""

    def __enter__(self) -> "_Listener":
        self._socket = socket.create_server(("", 0), backlog=256)
        port = self._socket.getsockname()[1]
        self.targets = [f"{address}:{port}" for address in sorted(_addresses())]
        for target in self.targets:
            _require_answer(target)
        self._socket.setblocking(False)
        self.visits()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def visits(self) -> list[str]:
        """Who has connected since this was last asked."""
        came: list[str] = []
        while True:
            try:
                connection, address = self._socket.accept()
            except OSError:
                return came
            connection.close()
            came.append(f"{address[0]} connected to the host")


def _require_answer(target: str, connect: Callable[[float], socket.socket] | None = None) -> None:
    """A target that nobody could reach would prove nothing."""
    host, _, port = target.rpartition(":")
    connect = connect or (lambda seconds: socket.create_connection((host, int(port)), timeout=seconds))
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        try:
            connect(5.0).close()
            return
        except OSError as fault:
            if time.monotonic() > deadline:
                told = (
                    f"{target} cannot be reached from this host itself ({fault.strerror}), so attacks on it say nothing"
                )
                raise InfrastructureFault(told) from None
            time.sleep(0.05)


@contextmanager
def _neighbour(engine: Engine, reference: str, limits: RunLimits) -> Iterator[str | None]:
    """Another submission, on a network where it has an address and answers; None on an engine that has no networks,
    where it answers all the same, at its door."""
    image = engine.find_image(reference, limits)
    marks = labels(f"neighbour-{secrets.token_hex(4)}", 3600)
    with (
        engine.own_network(marks) as apart,
        engine.sandbox(image, limits, marks, apart.network, {}, LogWatch(0)) as box,
    ):
        door = apart.door(box)
        if apart.network == "none":
            _require_answer(door.host, door.connect)
            yield None
        else:
            _require_answer(door.host)
            yield door.host


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

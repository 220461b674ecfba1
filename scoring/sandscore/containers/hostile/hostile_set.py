"""The cases of the hostile set: what each tries, and the one way in which it is meant to end."""

from collections.abc import Iterable

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.records.run_record import Outcome, Protocol

FINISHED, INVALID = Outcome.FINISHED, Outcome.INVALID_OUTPUT
CRASHED, LATE, MEMORY = Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY


class Case(Struct, frozen=True):
    """``expected`` outcomes; ``check`` names the check that must be failed, where finishing is not the point.

    ``inspected``: one container for all such cases, looked at from within and from outside.
    """

    name: str
    tries: str
    expected: tuple[Outcome, ...]
    protocol: Protocol = "service"
    check: str | None = None
    inspected: bool = False
    concurrency: int = 4


def _service(name: str, tries: str, *expected: Outcome, check: str | None = None) -> Case:
    return Case(name, tries, expected, check=check)


def _inspected(name: str, tries: str) -> Case:
    return Case(name, tries, (FINISHED,), "batch", inspected=True)


def _batch(name: str, tries: str, *expected: Outcome) -> Case:
    return Case(name, tries, expected, "batch")


CASES: tuple[Case, ...] = (
    _service("harmless", "nothing: the control", FINISHED),
    _inspected("root-user", "looks whether it is somebody else than it should be"),
    _inspected("writable-root", "writes into a folder that its image leaves open to all"),
    _inspected("host-processes", "looks for processes of the host"),
    _inspected("host-ipc", "looks for the shared memory of the host"),
    _inspected("host-network", "connects to what listens on the host's loopback"),
    _inspected("user-namespaces", "makes itself a name space in which it is root"),
    _inspected("capabilities", "looks for rights that it was left"),
    _inspected("new-privileges", "looks whether a program could give it rights"),
    _inspected("system-calls", "makes system calls that no annotator needs"),
    _inspected("scratch-size", "fills /tmp, /dev/shm and every VOLUME"),
    _inspected("own-programs", "runs what it wrote"),
    _inspected("memory-limit", "looks whether its memory is limited"),
    _inspected("process-limit", "makes as many processes as it gets"),
    _inspected("cpu-limit", "looks whether its time is limited"),
    _inspected("file-limit", "looks how many files it may open"),
    _inspected("host-folders", "looks for folders of the host, wherever they are"),
    _inspected("engine-socket", "looks for sockets of the host, the engine's first, wherever they are"),
    _inspected("environment", "looks for variables that nobody meant for it"),
    _inspected("reaches-internet", "looks for routes, names and hosts outside"),
    _inspected("reaches-metadata", "looks for a way to the cloud's metadata address"),
    _inspected("writes-outside", "writes, mounts, makes devices, changes its root"),
    Case("fork-bomb", "doubles its processes for ever", (LATE,), concurrency=1),
    _service("memory-bomb", "takes twice the memory that it may have, in a child", MEMORY),
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
    _service("reaches-targets", "connects to the host at all its addresses, and to another submission", FINISHED),
    _service("gold-hunt", "looks for a secret in environment, mounts, /proc and files", FINISHED),
    _service("remembers-notes", "answers a note differently the second time", FINISHED, check="robustness"),
    _service("random-answers", "throws dice for each note", FINISHED, check="determinism"),
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

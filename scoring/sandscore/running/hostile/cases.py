"""What is fired, what it is meant to end in, and which limits are shortened so that waiting for it ends."""

from collections.abc import Iterable
from dataclasses import dataclass

from sandscore.records.errors import UsageFault
from sandscore.records.run import Outcome, Protocol

FINISHED, INVALID = Outcome.FINISHED, Outcome.INVALID_OUTPUT
CRASHED, LATE, MEMORY = Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY


@dataclass(frozen=True, slots=True)
class Case:
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

"""The answers of a run, kept as they come, so that a run that was stopped, or killed, can go on.

``partial.json`` is JSON Lines: a head that says what the answers are of, then each note's entry in the form of a
prediction file, appended with one call. A process that is killed leaves whole lines and at most one that is not, which
is dropped. It is never scored: whoever reads predictions knows the head.
"""

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.base.strict_json import JsonFault, loads
from sandscore.base.whole_files import told
from sandscore.containers.answers import Answers
from sandscore.containers.sent_notes import SentNote
from sandscore.records.problem import PARTIAL_HEAD
from sandscore.records.run_record import RunFault
from sandscore.task_table.task import Task

PARTIAL = "partial.json"


class RunPace(Struct, frozen=True):
    """How far a run has come: ``before`` of the ``done`` answers had come from an earlier start."""

    done: int
    total: int
    seconds: float
    before: int = 0

    @property
    def whole_seconds(self) -> float | None:
        """What all need from the first to the last; None while nobody can know."""
        asked = self.done - self.before
        return self.total * self.seconds / asked if asked else None

    def __str__(self) -> str:
        told = f"{self.done:,} of {self.total:,} notes in {duration(self.seconds)}"
        if self.before:
            told = f"{told}, {self.before:,} of them before"
        return told if self.whole_seconds is None else f"{told}; all need about {duration(self.whole_seconds)}"


def duration(seconds: float) -> str:
    """Seconds, up to ten minutes; then minutes, then hours."""
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class RunIdentity(Struct, frozen=True):
    """What must be the same for a run to go on: the image by its digest, or by its id where it has none."""

    task: str
    kind: str
    annotator: str
    notes_sha256: str
    notes: int
    shard: str = ""

    def difference(self, now: "RunIdentity") -> str | None:
        """In words, the first thing that is not the same now."""
        names = {
            "task": "task",
            "kind": "kind of annotator",
            "annotator": self.kind,
            "notes_sha256": "notes",
            "shard": "shard",
        }
        found = next((name for name in names if getattr(self, name) != getattr(now, name)), None)
        if found is None:
            return None
        if found == "notes_sha256":
            return "other notes"
        if found == "shard":
            return f"another shard, {self.shard or 'all notes'} and not {now.shard or 'all notes'}"
        return f"another {names[found]}, {getattr(self, found)} and not {getattr(now, found)}"


class KeptAnswers:
    """The kept answers of one task. The file is there from the first answer on."""

    def __init__(self, path: Path, identity: RunIdentity) -> None:
        self.path, self._identity = path, identity
        self._file: int | None = None
        self._array = b""

    def resume(self, notes: Sequence[SentNote], answers: Answers) -> dict[str, bytes]:
        """What was answered before, each judged again; UsageFault where it was another run."""
        with told(self.path, fault=UsageFault):
            data = self.path.read_bytes() if self.path.exists() else b""
        head, newline, rest = data.partition(b"\n")
        if not newline:
            return {}
        try:
            earlier = msgspec.json.decode(head[len(PARTIAL_HEAD) : -1], type=RunIdentity)
        except msgspec.DecodeError:
            raise UsageFault(f"{self.path}: this is no {PARTIAL} of a run") from None
        if (difference := earlier.difference(self._identity)) is not None:
            raise UsageFault(f"{self.path}: these answers are of {difference}; without --resume a run begins anew")
        found = _answers_in(rest, {note.name: note for note in notes}, answers)
        self._open(answers.task)
        kept = len(head) + 1 + sum(size for _, size in found.values())
        with told(self.path):
            os.truncate(self.path, kept)
        return {name: answer for name, (answer, _) in found.items()}

    def keep(self, note: SentNote, answer: bytes, task: Task) -> None:
        """One more answer. It outlives this process, however that ends."""
        with told(self.path):
            if self._file is None:
                self.path.unlink(missing_ok=True)
                self._open(task)
                self._write(PARTIAL_HEAD + msgspec.json.encode(self._identity) + b"}\n")
            self._write(entry(note, task, answer) + b"\n")

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self, task: Task) -> None:
        with told(self.path):
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise UsageFault(f"{self.path}: another run is writing it just now") from None

    def _write(self, line: bytes) -> None:
        """In one call; a disk that runs full may cut it, and the rest is then dropped with the next reading."""
        if self._file is not None:
            left = memoryview(line)
            while left:
                left = left[os.write(self._file, left) :]


def entry(note: SentNote, task: Task, answer: bytes) -> bytes:
    """A note's entry in a prediction file of many notes."""
    name = json.dumps(note.name, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return b'{"annotationSource":{"resourceSource":{"name":%s}},"%s":%s}' % (name, task.array.encode(), answer)


def _answers_in(data: bytes, notes: Mapping[str, SentNote], answers: Answers) -> dict[str, tuple[bytes, int]]:
    """Answers by note, each with the bytes of its line; up to the first line that is not whole and right."""
    found: dict[str, tuple[bytes, int]] = {}
    for line in data.splitlines(keepends=True):
        with suppress(JsonFault, RunFault, KeyError, TypeError):
            value = loads(line)
            note = notes[value["annotationSource"]["resourceSource"]["name"]]
            if line.endswith(b"\n") and note.name not in found:
                found[note.name] = (answers.annotations(note, value, line), len(line))
                continue
        break
    return found

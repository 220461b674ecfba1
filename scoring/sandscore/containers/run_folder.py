"""The folder of a run: predictions, facts and log, each whole or not there."""

import errno
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.containers.annotation_run import FinishedRun
from sandscore.containers.sent_notes import SentNote
from sandscore.task_table.task import Task

PREDICTIONS, RECORD, LOG, REFUSED = "predictions.json", "run.json", "log.txt", "refused.json"


def clear(folder: Path) -> None:
    """Make the folder ready for a run: it can be written to, and what an older run left there is gone."""
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in (RECORD, PREDICTIONS, REFUSED, LOG):
            (folder / name).unlink(missing_ok=True)
            _part(folder / name).unlink(missing_ok=True)


def write_run(folder: Path, task: Task, notes: Sequence[SentNote], run: FinishedRun) -> None:
    """Write what came of a run; run.json last, so that where it is everything is."""
    clear(folder)
    with _writing(folder):
        _write(folder / LOG, [run.log.encode()])
        if run.answers is not None:
            _write(folder / PREDICTIONS, predictions(task, notes, run.answers))
        if run.refused is not None:
            _write(folder / REFUSED, [run.refused])
        _write(folder / RECORD, [(run.record.model_dump_json(indent=2) + "\n").encode()])


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        kind = InfrastructureFault if fault.errno == errno.ENOSPC else UsageFault
        raise kind(f"{folder}: cannot be written ({fault.strerror})") from None


def predictions(task: Task, notes: Sequence[SentNote], answers: Sequence[bytes]) -> Iterator[bytes]:
    """The many-note form, one note a line, in the order of the notes; piece by piece."""
    for place, (note, answer) in enumerate(zip(notes, answers, strict=True)):
        name = json.dumps(note.name, ensure_ascii=False).encode()
        yield b",\n" if place else b"[\n"
        yield b'{"annotationSource":{"resourceSource":{"name":%s}},"%s":' % (name, task.array.encode())
        yield answer
        yield b"}"
    yield b"\n]\n"


def _write(path: Path, data: Iterable[bytes]) -> None:
    part = _part(path)
    with part.open("wb") as file:
        file.writelines(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _part(path: Path) -> Path:
    """What a file is called until it is whole."""
    return path.with_name(f".{path.name}.partial")

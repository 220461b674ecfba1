"""The folder of a run: predictions, facts and log, each whole or not there."""

import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import remove_parts, told, write_file
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
            remove_parts(folder / name)


def write_run(folder: Path, task: Task, notes: Sequence[SentNote], run: FinishedRun) -> None:
    """Write what came of a run; run.json last, so that where it is everything is."""
    clear(folder)
    with _writing(folder):
        write_file(folder / LOG, run.log.encode(), sync=True)
        if run.answers is not None:
            write_file(folder / PREDICTIONS, predictions(task, notes, run.answers), sync=True)
        if run.refused is not None:
            write_file(folder / REFUSED, run.refused, sync=True)
        write_file(folder / RECORD, (run.record.model_dump_json(indent=2) + "\n").encode(), sync=True)


def _writing(folder: Path) -> AbstractContextManager[None]:
    return told(folder, "{where}: cannot be written ({why})", fault=UsageFault)


def predictions(task: Task, notes: Sequence[SentNote], answers: Sequence[bytes]) -> Iterator[bytes]:
    """The many-note form, one note a line, in the order of the notes; piece by piece."""
    for place, (note, answer) in enumerate(zip(notes, answers, strict=True)):
        name = json.dumps(note.name, ensure_ascii=False).encode()
        yield b",\n" if place else b"[\n"
        yield b'{"annotationSource":{"resourceSource":{"name":%s}},"%s":' % (name, task.array.encode())
        yield answer
        yield b"}"
    yield b"\n]\n"

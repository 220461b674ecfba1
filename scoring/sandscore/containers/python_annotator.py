"""An annotator that is a Python function: asked note by note in this process, with nothing between it and us."""

import datetime
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from sandscore import __version__
from sandscore.containers.annotation_run import FinishedRun, latency_of
from sandscore.containers.answers import Answers
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import Outcome, RunFault, RunLimits, RunRecord, Seconds
from sandscore.task_table.task import Task

Annotate = Callable[[SentNote], list[dict[str, Any]]]
"""A note's annotations in our form."""


def run_in_python(
    task: Task, notes: Sequence[SentNote], notes_sha256: str, annotate: Annotate, limits: RunLimits
) -> FinishedRun:
    """Annotations that are not valid end the run as they end any; an exception of the function is the caller's."""
    judge = Answers(task, limits)
    answers: list[bytes] = []
    latencies: list[float] = []
    fault: RunFault | None = None
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    begun = time.monotonic()
    for note in notes:
        asked = time.monotonic()
        annotations = annotate(note)
        latencies.append(time.monotonic() - asked)
        try:
            answers.append(judge.annotations(note, {task.array: annotations}, json.dumps(annotations).encode()))
        except RunFault as refused:
            fault = refused
            break
    taken = time.monotonic() - begun
    record = RunRecord(
        sandscore=__version__,
        task=task.id,
        protocol="service",
        kind="python",
        isolation="none: a function in the process that asked it",
        limits=limits,
        limits_in_force=False,
        concurrency=1,
        notes=len(notes),
        notes_sha256=notes_sha256,
        started=started,
        seconds=Seconds(notes=taken, total=taken),
        latency=latency_of(latencies) if fault is None else None,
        notes_per_second=len(notes) / taken if taken and fault is None else None,
        outcome=fault.outcome if fault else Outcome.FINISHED,
        reason=fault.reason if fault else None,
    )
    return FinishedRun(record, None if fault else answers, "")

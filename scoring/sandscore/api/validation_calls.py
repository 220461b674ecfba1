"""Validation as a call: everything that is wrong with one input of annotations."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandscore.annotations.input_files import UNWATCHED, Inputs, OpenInputs, ReadingWatch, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.errors import OrganiserFault
from sandscore.task_table.task import Task, find_task

if TYPE_CHECKING:
    from sandscore.api.results import Problems


def validate(
    task: str | Task,
    predictions: Any,
    *,
    notes: Any = None,
    gold: Any = None,
    complete: bool = False,
) -> "Problems":
    """Everything that is wrong with predictions: against the task's schema and, where they are given, the notes.

    Inputs are paths, bytes, open binary files, decoded JSON, DataFrames, spans by note or documents with entities.
    ``complete``: a note without an entry is an error, not a warning.

    >>> problems = ss.validate("date", predictions, notes=notes)
    >>> problems.ok
    True
    """
    from sandscore.api.memory_inputs import given_inputs

    given = given_inputs(find_task(task), gold=gold, predictions=predictions, notes=notes)
    found = _validated(task, given.inputs, complete, UNWATCHED)
    return problems_of(found, given.remarks, partial(_mended, find_task(task), given.inputs, complete))


def validate_file(
    task: str | Task,
    file: str,
    *,
    notes: str | None = None,
    complete: bool = False,
    challenge: str | None = None,
    watch: ReadingWatch = UNWATCHED,
) -> ProblemCollector:
    """The same for a file, for whoever watches it being read, beside what stands in the notes instead.

    Notes that the ``challenge`` hides are not quoted.
    """
    kind = Inputs if challenge is not None and _hides_notes(challenge) else OpenInputs
    return _validated(task, kind(predictions=file, notes=notes), complete, watch)


def _hides_notes(challenge: str) -> bool:
    from sandscore.ranking.challenge_reading import read_challenge
    from sandscore.records.disclosure_policy import resolved

    read = read_challenge(Path(challenge))
    return any(resolved(read, phase).notes_hidden for phase in read.phases or (None,))


def _validated(task: str | Task, inputs: Inputs, complete: bool, watch: ReadingWatch) -> ProblemCollector:
    """Nothing is judged by notes or gold that are faulty themselves."""
    with watch.reading(inputs.given.values()) as progress:
        loaded = load_files(
            find_task(task),
            inputs,
            complete=complete,
            want_tokens=False,
            want_hashes=False,
            progress=progress,
        )
    for role, verb in (("notes", "are"), ("gold", "is")):
        if loaded.faulty(role):
            watch.problems([loaded.findings[role]])
            raise OrganiserFault(f"the {role} {verb} not valid; nothing was validated")
    return loaded.findings["predictions"]


def _mended(task: Task, inputs: Inputs, complete: bool) -> bytes:
    from sandscore.api.mending_calls import mended

    return mended(task, inputs, complete=complete).content


def problems_of(
    found: ProblemCollector, remarks: Sequence[str], fixed: Callable[[], bytes] | None = None
) -> "Problems":
    """What was found in an input, how the input was understood, and how it may be mended, as the library's value."""
    from sandscore.api.results import Problems

    return Problems(found.problems, found.counts, remarks, found.diagnosis, fixed)

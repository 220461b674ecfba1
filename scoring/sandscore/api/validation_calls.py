"""Validation as a call: everything that is wrong with one input of annotations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sandscore.annotations.input_files import UNWATCHED, Inputs, ReadingWatch, load_files
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
    return problems_of(_validated(task, given.inputs, complete, UNWATCHED), given.remarks)


def validate_file(
    task: str | Task, file: str, *, notes: str | None = None, complete: bool = False, watch: ReadingWatch = UNWATCHED
) -> ProblemCollector:
    """The same for a file, for whoever watches it being read."""
    return _validated(task, Inputs(predictions=file, notes=notes), complete, watch)


def _validated(task: str | Task, inputs: Inputs, complete: bool, watch: ReadingWatch) -> ProblemCollector:
    """Nothing is judged by notes or gold that are faulty themselves."""
    with watch.reading(inputs.given.values()) as progress:
        loaded = load_files(
            find_task(task), inputs, complete=complete, want_tokens=False, want_hashes=False, progress=progress
        )
    for role, verb in (("notes", "are"), ("gold", "is")):
        if loaded.faulty(role):
            watch.problems([loaded.findings[role]])
            raise OrganiserFault(f"the {role} {verb} not valid; nothing was validated")
    return loaded.findings["predictions"]


def problems_of(found: ProblemCollector, remarks: Sequence[str]) -> "Problems":
    """What was found in an input, and how the input was understood, as the library's value."""
    from sandscore.api.results import Problems

    return Problems(found.problems, found.counts, remarks)

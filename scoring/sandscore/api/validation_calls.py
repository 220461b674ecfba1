"""Validation as a call: everything that is wrong with one input of annotations."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from sandscore import api
from sandscore.annotations.input_files import UNWATCHED, Inputs, OpenInputs, ReadingWatch, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.byte_sources import InputFile
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.formats.foreign_input import AS_IT_SEEMS, ForeignReading, Labels, taken
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
    source: str | None = None,
    labels: Labels = None,
    annotator: str | None = None,
) -> "Problems":
    """Everything that is wrong with predictions: against the task's schema and, where they are given, the notes.

    Inputs are paths, bytes, open binary files, decoded JSON, DataFrames, spans by note or documents with entities.
    ``complete``: a note without an entry is an error, not a warning. A path may be of any format that ``convert``
    reads: ``source`` names it where the content leaves a doubt, ``labels`` maps its types, ``annotator`` is one of
    several.

    >>> problems = ss.validate("date", predictions, notes=notes)
    >>> problems.ok
    True
    """
    from sandscore.api.given_inputs import given_inputs

    if predictions is None:
        raise UsageFault("predictions: found nothing; expected a path, bytes, decoded JSON, a DataFrame or spans")
    given = given_inputs(find_task(task), gold=gold, predictions=predictions, notes=notes)
    how = ForeignReading(source=source, labels=labels, annotator=annotator)
    inputs, remarks = in_our_form(find_task(task), given.inputs, how)
    found = _validated(task, inputs, complete, UNWATCHED)
    return problems_of(found, (*given.remarks, *remarks), partial(_mended, find_task(task), inputs, complete))


def validate_file(
    task: str | Task,
    file: str,
    *,
    notes: str | None = None,
    index: str | None = None,
    complete: bool = False,
    how: ForeignReading = AS_IT_SEEMS,
    challenge: str | None = None,
    watch: ReadingWatch = UNWATCHED,
) -> ProblemCollector:
    """The same for a file, for whoever watches it being read, beside what stands in the notes instead.

    Notes that the ``challenge`` hides are not quoted.
    """
    kind = Inputs if challenge is not None and _hides_notes(challenge) else OpenInputs
    given = kind(predictions=file, notes=_notes_of(file, notes), index=index)
    inputs, remarks = in_our_form(find_task(task), given, how)
    for remark in remarks:
        watch.warning(remark)
    return _validated(task, inputs, complete, watch)


def _notes_of(file: str, notes: str | None) -> InputFile | None:
    """For the answer that ended a run, of all the notes the one that it is about."""
    record = Path(file).with_name("run.json")
    if notes is None or Path(file).name != "refused.json" or not record.is_file():
        return notes
    with REMOVABLE:
        from sandscore.containers.batch_protocol import refused_note

    return refused_note(record, notes)


def _hides_notes(challenge: str) -> bool:
    from sandscore.records.disclosure_policy import resolved

    read = api.read_challenge(Path(challenge))
    return any(resolved(read, phase).notes_hidden for phase in read.phases or (None,))


def in_our_form(
    task: Task, inputs: Inputs, how: ForeignReading, gold: ForeignReading = AS_IT_SEEMS
) -> tuple[Inputs, tuple[str, ...]]:
    """Inputs of annotations that may be of other people's formats, and what is to be said of how they were read."""
    made: dict[str, InputFile] = {}
    said: list[str] = []
    for role, reading in (("predictions", how), ("gold", gold)):
        if role in inputs.given:
            one = taken(task, inputs.given[role], inputs.notes, reading)
            made[role] = one.file
            said += one.remarks
    return replace(inputs, **made), tuple(said)


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
    with REMOVABLE:
        from sandscore.api.mending_calls import mended

    return mended(task, inputs, complete=complete).content


def problems_of(
    found: ProblemCollector, remarks: Sequence[str], fixed: Callable[[], bytes] | None = None
) -> "Problems":
    """What was found in an input, how the input was understood, and how it may be mended, as the library's value."""
    from sandscore.api.results import Problems

    return Problems(found.problems, found.counts, remarks, found.diagnosis, fixed)

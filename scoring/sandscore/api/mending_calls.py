"""Mending as a call: a file with the causes of its problems undone, written only where the result is proven."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.api.output_files import write
from sandscore.api.validation_calls import in_our_form
from sandscore.base.byte_sources import NamedBytes, opened, packed
from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.base.terminal_text import one_line
from sandscore.formats.foreign_input import AS_IT_SEEMS, ForeignReading
from sandscore.records.diagnosis import Diagnosis
from sandscore.records.problem import CODES
from sandscore.task_table.task import Task

_OF_TEXTS = ("text-mismatch", "out-of-bounds")
STDOUT = "-"


class Mended(Struct, frozen=True):
    """What was mended, the file's bytes as they then are, and what is still wrong with it."""

    causes: tuple[Diagnosis, ...]
    content: bytes
    found: ProblemCollector


def mend_file(
    task: Task,
    file: str,
    *,
    output: str,
    notes: str | None = None,
    complete: bool = False,
    how: ForeignReading = AS_IT_SEEMS,
) -> Mended:
    """Undo what a file's diagnosis names and write the result elsewhere; the file itself stays as it is."""
    if STDOUT not in (output, file) and Path(output).exists() and Path(output).samefile(file):
        raise UsageFault(f"-o {one_line(output)} is the file itself, which is never written over: name another")
    inputs, _ = in_our_form(task, Inputs(predictions=file, notes=notes), how)
    made = mended(task, inputs, complete=complete)
    if output != STDOUT:
        write(output, packed(output, made.content))
    return made


def mended(task: Task, inputs: Inputs, *, complete: bool = False) -> Mended:
    """The same in memory; refused where there is nothing to mend, or where not every text would then stand."""
    with REMOVABLE:
        from sandscore.remedies.mending import Mender
    file = inputs.given["predictions"]
    name = one_line(str(file), None)
    with opened(file) as source:
        data = bytes(source.data)
    loaded = _loaded(task, inputs, NamedBytes(name, data), complete)
    for role, verb in (("notes", "are"), ("gold", "is")):
        if loaded.faulty(role):
            raise OrganiserFault(f"the {role} {verb} not valid; nothing was mended")
    before = loaded.findings["predictions"]
    causes = tuple(one for one in before.diagnosis if one.fixable)
    if before.remedy is None or not causes:
        raise ParticipantFault(f"{name}: {_nothing(before, inputs)}; nothing was written")
    content = Mender(task, loaded.dataset, before.remedy).mended(data)
    after = _loaded(task, inputs, NamedBytes(name, content), complete).findings["predictions"]
    _refuse_unproven(name, before, after)
    return Mended(causes, content, after)


def _loaded(task: Task, inputs: Inputs, file: NamedBytes, complete: bool) -> Loaded:
    given = replace(inputs, predictions=file)
    return load_files(task, given, complete=complete, want_tokens=False, want_hashes=False)


def _nothing(before: ProblemCollector, inputs: Inputs) -> str:
    if before.diagnosis:
        return f"that {before.diagnosis[0].sentence} does not mend all of it"
    if not before.errors:
        return "there is nothing to mend"
    if inputs.notes is None:
        return "without --notes nobody can say where its texts stand"
    return "no cause was found that explains its problems"


def _refuse_unproven(name: str, before: ProblemCollector, after: ProblemCollector) -> None:
    """What is mended is right: every text stands where it is said to, and nothing became worse."""
    left = sum(after.counts[code] for code in _OF_TEXTS)
    if left:
        where = next(problem.pointer for problem in after.problems if problem.code in _OF_TEXTS)
        stand = "text would still not stand where it is said to" if left == 1 else "texts would still not stand"
        raise ParticipantFault(f"{name}: {left:,} {stand}, first at {one_line(where)}; nothing was written")
    worse = [
        code for code in _grave(after.counts) if after.counts[code] > before.counts[code] and not before.counts["json"]
    ]
    if worse or any(one.fixable for one in after.diagnosis):
        raise ParticipantFault(f"{name}: mended by what was found it would not be right; nothing was written")


def _grave(counts: Mapping[str, int]) -> list[str]:
    return [code for code in counts if CODES[code] == "error"]

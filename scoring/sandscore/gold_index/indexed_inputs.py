"""Gold and notes out of an index, and the index made of them."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from sandscore.annotations.data_set import WholeNamesNeededError
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.record_reader import Progress
from sandscore.base.byte_sources import opened
from sandscore.base.errors import MissingFile, OrganiserFault
from sandscore.base.file_marks import Marks, marks_of, settled
from sandscore.base.terminal_text import one_line
from sandscore.base.whole_files import told, write_file
from sandscore.gold_index.index_file import (
    OWNER_FILE,
    OWNER_FOLDER,
    GoldIndex,
    IndexRefused,
    SourceFile,
    content,
    opened_index,
)
from sandscore.task_table.task import Task


def load_indexed(task: Task, inputs: Inputs, load: Callable[..., Loaded], progress: Progress) -> Loaded:
    """Predictions beside an index; ``load`` loads files as was asked for."""
    if inputs.index is None:
        raise ValueError("there is no index")
    index = opened_index(inputs.index, task)
    index.refuse_others(inputs.gold, inputs.notes)
    beside = replace(inputs, index=None, gold=None, notes=None, known=_loaded(index, task))
    with suppress(WholeNamesNeededError):
        return load(task, beside, progress=progress)
    if inputs.gold is None or inputs.notes is None:
        raise OrganiserFault(
            f"{inputs.index}: these predictions need notes to be told apart by their whole names, which an index does "
            "not; give gold and notes themselves"
        )
    return load(task, replace(inputs, index=None), whole_names=True)


def kept_in_index(task: Task, gold: Path, notes: Path, index: Path, whole_names: bool) -> Loaded:
    """Gold and notes out of the index if it is of them as they are now; else it is made."""
    known = _indexed(task, gold, notes, index, whole_names)
    if known is not None:
        return known
    before = marks_of(gold), marks_of(notes)
    known = load_files(task, Inputs(gold=gold, notes=notes), whole_names=whole_names)
    if known.faulty("gold", "notes"):
        return known
    with suppress(OSError):  # without it everything is the same, only slower
        index.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
        _write(known, task, before, gold, notes, index)
    return _indexed(task, gold, notes, index, whole_names) or known


def write_index(task: Task, gold: Path, notes: Path, output: Path, *, whole_names: bool = False) -> Loaded:
    """Reads both and writes the index; the value is what was read. Nothing is written where either is not valid."""
    for path in (gold, notes):
        with opened(path):  # is there, and may be read
            pass
    before = marks_of(gold), marks_of(notes)
    known = load_files(task, Inputs(gold=gold, notes=notes), whole_names=whole_names)
    for role, path in (("notes", notes), ("gold", gold)):
        if known.faulty(role):
            first = next(one for one in known.findings[role].problems if one.severity == "error")
            where = one_line(f"{path}:{first.pointer}", None)
            raise OrganiserFault(f"{where}: {first.message}; no index was made")
    with told(output):
        _write(known, task, before, gold, notes, output)
    return known


def _indexed(task: Task, gold: Path, notes: Path, index: Path, whole_names: bool) -> Loaded | None:
    """What an index holds; None where it is not of these files as they are now, is damaged or is not there."""
    try:
        found = opened_index(index, task)
        found.refuse_others(gold, notes)
    except (IndexRefused, MissingFile):
        return None
    return _loaded(found, task) if found.dataset.whole_names == whole_names else None


def _loaded(index: GoldIndex, task: Task) -> Loaded:
    columns = {} if index.columns is None else {"gold": index.columns}
    sha256 = {} if index.gold is None else {"gold": index.gold.sha256}
    return Loaded(index.dataset, columns, index.findings(task.array), sha256)


def _write(known: Loaded, task: Task, before: tuple[Marks, Marks], gold: Path, notes: Path, output: Path) -> None:
    with opened(notes) as source:
        sha256 = {"notes": source.sha256(), "gold": known.sha256["gold"]}
    kept = {
        role: SourceFile(
            sha256[role],
            then if then == marks_of(path) and settled(then) else None,
            dict(known.findings[role].counts),
            tuple(known.findings[role].problems),
        )
        for role, path, then in (("gold", gold, before[0]), ("notes", notes, before[1]))
    }
    write_file(
        output, content(task, known.dataset, known.columns["gold"], kept["notes"], kept["gold"]), mode=OWNER_FILE
    )

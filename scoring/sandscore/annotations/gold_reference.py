"""Gold and notes read once, for one file of predictions after another; as an index for whoever comes next."""

from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.columns import Columns
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.label_codes import LabelCodes, renumber
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.byte_sources import opened
from sandscore.base.errors import MissingFile, OrganiserFault
from sandscore.base.file_marks import Marks, marks_of, settled
from sandscore.base.terminal_text import one_line
from sandscore.base.whole_files import told, write_file
from sandscore.gold_index.index_file import (
    OWNER_FILE,
    OWNER_FOLDER,
    IndexRefused,
    SourceFile,
    content,
    opened_index,
)
from sandscore.task_table.task import Task


class ReadPredictions(Struct, frozen=True):
    """Predictions that were read by another process; ``vocabulary`` has the labels as they are numbered in them."""

    columns: Columns
    vocabulary: LabelCodes
    findings: ProblemCollector
    sha256: str = ""


class Reference:
    """Gold and notes as ``load_files`` reads them; nothing that predictions bring stays here.

    ``index``: where they are kept as an index, which is used if it is one of them as they are now, and else made.
    """

    def __init__(
        self, task: Task, gold: Path, notes: Path, *, whole_names: bool = False, index: Path | None = None
    ) -> None:
        self.task, self.gold, self.notes, self.index = task, gold, notes, index
        known = None if index is None else _indexed(task, gold, notes, index, whole_names)
        if known is None:
            before = marks_of(gold), marks_of(notes)
            known = load_files(task, Inputs(gold=gold, notes=notes), whole_names=whole_names)
            if index is not None and not known.faulty("gold", "notes"):
                with suppress(OSError):  # without it everything is the same, only slower
                    index.parent.mkdir(mode=OWNER_FOLDER, parents=True, exist_ok=True)
                    _write(known, task, before, gold, notes, index)
                known = _indexed(task, gold, notes, index, whole_names) or known
        self.loaded = known

    def beside(self, read: ReadPredictions) -> Loaded:
        """With predictions that were read beside the same notes: labels are numbered as if gold had come first."""
        known = self.loaded
        labels = known.dataset.vocabulary.copy()
        labels.learn(read.vocabulary.names)
        renumber(read.columns, read.vocabulary, labels)
        return Loaded(
            replace(known.dataset, vocabulary=labels),
            known.columns | {"predictions": read.columns},
            known.findings | {"predictions": read.findings},
            known.sha256 | {"predictions": read.sha256},
        )


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
    if found.columns is None or found.gold is None or found.dataset.whole_names != whole_names:
        return None
    return Loaded(found.dataset, {"gold": found.columns}, found.findings(task.array), {"gold": found.gold.sha256})


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

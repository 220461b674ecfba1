"""Gold and notes read once, for one file of predictions after another."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.columns import Columns
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.label_codes import LabelCodes, renumber
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.removable_rooms import part_of_a_room
from sandscore.task_table.task import Task


class ReadPredictions(Struct, frozen=True):
    """Predictions that were read by another process; ``vocabulary`` has the labels as they are numbered in them."""

    columns: Columns
    vocabulary: LabelCodes
    findings: ProblemCollector
    sha256: str = ""


class Reference:
    """Gold and notes as ``load_files`` reads them; nothing that predictions bring stays here.

    ``index``: where they are kept as an index, which is used if it is one of them as they are now, and else made;
    where nobody makes any they are read.
    """

    def __init__(
        self, task: Task, gold: Path, notes: Path, *, whole_names: bool = False, index: Path | None = None
    ) -> None:
        self.task, self.gold, self.notes, self.index = task, gold, notes, index
        kept = None if index is None else part_of_a_room("gold_index.indexed_inputs:kept_in_index")
        self.loaded: Loaded = (
            kept(task, gold, notes, index, whole_names)
            if kept
            else load_files(task, Inputs(gold=gold, notes=notes), whole_names=whole_names)
        )

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

"""Gold and notes read once, for one file of predictions after another."""

from pathlib import Path

from msgspec.structs import replace

from sandscore.annotations.annotation_loader import AnnotationLoader
from sandscore.annotations.data_set import WholeNamesNeededError
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.byte_sources import BadStream, opened
from sandscore.task_table.task import Task


class Reference:
    """What is read is what ``load_files`` would read; nothing that predictions bring stays here."""

    def __init__(self, task: Task, gold: Path, notes: Path) -> None:
        self._task, self._inputs = task, Inputs(gold=gold, notes=notes)
        self.loaded = load_files(task, self._inputs)

    def load(self, predictions: Path, *, complete: bool = False) -> Loaded:
        """Predictions beside gold and notes, which must be free of errors."""
        try:
            return self._beside(predictions, complete)
        except (WholeNamesNeededError, BadStream):
            return load_files(self._task, replace(self._inputs, predictions=predictions), complete=complete)

    def _beside(self, predictions: Path, complete: bool) -> Loaded:
        known = self.loaded
        dataset = replace(known.dataset, vocabulary=known.dataset.vocabulary.copy())
        findings = ProblemCollector(str(predictions), self._task.array)
        loader = AnnotationLoader(self._task, dataset, findings)
        with opened(predictions) as source:
            sha256 = source.sha256()
            columns = loader.load(memoryview(source.data), missing="error" if complete else "warning")
        return Loaded(
            dataset,
            known.columns | {"predictions": columns},
            known.findings | {"predictions": findings},
            known.sha256 | {"predictions": sha256},
        )

"""Score corpora of the tests with sandscore."""

import tempfile
from pathlib import Path
from typing import Any

from corpora import write

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import Task


def card_of(
    task: Task, notes: list[dict[str, Any]], measures: tuple[str, ...] = (), *, with_notes: bool = True
) -> Scorecard:
    """The score card of a corpus, through files as a user would."""
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), task, notes)
        inputs = Inputs(files["gold"], files["predictions"], files["notes"] if with_notes else None)
        loaded = load_files(task, inputs)
        assert not loaded.faulty("gold", "predictions", "notes"), [f.problems for f in loaded.findings.values()]
        return score(Question(task, measures, load_hipaa_map() if task.hipaa else None), loaded)


def counts(card: Scorecard, measure: str) -> tuple[int | None, int | None, int | None]:
    """tp, fp, fn of one measure."""
    found = card.measures[measure]
    return found.tp, found.fp, found.fn

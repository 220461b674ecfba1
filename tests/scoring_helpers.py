"""Score corpora of the tests with sandscore."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpora import write

from sandscore.annotations.input_files import UNWATCHED, Inputs, load_files
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.pooling.several_annotators import score_against_each
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import Task


def card_of(
    task: Task,
    notes: list[dict[str, Any]],
    measures: tuple[str, ...] = (),
    *,
    with_notes: bool = True,
    others: Sequence[list[dict[str, Any]]] = (),
) -> Scorecard:
    """The score card of a corpus, through files as a user would; ``others`` hold further annotators' gold."""
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), task, notes)
        inputs = Inputs(files["gold"], files["predictions"], files["notes"] if with_notes else None)
        question = Question(task, measures, load_hipaa_map() if task.hipaa else None)
        if others:
            golds = []
            for number, other in enumerate(others):
                (Path(folder) / str(number)).mkdir()
                golds.append(write(Path(folder) / str(number), task, other)["gold"])
            each = [inputs, *(Inputs(gold, None, inputs.notes) for gold in golds)]
            return score_against_each(question, each, watch=UNWATCHED).card
        loaded = load_files(task, inputs)
        assert not loaded.faulty("gold", "predictions", "notes"), [f.problems for f in loaded.findings.values()]
        return score(question, loaded)


def counts(card: Scorecard, measure: str) -> tuple[int | None, int | None, int | None]:
    """tp, fp, fn of one measure."""
    found = card.measures[measure]
    return found.tp, found.fp, found.fn

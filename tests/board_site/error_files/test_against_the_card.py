"""The error files and the score card count the same errors, on the example challenge's submissions."""

import json
from pathlib import Path

import pytest

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.bundled_content import example_gold, submissions
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.profiles.profile import ProfileInput
from sandscore.profiles.profile_documents import documents
from sandscore.scoring.card_building import Question, score
from sandscore.site.error_files.error_file_writer import error_report
from sandscore.task_table.task import find_task

GOLD = example_gold()
SUBMISSIONS = sorted(path.parent for path in submissions().glob("*/predictions.json"))
assert SUBMISSIONS, "no submission to compare"


@pytest.mark.parametrize("submission", SUBMISSIONS, ids=lambda path: path.name)
def test_the_same_errors(submission: Path) -> None:
    task = find_task(json.loads((submission / "submission.json").read_text(encoding="utf-8"))["task"])
    files = [GOLD / f"{task.id}.json", submission / "predictions.json", GOLD / "notes.json"]
    gold, predictions, notes = (json.loads(path.read_text(encoding="utf-8")) for path in files)
    report = error_report(documents(ProfileInput(task, notes, gold, predictions)), task)
    loaded = load_files(task, Inputs(*map(str, files)))
    card = score(Question(task, (), load_hipaa_map(None) if task.hipaa else None), loaded)
    assert card.errors
    wrong = [row for row in report.false_negatives if row.error_type == "WrongEntity"]
    assert len(wrong) == card.errors.wrong_label
    assert len(report.false_negatives) - len(wrong) == card.errors.missed + card.errors.boundary
    assert len(report.false_positives) - len(wrong) == card.errors.spurious + card.errors.boundary
    strict = card.measures["instance_strict"]
    assert (report.overall.precision, report.overall.recall) == (strict.precision, strict.recall)
    assert report.f_score == strict.f1

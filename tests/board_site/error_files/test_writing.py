"""Four files, complete or not at all; metrics.json is strict JSON."""

import json
from pathlib import Path

import pytest

from sandscore.base.errors import UsageFault
from sandscore.measures.measure_syntax import parse
from sandscore.profiles.presidio import presidio_profile
from sandscore.profiles.profile_registry import PROFILES
from sandscore.records.document import Annotation, Document
from sandscore.site.error_files.error_file_writer import write_error_files
from sandscore.task_table.task import find_task

FILES = {"metrics.json", "false_positives.csv", "false_negatives.csv", "confusion_matrix.html"}
PHI = find_task("phi")
TEXT = "Maria Lopez met Anna yesterday ."
NOTE = Document("n1", TEXT, (Annotation(0, 11, "Maria Lopez", "PERSON"),), (Annotation(16, 4, "Anna", "PERSON"),))
NAMED = parse("presidio(release=0.2.5,skip_words=none)", PROFILES.find, "profile")
SETTINGS = presidio_profile.PresidioScorer.settle(NAMED)


@pytest.mark.parametrize("settings", [None, SETTINGS], ids=["own", "presidio"])
def test_all_four_files(tmp_path: Path, settings: dict[str, bool | int | float | str] | None) -> None:
    write_error_files(tmp_path / "errors", [NOTE], PHI, presidio=settings, created="2026-01-01")
    assert {path.name for path in (tmp_path / "errors").iterdir()} == FILES
    found = json.loads((tmp_path / "errors" / "metrics.json").read_text())
    assert found["precision"] == found["details"]["pii_precision"] == 0.0
    assert found["details"]["timestamp"] == "2026-01-01"
    assert "n1" in (tmp_path / "errors" / "false_negatives.csv").read_text()


def test_undefined_is_null(tmp_path: Path) -> None:
    nothing = Document("n1", TEXT, (), ())
    write_error_files(tmp_path, [nothing], PHI)
    text = (tmp_path / "metrics.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)["f1_score"] is None


def test_foreign_types_are_reported(tmp_path: Path) -> None:
    report = write_error_files(tmp_path, [NOTE], PHI, names={"NAME": "PERSON"})
    assert json.loads((tmp_path / "metrics.json").read_text())["details"]["unmapped_types"] == {"PERSON": 2}
    assert report.alignment.discarded == ()


def test_the_old_files_are_replaced_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "metrics.json").write_text("old")
    write_error_files(tmp_path, [NOTE], PHI)
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found["mine.txt"] == "mine"
    assert "details" in json.loads(found["metrics.json"])
    assert found.keys() == {"mine.txt", *FILES}


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "errors").write_text("in the way")
    with pytest.raises(UsageFault, match="is not a directory"):
        write_error_files(tmp_path / "errors", [NOTE], PHI)

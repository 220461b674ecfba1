"""The schemas that are published are the ones the models are checked by."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sandscore.base.bundled_content import schema_path
from sandscore.task_table.task import TASKS

ROOT = Path(__file__).resolve().parents[2]
MAKER = runpy.run_path(str(ROOT / "tools" / "publish_record_schemas.py"))
BY_HAND = {"note", "submission"}
"""Others write these: the notes of a data set, and a team's manifest."""
OF_RECORDS = {path.name.partition(".")[0] for path in schema_path("note").parent.glob("*.json")} - set(TASKS) - BY_HAND


@pytest.mark.parametrize("name", sorted(OF_RECORDS))
def test_published_is_what_the_model_says(name: str) -> None:
    published = schema_path(name).read_text(encoding="utf-8")
    Draft202012Validator.check_schema(json.loads(published))
    assert published == MAKER["schema_text"](name), "tools/publish_record_schemas.py writes it anew"


def test_every_record_that_is_made_is_published() -> None:
    assert set(MAKER["PUBLISHED"]) == OF_RECORDS
    assert "run" in OF_RECORDS


def test_reading_records_brings_in_no_heavy_package() -> None:
    program = "import sys, sandscore.ranking.board_exports, sandscore.ranking.board_building; print(*sys.modules)"
    scoring = Path(__file__).resolve().parents[2] / "scoring"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=scoring
    ).stdout.split()
    assert not {"pandas", "scipy.stats", "docker", "synapseclient"} & set(loaded)

"""The schemas that are published are the ones the models are checked by."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from sandscore.base.bundled_content import schema_path
from sandscore.records.board import Board
from sandscore.records.challenge import Challenge
from sandscore.records.scorecard import Scorecard


@pytest.mark.parametrize(("name", "model"), [("board", Board), ("challenge", Challenge), ("scorecard", Scorecard)])
def test_published_is_what_the_model_says(name: str, model: type[BaseModel]) -> None:
    published = json.loads(schema_path(name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(published)
    for ours in ("$schema", "$id", "title"):
        published.pop(ours)
    made = model.model_json_schema()
    made.pop("title")
    assert published == made, "run tools/publish_record_schemas.py"


def test_reading_records_brings_in_no_heavy_package() -> None:
    program = "import sys, sandscore.ranking.board_exports, sandscore.ranking.board_building; print(*sys.modules)"
    scoring = Path(__file__).resolve().parents[2] / "scoring"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=scoring
    ).stdout.split()
    assert not {"pandas", "scipy.stats", "docker", "synapseclient", "plotly"} & set(loaded)

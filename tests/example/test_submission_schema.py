"""What the schema of the manifest lets through."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sandscore.base.bundled_content import schema_path
from sandscore.task_table.task import TASKS

SCHEMA = json.loads(schema_path("submission").read_text(encoding="utf-8"))
DIGEST = "sha256:" + "0a" * 32
BY_FILE: dict[str, Any] = {"team": "Tern", "task": "date", "predictions": "predictions.json"}
BY_IMAGE: dict[str, Any] = {"team": "Tern", "task": "date", "image": f"tern/dates@{DIGEST}"}


def accepts(document: object) -> bool:
    return bool(Draft202012Validator(SCHEMA).is_valid(document))


def test_schema_is_sound_and_names_our_tasks() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["task"]["enum"] == list(TASKS)
    assert SCHEMA["properties"]["hardening"]["default"] == "strict"


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(BY_FILE, id="a file"),
        pytest.param(BY_IMAGE, id="an image"),
        pytest.param(BY_FILE | {"predictions": "out/dates..v2.jsonl.gz"}, id="dots inside a name"),
        pytest.param(BY_IMAGE | {"image": f"Registry.example:5000/a_b/c--d@{DIGEST}"}, id="host and port"),
        pytest.param(BY_IMAGE | {"hardening": "compat"}, id="compat"),
        pytest.param(BY_FILE | {"contact": "tern@example.org", "description": "Two\nlines."}, id="all"),
        pytest.param(BY_FILE | {"team": "Équipe 北 🎉"}, id="any script"),
        pytest.param(BY_FILE | {"team": "x" * 100}, id="the longest name"),
    ],
)
def test_accepted(document: dict[str, Any]) -> None:
    assert accepts(document)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"team": "Tern", "task": "date"}, id="nothing handed in"),
        pytest.param(BY_FILE | BY_IMAGE, id="both handed in"),
        pytest.param({"task": "date", "predictions": "p.json"}, id="no team"),
        pytest.param({"team": "Tern", "predictions": "p.json"}, id="no task"),
        pytest.param(BY_FILE | {"task": "dates"}, id="unknown task"),
        pytest.param(BY_FILE | {"teams": "Tern"}, id="unknown property"),
        pytest.param(BY_FILE | {"hardening": "none"}, id="unknown hardening"),
        pytest.param(BY_FILE | {"contact": "tern"}, id="no address"),
        pytest.param(BY_FILE | {"contact": "a@example.org\n"}, id="address with line end"),
        *(
            pytest.param(BY_FILE | {"team": team}, id=f"team {team[:8]!a}")
            for team in ("", " \t", "   ", "x" * 101, "Tern\n", "\x1b[2JTern", "nreT\u202e", "\x85x")
        ),
        *(
            pytest.param(BY_FILE | {"predictions": path}, id=f"path {path!a}")
            for path in ("", "/p.json", "../p.json", "a/../../p.json", "a/..", "..", "C:\\p.json", "a\\p", "a/", "p\n")
        ),
        *(
            pytest.param(BY_IMAGE | {"image": image}, id=f"image {image[:24]!a}")
            for image in (
                "tern/dates",
                "tern/dates:latest",
                f"@{DIGEST}",
                f"tern/dates@{DIGEST}0",
                f"tern/dates@{DIGEST[:-1]}",
                f"tern/dates@{DIGEST}\n",
                f"tern/dates@{DIGEST.upper()}",
                f"tern dates@{DIGEST}",
                f"--privileged@{DIGEST}",
                f"a//b@{DIGEST}",
            )
        ),
    ],
)
def test_refused(document: dict[str, Any]) -> None:
    assert not accepts(document)

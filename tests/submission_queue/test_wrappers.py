"""The CWL wrappers, run by cwltool (which lives in an environment of its own, made where it is missing)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandscore.base.bundled_content import example_gold, submissions
from sandscore.cli.main import run as main

ROOT = Path(__file__).resolve().parents[2]
WRAPPERS = ROOT / "docs" / "wrappers"


@pytest.fixture(scope="module")
def cwltool() -> Path:
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "peer_env.py", "cwltool"], capture_output=True, text=True, check=True
    )
    return Path(made.stdout.strip()).with_name("cwltool")


def run(cwltool: Path, folder: Path, *words: object, **environment: str) -> "subprocess.CompletedProcess[str]":
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = [word for name in environment for word in ("--preserve-environment", name)]
    return subprocess.run(
        [str(cwltool), *kept, *map(str, words)],
        cwd=folder,
        env=os.environ | environment | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def score(cwltool: Path, folder: Path, predictions: Path) -> "subprocess.CompletedProcess[str]":
    gold = example_gold()
    inputs = ["--task", "date", "--gold", gold / "date.json", "--notes", gold / "notes.json", "--team", "Tide"]
    return run(cwltool, folder, WRAPPERS / "score.cwl", *inputs, "--predictions", predictions)


def test_cwltool_makes_the_card_that_the_command_line_makes(tmp_path: Path, cwltool: Path) -> None:
    predictions, gold = submissions() / "date-good" / "predictions.json", example_gold()
    done = score(cwltool, tmp_path, predictions)
    assert done.returncode == 0, done.stderr
    words = ["score", "date", "--gold", gold / "date.json", "--notes", gold / "notes.json", "--team", "Tide"]
    own = tmp_path / "own.json"
    assert main([*map(str, words), "--predictions", str(predictions), "-o", str(own)]) == 0
    assert Path(json.loads(done.stdout)["card"]["path"]).read_bytes() == own.read_bytes()


def test_a_participants_fault_is_permanent(tmp_path: Path, cwltool: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[", encoding="utf-8")
    done = score(cwltool, tmp_path, wrong)
    assert done.returncode != 0
    assert "exited with status: 65" in done.stderr
    assert "permanentFail" in done.stderr


def test_an_engine_that_is_not_there_is_temporary(tmp_path: Path, cwltool: Path) -> None:
    words = ["--task", "date", "--image", "sha256:" + "0" * 64, "--notes", example_gold() / "notes.json"]
    nobody = f"unix://{tmp_path}/nobody.sock"
    done = run(cwltool, tmp_path, WRAPPERS / "run.cwl", *words, DOCKER_HOST=nobody)
    assert "exited with status: 75" in done.stderr
    assert "temporaryFail" in done.stderr

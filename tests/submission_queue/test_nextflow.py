"""The Nextflow wrapper: read by a Groovy parser, and its scripts run as Nextflow runs them.

Nextflow itself is in no package registry (what bears its name there fetches it from its maker's site), so that a task's
folder, the names in its script and bash's options are made here as its manual describes them.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from sandscore.base.bundled_content import example_gold, submissions

ROOT = Path(__file__).resolve().parents[2]
PIPELINE = ROOT / "docs" / "wrappers" / "main.nf"
PARSE = """
import sys
from groovy_parser.parser import parse_and_digest_groovy_content as parse
content = sys.stdin.read()
parse(content)
try:
    parse(content.replace("mode: 'copy'", "mode: ]"))
except Exception:
    print("told apart")
"""
PROCESS = re.compile(r"^process (\w+) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"\$\{([\w.]+)\}")


@pytest.fixture(scope="module")
def groovy() -> str:
    made = subprocess.run(
        [sys.executable, ROOT / "tools" / "peer_env.py", "groovy-parser"], capture_output=True, text=True, check=True
    )
    return made.stdout.strip()


def test_it_is_groovy(groovy: str) -> None:
    content = PIPELINE.read_text(encoding="utf-8").partition("\n")[2]
    done = subprocess.run([groovy, "-c", PARSE], input=content, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "told apart"), done.stderr[-2000:]


def processes() -> dict[str, str]:
    return dict(PROCESS.findall(PIPELINE.read_text(encoding="utf-8")))


def inputs(process: str) -> dict[str, str]:
    """Their names, and as what each file is laid into the task's folder."""
    declared = process.partition("input:")[2].partition("output:")[0]
    found = re.findall(r"^\s+path (\w+)(?:, stageAs: '([^']+)')?$", declared, re.MULTILINE)
    assert len(found) == len(declared.split("path")) - 1
    return {name: place or "*" for name, place in found}


def carried_out(name: str, folder: Path, files: Mapping[str, list[Path]], **parameters: str) -> int:
    """A task of the process in its folder; the script's exit code."""
    process, named = processes()[name], {f"params.{key}": value for key, value in parameters.items()}
    assert inputs(process).keys() == files.keys()
    folder.mkdir()
    for variable, place in inputs(process).items():
        staged = [place.replace("*", path.name) for path in files[variable]]
        for source, at in zip(files[variable], staged, strict=True):
            (folder / at).parent.mkdir(exist_ok=True)
            (folder / at).symlink_to(source)
        named[variable], named[f"{variable}.baseName"] = " ".join(staged), Path(staged[0]).stem
    script = re.findall(r'"""\n(.*?)"""', process, re.DOTALL)[0].replace("\\\\", "\\")
    script = NAME.sub(lambda found: named[found[1]], script)
    (folder / ".command.sh").write_text(f"#!/bin/bash -ue\n{script}", encoding="utf-8")
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    command = ["bash", "-ue", ".command.sh"]
    return subprocess.run(command, cwd=folder, env={"PATH": path}, capture_output=True, check=False).returncode


def score(folder: Path, predictions: Path) -> int:
    gold = example_gold()
    files = {"predictions": [predictions], "gold": [gold / "date.json"], "notes": [gold / "notes.json"]}
    return carried_out("SCORE", folder, files, task="date")


def test_teams_are_scored_and_ranked(tmp_path: Path) -> None:
    cards = []
    for team in ("good", "weak"):
        given = tmp_path / f"{team}.json"
        given.write_bytes((submissions() / f"date-{team}" / "predictions.json").read_bytes())
        assert score(tmp_path / team, given) == 0
        cards.append(tmp_path / team / "cards" / f"{team}.json")
    assert 'path "cards/${predictions.baseName}.json"' in processes()["SCORE"]
    assert carried_out("RANK", tmp_path / "rank", {"cards": cards}) == 0
    board = json.loads((tmp_path / "rank" / "board.json").read_bytes())
    assert [row["submission"] for row in board["rows"]] == ["good", "weak"]


def test_a_participants_fault_is_not_tried_again(tmp_path: Path) -> None:
    """Only 75 is, as errorStrategy says."""
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[", encoding="utf-8")
    assert score(tmp_path / "task", wrong) == 65
    (rule,) = re.findall(r"errorStrategy \{ (.*) \}", processes()["SCORE"])
    assert rule == "task.exitStatus == 75 && task.attempt <= 3 ? 'retry' : 'ignore'"

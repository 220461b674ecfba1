"""Imports point one way, and what is heavy is imported only where it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"pandas", "docker", "synapseclient", "plotly", "scipy", "matplotlib", "jinja2", "dask", "requests"}


def imported_by(program: str) -> set[str]:
    """Top-level packages a fresh interpreter holds after the program."""
    told = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint('\\n' + ' '.join(sys.modules))"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    return {name.partition(".")[0] for name in told.stdout.splitlines()[-1].split()}


def command(*words: str) -> str:
    return f"from sandscore.cli.main import run\nassert run({list(words)!r}) == 0"


@pytest.mark.parametrize(
    "program",
    [
        "import sandscore",
        command("--help"),
        command("tasks"),
        command("validate", "date", "gold/example/date.json", "--notes", "gold/example/notes.json"),
        command("score", "--help"),
    ],
    ids=["import", "help", "tasks", "validate", "score help"],
)
def test_light(program: str) -> None:
    assert not HEAVY & imported_by(program)


def test_scoring_stays_light() -> None:
    words = ("score", "date", "--gold", "gold/example/date.json", "--predictions", "gold/example/date.json")
    assert not HEAVY & imported_by(command(*words))


def test_import_arrows() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    ran = subprocess.run([linter, "--no-cache"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout

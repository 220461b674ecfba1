"""``import sandscore`` costs next to nothing, and its names are what they say whatever else was imported."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import sandscore

ROOT = Path(__file__).resolve().parents[2]
MOST_MILLISECONDS = 5.0

EVERYTHING = """
import importlib, pkgutil, sandscore
for found in pkgutil.walk_packages(sandscore.__path__, "sandscore."):
    if not found.name.endswith(("__main__", "_process", "kernel.kernel")):
        importlib.import_module(found.name)
"""
USES = """
import sandscore as ss, tempfile, os
given = dict(gold="gold/example/date.json", notes="gold/example/notes.json")
good, weak = (f"submissions/date-{kind}/predictions.json" for kind in ("good", "weak"))
problems = ss.validate("date", good, notes=given["notes"])
assert isinstance(problems, ss.Problems) and problems.ok
results = [ss.score("date", predictions=one, submission=one, **given) for one in (good, weak)]
assert all(isinstance(result, ss.Result) for result in results)
assert isinstance(results[0]["token"], ss.MeasureResult) and results[0].interval is not None
assert isinstance(ss.compare(*results), ss.Comparison)
board = ss.rank(results)
assert isinstance(board, ss.RankedBoard) and len(board.board.rows) == 2
with tempfile.TemporaryDirectory() as folder:
    assert "index.html" in ss.publish(board, folder).changed
assert ss.verify("leaderboard/date-final/board.json").values > 100
made = ss.convert("gold/example/date.json", source="ours", target="conll", tasks=["date"], notes=given["notes"])
assert isinstance(made, ss.Converted)
copy = ss.perturb(given["notes"], "gold/example", {"case": "upper"})
assert isinstance(copy, ss.Perturbed) and copy.notes == 72
done = ss.run("date", annotate=lambda note: [], notes=given["notes"])
assert isinstance(done, ss.Run) and done.predictions is not None
assert [task.id for task in ss.tasks()][0] == "date"
try:
    ss.score("date", predictions=b"[{}]", **given)
except ss.InvalidPredictions as fault:
    assert isinstance(fault, ss.SandscoreError) and isinstance(fault.problems, ss.Problems) and not fault.problems.ok
else:
    raise AssertionError("invalid predictions were scored")
"""


def ran(program: str) -> str:
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert told.returncode == 0, told.stderr
    return told.stdout


def test_importing_it_imports_nothing_that_computes() -> None:
    """Beside what the interpreter itself, its site and this environment's hooks have imported before."""
    new = ran("import sys; before = set(sys.modules); import sandscore; print(*(set(sys.modules) - before))").split()
    assert set(new) == {"sandscore"}


def test_importing_it_takes_no_time() -> None:
    program = "import sys, time; begun = time.process_time(); import sandscore; print(time.process_time() - begun)"
    assert min(float(ran(program)) for _ in range(8)) * 1000 <= MOST_MILLISECONDS


def test_every_public_name_is_used_below() -> None:
    assert [name for name in sandscore.__all__ if f"ss.{name}" not in USES] == []


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", EVERYTHING], ids=["alone", "after every submodule"])
def test_every_public_name_does_what_it_says(before: str) -> None:
    """A submodule of the same name would stand in its place as soon as somebody imports it."""
    ran(before + USES)


def test_names_are_listed_and_unknown_ones_are_not_there() -> None:
    assert set(sandscore.__all__) <= set(dir(sandscore))
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        _ = sandscore.scores


def test_the_package_is_a_command() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "sandscore", "validate", "date", "gold/example/notes.json"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert told.returncode == 65
    assert "not valid" in told.stdout
    assert "Usage: sandscore" in subprocess.run(
        [sys.executable, "-m", "sandscore", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout  # fmt: skip


@pytest.mark.parametrize("package", ["", "api"])
def test_what_type_checkers_see_is_what_there_is(package: str) -> None:
    """The imports that are only for them, and the names that are found when they are asked for."""
    source = (Path(sandscore.__file__).parent / package / "__init__.py").read_text(encoding="utf-8")
    module = importlib.import_module(f"sandscore.{package}".rstrip("."))
    seen = {
        str(alias.asname): f"{node.module}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    assert len(seen) > 10
    for name, home in seen.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), name)
    assert not {name for name in dir(module) if name[0] != "_" and not hasattr(module, name)}
    listed = set(sandscore.__all__) if not package else set(module._MODULE_OF) | {"tasks"}
    assert listed == {*seen} | {"tasks"}

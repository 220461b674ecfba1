"""The conformance suites pass for every row of ours and for a stranger's, and fail for one that breaks a promise."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from plugins.test_strangers import PACKAGE, ROOT, installed

from sandscore.base.registry import Registry
from sandscore.formats import FORMATS
from sandscore.measures.measure_registry import MEASURES
from sandscore.profiles.profile_registry import PROFILES

pytestmark = pytest.mark.slow
"""Each starts pytest anew."""

LOWER = """
from sandscore.measures.measure import DocumentMeasure
def places(annotations):
    return {at for a in annotations for at in range(a.start, a.end)}
class Readable(DocumentMeasure):
    name, description = "readable", "gold characters that can still be read"
    formula, direction = "ratio(left/gold)", "lower"
    def count(document, settings):
        gold = places(document.gold)
        return {"left": len(gold - places(document.predictions)), "gold": len(gold)}
"""
BROKEN = """
from sandscore.measures.measure import DocumentMeasure
class Firsts(DocumentMeasure):
    name, description, formula = "firsts", "the order of a file counts", "ratio(first/gold)"
    def count(document, settings):
        same = [g.start == p.start for g, p in zip(document.gold, document.predictions)]
        return {"first": sum(same[:1]), "gold": min(1, len(document.gold))}
from sandscore.ranking import score_table
score_table._scale = lambda *_: score_table.MeasureScale()  # more is better, whatever a card says
"""


def suites(*words: str, beside: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The suites as a plug-in's author runs them, away from this checkout's own settings."""
    path = os.pathsep.join(map(str, (ROOT / "scoring", PACKAGE, *beside)))
    environment = os.environ | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = ["pytest", "-q", "-p", "no:cacheprovider", "-p", "sandscore.conformance.kind_option"]
    return subprocess.run(
        [sys.executable, "-m", *command, "--pyargs", "sandscore.conformance", *words],
        capture_output=True, text=True, check=False, cwd=PACKAGE, env=environment,
    )  # fmt: skip


@pytest.mark.parametrize("registry", [MEASURES, FORMATS, PROFILES], ids=["measure", "format", "profile"])
def test_every_row_of_ours_passes(registry: Registry[Any]) -> None:
    ran = suites("--kind", registry.kind, "-rA")
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert all(f"[{name}" in ran.stdout for name in registry.names)
    assert "skipped" not in ran.stdout


def test_strangers_rows_pass_by_their_names(tmp_path: Path) -> None:
    """Of ``readable`` less is better."""
    beside = installed(tmp_path, "lower", LOWER, {"sandscore.measures": "readable = lower:Readable\n"})
    ran = suites("--kind", "measure", "covered_notes", "readable", "-rA", beside=(beside,))
    assert ran.returncode == 0, ran.stdout[-3000:]
    passed = ran.stdout.replace("0-readable", "readable")
    assert "test_boards_are_ranked_and_verified_in_its_direction[readable" in passed
    assert "[covered_notes" in passed
    assert "[token" not in passed


def test_a_broken_promise_is_found(tmp_path: Path) -> None:
    beside = installed(tmp_path, "broken", BROKEN, {"sandscore.measures": "firsts = broken:Firsts\n"})
    ran = suites("--kind", "measure", "firsts", beside=(beside,))
    assert ran.returncode == 1
    failed = ran.stdout.replace("0-firsts", "firsts")
    assert "test_the_order_of_a_file_changes_nothing[firsts" in failed
    assert "test_boards_are_ranked_and_verified_in_its_direction[firsts" in failed


@pytest.mark.parametrize(
    ("words", "said"), [(("mesure",), "unknown kind 'mesure'"), (("measure", "iuo"), "unknown measure 'iuo'")]
)
def test_what_does_not_exist_is_said(words: tuple[str, ...], said: str) -> None:
    ran = suites("--kind", *words)
    assert ran.returncode != 0
    assert said in ran.stdout + ran.stderr

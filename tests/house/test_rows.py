"""Tables of rows: ours are the project's entry points, each says what it is, and a new one touches no other file."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tools.make_rows import KINDS, module_text, project_text, rows_of

from sandscore.base.registry import Registry
from sandscore.measures.measure_registry import MEASURES

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGES = {
    "measure": "docs/measures.md",
    "format": "docs/formats.md",
    "profile": "docs/profiles/README.md",
    "engine": "docs/containers.md",
    "home": "docs/organisers.md",
    "perturbation": "docs/perturbation.md",
}
NEW = {
    "measures/half_covered.py": '''"""Gold annotations of which half is covered."""

from sandscore.measures.measure import DocumentMeasure


class HalfCovered(DocumentMeasure):
    """Half is enough."""

    name = "half_covered"
    description = "gold annotations of which half is covered"
    formula = "ratio(half/gold)"

    @staticmethod
    def count(document, settings):
        return {"half": len(document.gold) // 2, "gold": len(document.gold)}
''',
    "formats/lines.py": '''"""A format of lines."""

from sandscore.formats.corpus import Corpus
from sandscore.formats.file_format import FileFormat


class LinesFormat(FileFormat):
    """One line a note."""

    name = "lines"
    description = "one line a note"
    suffixes = (".lines",)

    @staticmethod
    def reads(paths, journal, notes, /):
        return Corpus(())

    @staticmethod
    def writes(corpus, journal, /):
        return b""
''',
    "profiles/silent/__init__.py": '"""A profile that says nothing."""\n',
    "profiles/silent/silent_profile.py": '''"""A profile that says nothing."""

from sandscore.profiles.profile import OriginalScorer, ProfileResult


class SilentScorer(OriginalScorer):
    """Nothing at all."""

    name = "silent"
    description = "nothing at all"

    @staticmethod
    def evaluate(given, settings, /):
        return ProfileResult(measures={})
''',
}
ASKED = """
from sandscore.formats import FORMATS
from sandscore.base.registry import Registry
from sandscore.measures.measure_registry import MEASURES
from sandscore.profiles.profile_registry import PROFILES
for registry, name in ((MEASURES, "half_covered"), (FORMATS, "lines"), (PROFILES, "silent")):
    assert registry.find(name).name == name == registry.names[-1], registry.names
    assert registry.plugin(name) is None
"""


@pytest.mark.parametrize("registry", KINDS, ids=lambda registry: registry.kind)
def test_entry_points_and_table_are_the_rows_that_there_are(registry: Registry[Any]) -> None:
    rows = rows_of(registry)
    assert rows == registry.targets == PROJECT["entry-points"][registry.group], "python -m tools.make_rows"
    assert [row.name for row in registry] == list(registry.names)
    assert all(row.description and row.source for row in registry)


def test_the_tool_would_write_what_there_is() -> None:
    assert project_text() == (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert module_text() == (ROOT / "scoring/sandscore/base/own_rows.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("registry", KINDS, ids=lambda registry: registry.kind)
def test_every_row_is_in_the_docs(registry: Registry[Any]) -> None:
    page = (ROOT / PAGES[registry.kind]).read_text(encoding="utf-8")
    told = set(re.findall(r"`([\w-]+)`", page))
    labels = set(MEASURES.label_measures) if registry is MEASURES else set()
    assert set(registry.names) - labels <= told


@pytest.mark.slow
def test_a_new_row_touches_no_file_that_a_hand_writes(tmp_path: Path) -> None:
    """Its own module, and the two lists that one command writes."""
    for part in ("scoring", "tools", "schemas"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    package = tmp_path / "scoring" / "sandscore"
    for name, text in NEW.items():
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text(text, encoding="utf-8")
    for words in (["-m", "tools.make_rows"], ["-c", ASKED]):
        environment = {"PYTHONPATH": f"{package.parent}:{tmp_path}", "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, check=True, capture_output=True)
    touched = {path.relative_to(tmp_path).as_posix() for path, text in before.items() if path.read_bytes() != text}
    assert touched == {"pyproject.toml", "scoring/sandscore/base/own_rows.py"}

"""The wheel holds what it should, and works where the sources are out of reach."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LISTED = Path(__file__).with_name("wheel_contents.txt")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist, as a release is."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT], check=True, capture_output=True
    )
    assert list(out.glob("*.tar.gz"))
    return next(out.glob("*.whl"))


def test_contents(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = sorted(name for name in archive.namelist() if ".dist-info/" not in name)
    assert names == LISTED.read_text(encoding="utf-8").split(), "tools/wheel_contents.sh writes the list"


PROGRAM = """
import sys
sys.path[:0] = [{lib!r}, {site!r}]
import pytest
import sandscore
assert sandscore.__file__.startswith({lib!r}), sandscore.__file__
sys.exit(pytest.main({arguments!r}))
"""


def test_the_tests_pass_on_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """Isolated from this checkout: only the unpacked wheel and the installed libraries are on the path."""
    lib, tests = tmp_path / "lib", tmp_path / "tests"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(lib)
    shutil.copytree(ROOT / "tests", tests, ignore=shutil.ignore_patterns("vectors", "__pycache__"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {tests}\n")
    chosen = [tests / "cli" / "test_validate_and_score.py", tests / "cli" / "test_worked_example.py"]
    chosen += [tests / "measuring" / "test_card_schema.py", tests / "reading" / "test_schema_facts.py"]
    site = next((Path(sys.executable).parents[1] / "lib").glob("python3*/site-packages"))
    arguments = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", f"--rootdir={tmp_path}", *map(str, chosen)]
    program = PROGRAM.format(lib=str(lib), site=str(site), arguments=arguments)
    ran = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert " passed" in ran.stdout

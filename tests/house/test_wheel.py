"""The wheel holds what it should, and works where the sources are out of reach; so does one without the kernel."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BUNDLED = ("schemas", "submissions", "gold/example", "gold/hipaa.json")
KERNEL = "sandscore/kernel/kernel.so"
SOURCES = sorted((ROOT / "scoring" / KERNEL).parent.glob("*.c"))
COMPILED = bool(SOURCES and shutil.which(os.environ.get("CC", "cc").split()[0]))


def build(out: Path, *options: str, **environment: str) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", *options, "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | environment)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from the sdist, as a release is."""
    out = tmp_path_factory.mktemp("dist")
    built = build(out)
    assert list(out.glob("*.tar.gz"))
    return built


@pytest.fixture(scope="session")
def pure_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One built where there is no C compiler."""
    return build(tmp_path_factory.mktemp("pure"), "--wheel", CC="no-such-compiler")


def contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


def belonging() -> list[str]:
    """The files of the checkout that a wheel should hold, under the names they have there; C sources stay behind."""
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "scoring/sandscore", *BUNDLED]
    listed = subprocess.run(git, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    there = (name for name in listed if (ROOT / name).exists() and not name.endswith((".c", ".h")))
    return sorted(name.removeprefix("scoring/") if name.startswith("scoring/") else _bundled(name) for name in there)


def _bundled(name: str) -> str:
    return f"sandscore/_content/{name}"


def unpack(wheel: Path, folder: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_contents(wheel: Path, pure_wheel: Path) -> None:
    expected = belonging()
    assert "sandscore/__init__.py" in expected
    assert contents(pure_wheel) == expected
    assert contents(wheel) == sorted([*expected, KERNEL] if COMPILED else expected)


def test_the_name_says_where_it_runs(wheel: Path, pure_wheel: Path) -> None:
    assert pure_wheel.name.endswith("-py3-none-any.whl")
    assert wheel.name.endswith("-py3-none-any.whl") is not COMPILED
    assert "-py3-none-" in wheel.name


def test_the_kernel_is_the_same_wherever_it_is_compiled(wheel: Path) -> None:
    here = ROOT / "scoring" / KERNEL
    with zipfile.ZipFile(wheel) as archive:
        shipped = archive.read(KERNEL) if COMPILED else None
    assert shipped == (here.read_bytes() if here.exists() else None), "make environment compiles the one here"


ALONE = """
import sys
sys.path[:0] = [{lib!r}, {site!r}]
import sandscore
assert sandscore.__file__.startswith({lib!r}), sandscore.__file__
"""


def ran_alone(lib: Path, program: str, cwd: Path) -> str:
    """What the program says that sees only the unpacked wheel and the installed libraries, not this checkout."""
    site = next((Path(sys.executable).parents[1] / "lib").glob("python3*/site-packages"))
    whole = ALONE.format(lib=str(lib), site=str(site)) + program
    ran = subprocess.run([sys.executable, "-S", "-c", whole], capture_output=True, text=True, check=False, cwd=cwd)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    return ran.stdout


def test_the_tests_pass_on_the_wheel(wheel: Path, tmp_path: Path) -> None:
    lib, tests = unpack(wheel, tmp_path / "lib"), tmp_path / "tests"
    shutil.copytree(ROOT / "tests", tests, ignore=shutil.ignore_patterns("vectors", "__pycache__"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {tests}\n")
    chosen = [tests / "cli" / "test_validate_and_score.py", tests / "cli" / "test_worked_example.py"]
    chosen += [tests / "measures" / "test_card_schema.py", tests / "annotations" / "test_schema_facts.py"]
    arguments = ["-q", "-p", "no:cacheprovider", "--import-mode=importlib", f"--rootdir={tmp_path}", *map(str, chosen)]
    assert " passed" in ran_alone(lib, f"import pytest\nsys.exit(pytest.main({arguments!r}))", tmp_path)


SCORING = """
from sandscore.base import bundled_content as content
from sandscore.cli.main import run
from sandscore.kernel.kernel_library import kernel
assert (kernel() is not None) is {compiled}
gold = content.example_gold()
for given in sorted(content.submissions().glob("*/predictions.json")):
    task = given.parent.name.rpartition("-")[0]
    words = ["score", task, "--gold", gold / f"{{task}}.json", "--notes", gold / "notes.json"]
    assert run([*map(str, words), "--predictions", str(given), "-o", f"{{given.parent.name}}.json"]) == 0
"""


def test_cards_are_the_same_without_the_kernel(wheel: Path, pure_wheel: Path, tmp_path: Path) -> None:
    cards = []
    for name, built in (("compiled", wheel), ("pure", pure_wheel)):
        lib, out = unpack(built, tmp_path / name), tmp_path / f"{name}-cards"
        out.mkdir()
        ran_alone(lib, SCORING.format(compiled=built == wheel and COMPILED), out)
        cards.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert cards[0] == cards[1]
    assert len(cards[0]) == 6

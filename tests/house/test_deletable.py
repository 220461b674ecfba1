"""The core stands alone: each profile, each foreign format, Synapse's home, Dask and the kernel can be taken away.

Each is deleted in a copy of the checkout. What remains is imported, the tests of the core still pass, and so do the
verbs; who asks for what is gone is told so.
"""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout_copy import PACKAGE, ROOT, CheckoutCopy

pytestmark = pytest.mark.slow

CORE = ("base", "records", "task_table", "annotations", "measures", "scoring", "ranking", "api")
CORE_LINES = 9_500
"""Lines of code, without blank ones and docstrings: about what can be read in an afternoon, and not to grow."""
CORE_TESTS = ("tests/ranking/test_cards.py", "tests/measures/test_values.py", "tests/annotations/test_schema_facts.py")
VERBS = """
from sandscore.cli.main import run
address = ["address", "--notes", "gold/example/notes.json"]
given = "submissions/address-weak/predictions.json"
assert run(["tasks"]) == 0
assert run(["validate", *address, given]) == 0
assert run(["score", *address, "--gold", "gold/example/address.json", "--predictions", given, "-o", "card.json"]) == 0
assert run(["rank", "card.json", "-o", "board.json"]) == 0
assert run(["verify", "board.json"]) == 0
"""


def packages(room: str) -> list[str]:
    return sorted(f"{room}/{path.parent.name}" for path in (ROOT / PACKAGE / room).glob("*/__init__.py"))


def foreign_formats() -> list[str]:
    """The modules of formats/ that give a format its name, but our own."""
    files = (ROOT / PACKAGE / "formats").glob("*.py")
    named = {path.stem for path in files if "\nNAME = " in path.read_text(encoding="utf-8")}
    return sorted(f"formats/{name}" for name in named - {"sandscore_json"})


REMOVABLE = [
    *packages("profiles"),
    *foreign_formats(),
    "queue/homes/synapse",
    "queue/dask",
    "annotations/kernel/kernel.so",
]


def remove(copy: CheckoutCopy, name: str) -> None:
    path = copy.package(name)
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()
    else:
        path.with_suffix(".py").unlink()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> CheckoutCopy:
    return CheckoutCopy(tmp_path_factory.mktemp("deletable") / "copy")


@pytest.mark.parametrize("name", REMOVABLE)
def test_the_verbs_work_without(name: str, copy: CheckoutCopy) -> None:
    remove(copy, name)
    try:
        ran = copy.ran("-c", VERBS)
        assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    finally:
        restore(copy)


def test_the_core_passes_its_tests_without_any_of_them(copy: CheckoutCopy) -> None:
    for name in REMOVABLE:
        remove(copy, name)
    try:
        copy.passes(CORE_TESTS)
    finally:
        restore(copy)


def restore(copy: CheckoutCopy) -> None:
    for name in copy.touched():
        path = copy.root / name
        if name in copy.before:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(copy.before[name])
        else:
            path.unlink()


def test_what_is_removed_is_there() -> None:
    there = [(ROOT / PACKAGE / name) for name in REMOVABLE if not name.endswith(".so")]
    assert [path for path in there if not path.exists() and not path.with_suffix(".py").exists()] == []
    assert len(REMOVABLE) > 12


def lines_of_code(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
    spoken = {
        number
        for node in constants
        if isinstance(node, ast.Constant)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(text.splitlines(), 1)
    return sum(
        bool(line.strip()) and number not in spoken and not line.strip().startswith("#") for number, line in lines
    )


def test_the_core_can_be_read_in_an_afternoon() -> None:
    files = (path for room in CORE for path in (ROOT / PACKAGE / room).rglob("*.py"))
    assert sum(map(lines_of_code, files)) < CORE_LINES


def test_the_core_imports_nothing_that_can_be_taken_away() -> None:
    listed = "import pkgutil, importlib, sys\n" + "".join(
        f"import sandscore.{room} as r\nfor m in pkgutil.walk_packages(r.__path__, r.__name__ + '.'):\n"
        "    m.name.endswith('kernel.kernel') or importlib.import_module(m.name)\n"
        for room in ("base", "records", "task_table", "annotations", "measures", "scoring", "ranking")
    )
    ran = subprocess.run(
        [sys.executable, "-c", f"{listed}print(*sys.modules)"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    gone = tuple(f"sandscore.{name.replace('/', '.')}" for name in REMOVABLE if not name.endswith(".so"))
    assert [module for module in ran.stdout.split() if module.startswith(gone)] == []
    assert Path(ROOT / PACKAGE / "profiles").is_dir()

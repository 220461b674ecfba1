"""The core stands alone: the rooms beside it, profiles, formats, engines, homes, Dask, share kit and kernel can go.

Each is deleted in a copy of the checkout. What remains is imported, the tests of the core still pass, and so do the
verbs; who asks for what is gone is told so.
"""

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from checkout_copy import PACKAGE, ROOT, CheckoutCopy

from sandscore import api
from sandscore.base.errors import UsageFault
from sandscore.base.registry import Registry
from sandscore.base.removable_rooms import ROOMS
from sandscore.containers.engines.engine_registry import ENGINES
from sandscore.formats import FORMATS
from sandscore.profiles.profile_registry import PROFILES
from sandscore.queue.homes.home_registry import HOMES

pytestmark = pytest.mark.slow

CORE = ("base", "records", "task_table", "annotations", "measures", "scoring", "ranking", "api")
CORE_LINES = 9_141
"""Lines of code, without blank ones and docstrings: about what can be read in an afternoon, and not to grow."""
CORE_TESTS = ("tests/ranking/test_cards.py", "tests/measures/test_values.py", "tests/annotations/test_schema_facts.py")
VERBS = """
from sandscore.cli.main import run
address = ["address", "--notes", "gold/example/notes.json"]
given = "submissions/address-weak/predictions.json"
assert run(["tasks"]) == 0
assert run(["validate", *address, given]) == 0
assert run(["validate", "address", "gold/example/date.json", "--notes", "gold/example/notes.json"]) == 65
assert run(["score", *address, "--gold", "gold/example/address.json", "--predictions", given, "-o", "card.json"]) == 0
assert run(["rank", "card.json", "-o", "board.json"]) == 0
assert run(["verify", "board.json"]) == {verified}
from sandscore import validate
assert repr(validate("address", given, notes="gold/example/notes.json"))
"""


SCORED = ("score", "address", "--gold", "gold/example/address.json", "--predictions", "gold/example/address.json")
RANKED = ("rank", "leaderboard/cards/date-good.json", "leaderboard/cards/date-weak.json")
ASKED = {
    "board_tables": RANKED,
    "challenges": (*RANKED, "--challenge", "gold/example/challenge.toml"),
    "disclosure": (*RANKED, "--challenge", "gold/example/challenge.toml"),
    "documents": (*SCORED, "--measure", "overlap"),
    "gold_index": ("index", "gold/example/date.json", "gold/example/notes.json", "-o", "made.index"),
    "leaks": (*SCORED, "--measure", "char_leak"),
    "optional_rules": (*RANKED, "--challenge", "tests/ranking/old_boards/borda/challenge.toml"),
    "original_scores": (*SCORED, "--notes", "gold/example/notes.json", "--profile", "nlpsandbox-client"),
    "pooling": (*SCORED, "--notes", "gold/example/notes.json", "--gold", "gold/example/address.json"),
    "remedies": (
        *("validate", "address", "marked.json", "--notes", "gold/example/notes.json"),
        *("--fix", "-o", "mended.json"),
    ),
    "separation": ("power", "date", "--gap", "0.2", "--gold", "gold/example/date.json", "--simulations", "20"),
    "slices": (*SCORED, "--slices", "label"),
    "span_measures": (*SCORED, "--measure", "iou"),
    "verification": ("verify", "leaderboard/date-final/board.json"),
}
"""Words that ask for what a room is for."""
CALLED = {
    "containers": "from sandscore import run\nrun('date', annotate=lambda note: [], notes='gold/example/notes.json')",
    "memory_inputs": "from sandscore import validate\nvalidate('date', {'n1': []}, notes={'n1': 'seen'})",
}
"""Calls that do, where no verb can."""
FOR_A_SENTENCE = """
import sys
from sandscore.base.errors import SandscoreError
try:
    exec(sys.argv[1])
except SandscoreError as fault:
    sys.exit(print(fault, file=sys.stderr) or fault.exit_code)
"""


def rooms_of(registry: Registry[Any]) -> set[str]:
    """What each row of ours lives in: its own package, or a module among those of its kind."""
    kind = registry.base.__module__.rpartition(".")[0].removeprefix("sandscore.").replace(".", "/")
    modules = (
        target.partition(":")[0].removeprefix("sandscore.").replace(".", "/") for target in registry.targets.values()
    )
    return {f"{kind}/{module.removeprefix(kind).split('/')[1]}" for module in modules}


ROWS = {registry.kind: sorted(rooms_of(registry)) for registry in (PROFILES, FORMATS, ENGINES, HOMES)}
CORE_CALLS = {"ranking_calls", "results", "scoring_calls", "validation_calls"}
"""Modules of the library that plain inputs and cards need; every other is a row of the table of public names."""
CALLS = {module.replace("sandscore.", "").replace(".", "/") for module in api.MODULES if ".api." in module}
REMOVABLE = sorted(
    {
        *(room for rooms in ROWS.values() for room in rooms),
        *ROOMS,
        *(CALLS - {f"api/{name}" for name in CORE_CALLS}),
        "queue/dask",
        "site/share_kit",
        "value_views",
        "kernel",
    }
    - {"formats/sandscore_json", "queue/homes/sqlite"}
)
"""All rows but the form of our own files and the home that every installation has. Docker's engine is among them: the
core runs no container, and does without the only engine of ours too."""


def remove(copy: CheckoutCopy, name: str) -> None:
    path = copy.package(name)
    if path.is_dir():
        shutil.rmtree(path)
    elif path.exists():
        path.unlink()
    else:
        path.with_suffix(".py").unlink(missing_ok=True)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> CheckoutCopy:
    return CheckoutCopy(tmp_path_factory.mktemp("deletable") / "copy")


@pytest.mark.parametrize("name", REMOVABLE)
def test_the_verbs_work_without(name: str, copy: CheckoutCopy) -> None:
    remove(copy, name)
    try:
        ran = copy.ran("-c", VERBS.replace("{verified}", "2" if "verification" in name else "0"))
        assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    finally:
        copy.restore()


def asking(room: str) -> tuple[str, ...]:
    """Python's words that ask for what a room is for."""
    verb = f"from sandscore.cli.main import run\nsys.exit(run({[*ASKED.get(room, ())]!r}))"
    return "-c", FOR_A_SENTENCE, CALLED.get(room, verb)


@pytest.mark.parametrize("room", ROOMS)
def test_who_asks_for_what_is_gone_is_told_so(room: str, copy: CheckoutCopy) -> None:
    gold = (copy.root / "gold/example/address.json").read_bytes()
    (copy.root / "marked.json").write_bytes(b"\xef\xbb\xbf" + gold)
    there = copy.ran(*asking(room))
    assert there.returncode == 0, there.stderr[-2000:]
    remove(copy, room)
    try:
        ran = copy.ran(*asking(room))
    finally:
        copy.restore()
    assert ran.returncode == UsageFault.exit_code, ran.stderr[-2000:]
    assert f"this installation has no sandscore.{room}" in ran.stderr
    assert ROOMS[room] in ran.stderr


def test_cards_and_boards_are_the_same_without_the_kernel(copy: CheckoutCopy) -> None:
    made = []
    try:
        for remove_first in (False, True):
            if remove_first:
                remove(copy, "kernel")
            ran = copy.ran("-c", VERBS.replace("{verified}", "0"))
            assert ran.returncode == 0, ran.stderr[-2000:]
            made.append([(copy.root / file).read_bytes() for file in ("card.json", "board.json")])
    finally:
        copy.restore()
    assert made[0] == made[1]


@pytest.mark.parametrize("room", sorted({*ASKED, *CALLED} - {"gold_index"}))
def test_no_room_needs_the_kernel(room: str, copy: CheckoutCopy) -> None:
    """An index keeps what the kernel marked in texts, and is smaller without."""
    (copy.root / "marked.json").write_bytes(b"\xef\xbb\xbf" + (copy.root / "gold/example/address.json").read_bytes())
    with_it = copy.ran(*asking(room))
    remove(copy, "kernel")
    try:
        without = copy.ran(*asking(room))
    finally:
        copy.restore()
    assert (without.returncode, without.stdout) == (with_it.returncode, with_it.stdout), without.stderr[-2000:]


@pytest.mark.parametrize("room", ["challenges", "containers", "disclosure"])
def test_a_queue_says_which_of_its_rooms_is_gone(room: str, copy: CheckoutCopy) -> None:
    words = ["queue", "init", f"queue-without-{room}", "--challenge", "gold/example/challenge.toml"]
    remove(copy, room)
    try:
        ran = copy.ran("-c", f"import sys\nfrom sandscore.cli.main import run\nsys.exit(run({words!r}))")
    finally:
        copy.restore()
    assert ran.returncode == UsageFault.exit_code, ran.stderr[-2000:]
    assert f"this installation has no sandscore.{room}: {ROOMS[room]}" in ran.stderr
    assert not (copy.root / words[2]).exists()


def test_the_core_passes_its_tests_without_any_of_them(copy: CheckoutCopy) -> None:
    for name in REMOVABLE:
        remove(copy, name)
    try:
        copy.passes(CORE_TESTS)
    finally:
        copy.restore()


def test_what_is_removed_is_there() -> None:
    there = [(ROOT / PACKAGE / name) for name in REMOVABLE]
    assert [path for path in there if not path.exists() and not path.with_suffix(".py").exists()] == []
    assert [kind for kind, rooms in ROWS.items() if not {*rooms} & {*REMOVABLE}] == []


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
    files = {path for room in CORE for path in (ROOT / PACKAGE / room).rglob("*.py")}
    calls = {ROOT / PACKAGE / f"{name}.py" for name in CALLS & {*REMOVABLE}}
    assert calls < files
    assert sum(map(lines_of_code, files - calls)) < CORE_LINES


def test_the_core_imports_nothing_that_can_be_taken_away() -> None:
    listed = "import pkgutil, importlib, sys\n" + "".join(
        f"import sandscore.{room} as r\nfor m in pkgutil.walk_packages(r.__path__, r.__name__ + '.'):\n"
        "    importlib.import_module(m.name)\n"
        for room in ("base", "records", "task_table", "annotations", "measures", "scoring", "ranking")
    )
    ran = subprocess.run(
        [sys.executable, "-c", f"{listed}print(*sys.modules)"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    gone = tuple(f"sandscore.{name.replace('/', '.')}" for name in REMOVABLE)
    assert [module for module in ran.stdout.split() if module.startswith(gone)] == []
    assert Path(ROOT / PACKAGE / "profiles").is_dir()

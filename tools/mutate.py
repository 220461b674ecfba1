"""``make mutate``: small faults planted in the package, one at a time, and whether the tests of their room notice.

    python tools/mutate.py                       # ten places in every room
    python tools/mutate.py queue/homes/sqlite    # ten places in a package of a room, or in one of the rooms
    python tools/mutate.py ranking --places 30   # more of one room
    python tools/mutate.py ranking --seed 2      # other places
    python tools/mutate.py queue --near          # only with the test files that name the module of the fault, or the
                                                 # records of its whole room (``tests/struct_values.py``)
    python tools/mutate.py intake --slow         # with the slow tests too: those of whole servers are
    python tools/mutate.py queue --seconds 20    # no more time for one fault: TOO LATE is no survivor, but not noticed

The places are drawn by a seed, so that a survivor can be looked at again. A room is a package of sandscore; its tests
are the folder of that name under tests/, without those that need an engine, a browser or an original scorer, and
without the slow ones. ``conformance`` is looked at when it is asked for: it consists of tests itself.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path("scoring/sandscore")
SEED = 20261118
PLACES = 10
PATIENCE = 300.0
"""Seconds; a fault that makes a test hang is noticed."""
TESTS_OF = {
    "queue": ["submission_queue"],
    "site": ["board_site"],
    "original_scores": ["original_scores", "profiles"],
    "verification": ["verification", "slices/test_robustness.py"],
    "pooling": ["pooling", "leaks/test_leaks_page.py", "leaks/test_leak_parts_by_hand.py"],
    "span_measures": ["span_measures", "measures/test_matching_by_hand.py"],
    "conformance": ["plugins", "submission_queue/test_home_conformance.py", "containers/test_engine_conformance.py"],
}
"""Tests that are not in a folder of the room's name, or not all of them: two of these names are modules of the
standard library, files by hand speak of several rooms, and the suites of conformance are tested by being handed planted
faults."""
NOT_ROOMS = frozenset({"conformance"})
MARKED = "not engine and not browser and not peer"
_PASSES = (0, 5)
"""Exit codes of pytest: all pass; all of them are left out."""
_WORDS = 4000
"""Characters of what tests say that fail with no fault in place: the last."""
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip


class Said(StrEnum):
    """What tests say of a fault."""

    NOTICED = "noticed"
    SURVIVES = "SURVIVES"
    LATE = "TOO LATE"
    """They had not come to their end when their time was over."""


class Plant(msgspec.Struct, frozen=True):
    """A fault: the text from ``begin`` to ``end`` of a file, in bytes, becomes ``instead``."""

    file: str
    line: int
    begin: int
    end: int
    was: str
    instead: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {' '.join(self.was.split())} -> {' '.join(self.instead.split())}"


class Places(ast.NodeVisitor):
    """Everything in a module where a fault can be planted."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.source, self.plants = file, source.encode(), list[Plant]()
        sizes = [len(line) for line in self.source.splitlines(keepends=True)]
        self.starts = [sum(sizes[:number]) for number in range(len(sizes) + 1)]
        self.visit(ast.parse(source))

    def plant(self, node: ast.expr, instead: str) -> None:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        begin, end = self.starts[node.lineno - 1] + node.col_offset, self.starts[end_line - 1] + end_column
        was = self.source[begin:end].decode()
        self.plants.append(Plant(self.file, node.lineno, begin, end, was, instead))

    def text(self, node: ast.expr) -> str:
        return ast.unparse(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            sides = self.text(node.left), self.text(node.comparators[0])
            self.plant(node, f"({sides[0]} {COMPARISONS[type(node.ops[0])]} {sides[1]})")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word = " or " if isinstance(node.op, ast.And) else " and "
        self.plant(node, "(" + word.join(f"({self.text(value)})" for value in node.values) + ")")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.plant(node, f"({self.text(node.operand)})")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        signs: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+"}
        if (sign := signs.get(type(node.op))) and not any(map(_is_text, (node.left, node.right))):
            self.plant(node, f"({self.text(node.left)} {sign} ({self.text(node.right)}))")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if self.text(node.test) == "TYPE_CHECKING":
            return
        if node.orelse:
            self.plant(node.test, f"(not ({self.text(node.test)}))")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.plant(node, f"({self.text(node.orelse)} if {self.text(node.test)} else {self.text(node.body)})")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.plant(node, str(not node.value))
        elif isinstance(node.value, int):
            self.plant(node, str(node.value + 1))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Neither types nor decorators: mypy and the verbs' help watch over those."""
        for part in (*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body):
            self.visit(part)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)  # type: ignore[arg-type]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Positions inside a formatted text are not those of the file."""


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def rooms() -> list[str]:
    """The packages of sandscore that have tests, and are none."""
    return sorted({path.parent.name for path in (ROOT / PACKAGE).glob("*/__init__.py")} - NOT_ROOMS)


@cache
def places_in(room: str) -> list[Plant]:
    """Every place of a room, in the order of its files."""
    files = sorted((ROOT / PACKAGE / room).rglob("*.py"))
    found = (Places(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")).plants for path in files)
    return [plant for plants in found for plant in plants]


def drawn(room: str, number: int, seed: int) -> list[Plant]:
    """So many places of a room, always the same ones for one seed."""
    places = places_in(room)
    chance = random.Random(f"{seed}:{room}")
    return chance.sample(places, min(number, len(places)))


def tests_of(room: str) -> list[Path]:
    """Of the room, also for a package in it."""
    first = room.partition("/")[0]
    return [Path("tests") / name for name in TESTS_OF.get(first, [first])]


def copy_of_the_checkout(folder: Path) -> Path:
    """What git knows or would take, and what was compiled: the kernel, and what Python keeps of every module."""
    git = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    compiled = [
        *(ROOT / PACKAGE).rglob("*.so"),
        *(ROOT / PACKAGE.parent).rglob("*.pyc"),
        *(ROOT / "tests").rglob("*.pyc"),
    ]
    for name in listed + [path.relative_to(ROOT).as_posix() for path in compiled]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


class Grounds:
    """A copy of the checkout in which faults are planted."""

    def __init__(self, folder: Path, *, near: bool = False, slow: bool = False, seconds: float | None = None) -> None:
        self.folder, self.near, self.seconds = copy_of_the_checkout(folder), near, seconds
        self.marked = MARKED if slow else f"{MARKED} and not slow"

    def said(self, plant: Plant, tests: Sequence[Path]) -> Said:
        """What the tests say with the fault in place: the nearest file by itself, then all others."""
        path = self.folder / plant.file
        whole = path.read_bytes()
        path.write_bytes(whole[: plant.begin] + plant.instead.encode() + whole[plant.end :])
        try:
            files = self.nearest_first(plant, tests)
            first = self.said_by(files[:1])[0]
            others = self.said_by(files[1:])[0] if first is not Said.NOTICED else first
            return max((first, others), key=(Said.SURVIVES, Said.LATE, Said.NOTICED).index)
        finally:
            path.write_bytes(whole)
            shutil.copystat(ROOT / plant.file, path)

    def said_by(self, tests: Sequence[Path], seconds: float | None = None) -> tuple[Said, str]:
        """What these tests say, and in which words. What makes a test hang is noticed, but where time is short."""
        if not tests:
            return Said.SURVIVES, ""
        words = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", "-m", self.marked]
        environment = os.environ | {"PYTHONPATH": str(self.folder / "scoring"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, *words, *map(str, tests)]
        short = seconds or self.seconds
        with tempfile.TemporaryFile() as printed, subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=printed, stderr=printed, start_new_session=True
        ) as ran:  # fmt: skip
            try:
                code = ran.wait(short or PATIENCE)
            except subprocess.TimeoutExpired:
                return Said.LATE if short else Said.NOTICED, f"not at their end after {short or PATIENCE:.0f} s"
            finally:
                _end_all_of(ran)
            printed.seek(0)
            return Said.SURVIVES if code in _PASSES else Said.NOTICED, printed.read().decode(errors="replace")

    def nearest_first(self, plant: Plant, tests: Sequence[Path]) -> list[Path]:
        """Test files that name the module come first, of these the quick ones: by hand, and without drawn examples."""
        name = Path(plant.file).stem
        files = [path for given in tests for path in _files(self.folder, given)]
        texts = {path: (self.folder / path).read_text(encoding="utf-8") for path in files}
        files.sort(
            key=lambda path: (
                name not in texts[path],
                "by_hand" not in path.stem,
                f"{name} import" not in texts[path],
                "hypothesis" in texts[path],
            )
        )
        return [path for path in files if name in texts[path] or "changeable(" in texts[path]] if self.near else files


def _end_all_of(ran: "subprocess.Popen[bytes]") -> None:
    """Also the processes that it began, which would go on without it."""
    with suppress(ProcessLookupError):
        os.killpg(ran.pid, signal.SIGKILL)


def _files(folder: Path, given: Path) -> Iterator[Path]:
    if (folder / given).is_file():
        yield given
    else:
        yield from (path.relative_to(folder) for path in sorted((folder / given).rglob("test_*.py")))


def survivors(
    room: str, number: int, seed: int, *, near: bool = False, slow: bool = False, seconds: float | None = None
) -> Iterator[Plant]:
    """The faults of a room that its tests do not notice, and those that these did not come to the end of."""
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        grounds = Grounds(Path(folder), near=near, slow=slow, seconds=seconds)
        tests, plants = tests_of(room), drawn(room, number, seed)
        used = {path for plant in plants for path in grounds.nearest_first(plant, tests)}
        without, words = grounds.said_by(sorted(used), PATIENCE)
        if without is not Said.SURVIVES:
            raise SystemExit(f"{', '.join(map(str, tests))}: does not pass as it is\n{words[-_WORDS:]}")
        for plant in plants:
            said = grounds.said(plant, tests)
            print(f"{said:8}", plant, flush=True)
            if said is not Said.NOTICED:
                yield plant


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rooms", nargs="*", default=rooms(), help="packages of sandscore; all of them if none is named")
    parser.add_argument("--places", type=int, default=PLACES)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--near", action="store_true", help="only test files that name the module of the fault")
    parser.add_argument("--slow", action="store_true", help="the slow tests too")
    parser.add_argument("--seconds", type=float, help="how long the tests of a room may look for one fault")
    asked = parser.parse_args()
    left = {
        room: len([*survivors(room, asked.places, asked.seed, near=asked.near, slow=asked.slow, seconds=asked.seconds)])
        for room in asked.rooms
    }
    print(*(f"{room}: {number} of {asked.places} not noticed" for room, number in left.items()), sep="\n")
    return int(any(left.values()))


if __name__ == "__main__":
    sys.exit(main())

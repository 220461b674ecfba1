"""A verb parses, makes one call and prints: it knows no other verb, and no room below the library and the queue."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandscore.cli import queue
from sandscore.cli.main import VERBS

CLI = Path(queue.__file__).resolve().parents[1]
ROOT = CLI.parents[1]
MODULES = sorted(CLI.rglob("*.py"))
VERB_MODULES = {f"sandscore.cli.{module}" for module in VERBS.values()} | {
    f"sandscore.cli.queue.{verb.replace('-', '_')}" for verb in queue.VERBS
}
TABLES = {"sandscore.cli.main", "sandscore.cli.queue"}
"""They find a verb's module by its name and import it when it is asked for."""
BELOW = (
    "sandscore.api",
    "sandscore.intake",
    "sandscore.queue",
    "sandscore.records",
    "sandscore.base",
    "sandscore.task_table",
)
DEMO = "sandscore.cli.demo"
"""Shows commands as a user would type them, and has them run as if one had."""
OF_ALL_VERBS = {DEMO, "sandscore.cli.completion"}
"""They need every verb, which the table finds for them."""


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported_by(path: Path) -> Iterator[str]:
    """Every module a file names in an import, wherever it stands in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, path
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def allowed(module: str) -> bool:
    top = module.partition(".")[0]
    if top != "sandscore":
        return top == "click" or top in sys.stdlib_module_names
    inside = module == "sandscore" or f"{module}.".startswith(tuple(f"{room}." for room in BELOW))
    return inside or module.startswith("sandscore.cli")


def test_every_verb_has_a_module() -> None:
    assert {name_of(path) for path in MODULES} >= VERB_MODULES
    assert len(VERB_MODULES) == len(VERBS) + len(queue.VERBS)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_nobody_imports_a_verb(path: Path) -> None:
    name = name_of(path)
    verbs = {module for module in imported_by(path) if module in VERB_MODULES} - {"sandscore.cli.queue"}
    assert not verbs, name
    assert "sandscore.cli.main" not in imported_by(path) or name in OF_ALL_VERBS


@pytest.mark.parametrize("path", [path for path in MODULES if name_of(path) in VERB_MODULES], ids=name_of)
def test_a_verb_knows_the_library_and_the_queue_alone(path: Path) -> None:
    assert not [module for module in imported_by(path) if not allowed(module)]


@pytest.mark.parametrize("path", [p for p in MODULES if name_of(p) not in {*TABLES, DEMO}], ids=name_of)
def test_nobody_runs_a_command_from_within(path: Path) -> None:
    """Neither a verb's own entry point nor a process with a command line made of values."""
    nodes = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    called = {node.func.attr for node in nodes if isinstance(node.func, ast.Attribute)}
    assert not called & {"main", "invoke", "forward"}
    assert "subprocess" not in imported_by(path)

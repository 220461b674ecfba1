"""A small module with a single importer lives in that importer; a class that only hands on is a function."""

import ast
from collections.abc import Iterator
from functools import cache

from source_trees import MODULES, PACKAGE, nodes_of, tree_of

SMALL = 40
PLACES = {
    f"sandscore.{module.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__"): module for module in MODULES
}


def imported(module: str) -> set[str]:
    """The modules of the package that a module imports, wherever in it."""
    found = set()
    for node in nodes_of(module):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found & PLACES.keys()


@cache
def importers() -> dict[str, set[str]]:
    brought = {name: imported(module) for name, module in PLACES.items()}
    return {name: {other for other, found in brought.items() if name in found} for name in PLACES}


def lines(name: str) -> int:
    return len((PACKAGE / PLACES[name]).read_text(encoding="utf-8").splitlines())


def forwarding(tree: ast.Module) -> Iterator[str]:
    """Classes without data whose one method, beside ``__init__``, does nothing but call something."""
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or any(isinstance(part, ast.AnnAssign) for part in node.body):
            continue
        methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
        others = [method for method in methods if method.name != "__init__"]
        if len(others) == 1 and is_one_call(others[0]) and not others[0].decorator_list:
            yield node.name


def is_one_call(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    said = ast.get_docstring(method) is not None
    done = method.body[said:]
    if len(done) != 1 or not isinstance(done[0], ast.Return | ast.Expr):
        return False
    value = done[0].value.value if isinstance(done[0].value, ast.Await) else done[0].value
    return isinstance(value, ast.Call)


def test_a_small_module_has_more_than_one_importer() -> None:
    """Verbs and what other processes start have no importer: nobody could take them in."""
    named = {name: others for name, others in importers().items() if not PLACES[name].endswith("__init__.py")}
    lonely = {name: next(iter(others)) for name, others in named.items() if len(others) == 1 and lines(name) < SMALL}
    assert lonely == {}, "each of these lives in its one importer"


def test_importers_are_found() -> None:
    assert len(importers()["sandscore.base.errors"]) > 20
    assert "sandscore.cli.main" not in importers()["sandscore.cli.main"]


def test_no_class_only_hands_on() -> None:
    assert {module: found for module in MODULES if (found := list(forwarding(tree_of(module))))} == {}


def test_a_class_that_only_hands_on_is_found() -> None:
    planted = (
        "class Reader:\n    def __init__(self, path): self.path = path\n    def read(self): return load(self.path)\n"
    )
    assert list(forwarding(ast.parse(planted))) == ["Reader"]
    assert list(forwarding(ast.parse(planted.replace("return", "self.held =")))) == []

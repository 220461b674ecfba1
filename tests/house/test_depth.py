"""A small module with a single importer lives in that importer; a class that only hands on is a function."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "scoring" / "sandscore"
SMALL = 40
PATHS = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in PATHS.items()}


def imported(tree: ast.Module) -> set[str]:
    """The modules of the package that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found & PATHS.keys()


IMPORTED = {name: imported(tree) for name, tree in TREES.items()}
IMPORTERS = {name: {other for other, found in IMPORTED.items() if name in found} for name in TREES}


def lines(name: str) -> int:
    return len(PATHS[name].read_text(encoding="utf-8").splitlines())


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
    named = {name: others for name, others in IMPORTERS.items() if PATHS[name].name != "__init__.py"}
    lonely = {name: next(iter(others)) for name, others in named.items() if len(others) == 1 and lines(name) < SMALL}
    assert lonely == {}, "each of these lives in its one importer"


def test_importers_are_found() -> None:
    assert len(IMPORTERS["sandscore.base.errors"]) > 20
    assert "sandscore.cli.main" not in IMPORTERS["sandscore.cli.main"]


def test_no_class_only_hands_on() -> None:
    assert {name: found for name, tree in TREES.items() if (found := list(forwarding(tree)))} == {}


def test_a_class_that_only_hands_on_is_found() -> None:
    planted = (
        "class Reader:\n    def __init__(self, path): self.path = path\n    def read(self): return load(self.path)\n"
    )
    assert list(forwarding(ast.parse(planted))) == ["Reader"]
    assert list(forwarding(ast.parse(planted.replace("return", "self.held =")))) == []

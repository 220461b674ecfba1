"""The package's modules as trees, by their paths below it: parsed when they are asked for, and once for all tests."""

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "scoring" / "sandscore"
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


@cache
def nodes_of(module: str) -> list[ast.AST]:
    """Of the whole module, as ``ast.walk`` meets them."""
    return list(ast.walk(tree_of(module)))


@cache
def trees() -> dict[str, ast.Module]:
    return {module: tree_of(module) for module in MODULES}

"""Production code that only tests use is gone: every public function, class and method has a user in the package."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "scoring" / "sandscore"
TREES = {
    path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
}
TEMPLATES = sorted(path for path in PACKAGE.rglob("templates/**/*") if path.is_file())
CALLED_BY_OTHERS = {"command", "model_validator", "field_validator", "field_serializer", "model_serializer", "fixture"}
"""Decorators: click calls the one, pydantic and pytest the others."""
ALLOWED: dict[str, str] = {}
"""Module:name, and why nobody in the package says it."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
_WORD = re.compile(r"[A-Za-z_]\w*")


def decorators(node: Function | ast.ClassDef) -> set[str]:
    return {word for decorator in node.decorator_list for word in _WORD.findall(ast.unparse(decorator))}


def definitions(tree: ast.Module) -> Iterator[str]:
    """Public functions and classes of a module, and public methods of its classes that no foreign base asks for."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not decorators(node) & CALLED_BY_OTHERS:
            yield node.name
        if isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, Function))
            yield from (part.name for part in methods if not decorators(part) & CALLED_BY_OTHERS)


def public(tree: ast.Module) -> set[str]:
    return {name for name in definitions(tree) if not name.startswith("_")}


def words(tree: ast.AST) -> Iterator[str]:
    """Every name that is said: variables, attributes, imports, keywords; and words in quotes that are not prose."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.count("\n"):
            yield from _WORD.findall(node.value) if " " not in node.value.replace(" | ", "|") else ()


def said() -> Counter[str]:
    """By all modules and templates together."""
    found = Counter(word for tree in TREES.values() for word in words(tree))
    for template in TEMPLATES:
        found.update(_WORD.findall(template.read_text(encoding="utf-8")))
    return found


def unused() -> Iterator[str]:
    known = said()
    for module, tree in TREES.items():
        if not module.startswith("conformance/"):
            yield from (f"{module}:{name}" for name in sorted(public(tree)) if not known[name])


def test_everything_public_has_a_user_in_the_package() -> None:
    assert [name for name in unused() if name not in ALLOWED] == [], "take it away, or into the tests that need it"


def test_what_is_allowed_is_still_unused() -> None:
    assert set(ALLOWED) <= set(unused())


def test_what_nobody_uses_is_found() -> None:
    tree = ast.parse("def lonely(): ...\nclass A:\n    def busy(self): ...\n    @property\n    def quiet(self): ...\nA().busy")
    assert public(tree) - set(words(tree)) == {"lonely", "quiet"}
    assert public(ast.parse("@click.command('x')\ndef command(): ...\ndef _own(): ...")) == set()

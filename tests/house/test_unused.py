"""Production code that only tests use is gone: every public function, class and method has a user in the package."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from source_trees import PACKAGE, tree_of, trees

TEMPLATES = sorted(path for path in PACKAGE.rglob("templates/**/*") if path.is_file())
SUITES = "conformance/"
"""What it holds is called by pytest, by name."""
CALLED_BY_OTHERS = {"command", "group", "model_validator", "field_validator", "field_serializer", "model_serializer"}
"""Decorators: click calls the one, pydantic the others."""
COLLECTED = {"BoardPlot"}
"""Classes whose heirs are found by what they extend."""
ALLOWED = {
    "api/results.py:to_pandas": "public, in notebooks",
    "cli/completion.py:shell_complete": "click asks for it",
    "cli/verb_group.py:format_commands": "click asks for it",
    "cli/verb_group.py:get_command": "click asks for it",
    "cli/verb_group.py:list_commands": "click asks for it",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
_WORD = re.compile(r"[A-Za-z_]\w*")


def is_public(node: Function | ast.ClassDef) -> bool:
    called = {word for decorator in node.decorator_list for word in _WORD.findall(ast.unparse(decorator))}
    bases = {ast.unparse(base) for base in node.bases} if isinstance(node, ast.ClassDef) else set()
    return not node.name.startswith("_") and not called & CALLED_BY_OTHERS and not bases & COLLECTED


def functions_and_classes(tree: ast.Module) -> Iterator[Function | ast.ClassDef]:
    yield from (node for node in tree.body if isinstance(node, Function | ast.ClassDef) and is_public(node))


def methods(tree: ast.Module) -> Iterator[str]:
    for holder in tree.body:
        if isinstance(holder, ast.ClassDef):
            yield from (part.name for part in holder.body if isinstance(part, Function) and is_public(part))


def imported(trees: dict[str, ast.Module]) -> set[tuple[str | None, str]]:
    nodes = (node for tree in trees.values() for node in ast.walk(tree))
    return {(node.module, alias.name) for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def spoken(trees: dict[str, ast.Module]) -> set[str]:
    """Attributes; words in quotes that are no prose, such as tables of names; and words of templates."""
    found = {word for template in TEMPLATES for word in _WORD.findall(template.read_text(encoding="utf-8"))}
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not set(node.value) & set(" \n"):
            found.update(_WORD.findall(node.value))
    return found


def is_used_at_home(node: Function | ast.ClassDef, tree: ast.Module) -> bool:
    """By its own module, outside itself."""
    own = set(map(id, ast.walk(node)))
    return any(isinstance(n, ast.Name) and n.id == node.name and id(n) not in own for n in ast.walk(tree))


def dotted(module: str) -> str:
    return ".".join(("sandscore", *Path(module).with_suffix("").parts)).removesuffix(".__init__")


def unused(trees: dict[str, ast.Module]) -> Iterator[str]:
    brought, said = imported(trees), spoken(trees)
    for module, tree in trees.items():
        if module.startswith(SUITES):
            continue
        for node in functions_and_classes(tree):
            if not (node.name in said or (dotted(module), node.name) in brought or is_used_at_home(node, tree)):
                yield f"{module}:{node.name}"
        yield from (f"{module}:{name}" for name in methods(tree) if name not in said)


def test_everything_public_has_a_user_in_the_package() -> None:
    assert set(unused(trees())) - set(ALLOWED) == set(), "take it away, or into the tests that need it"


def test_what_is_allowed_is_still_there() -> None:
    for name in ALLOWED:
        module, _, wanted = name.partition(":")
        assert wanted in {*methods(tree_of(module)), *(node.name for node in functions_and_classes(tree_of(module)))}


def test_what_nobody_uses_is_found() -> None:
    room = ast.parse(
        "def lonely(): lonely()\n"
        "def busy(): ...\n"
        "class A:\n"
        "    def called(self): ...\n"
        "    @property\n"
        "    def quiet(self): ...\n"
        "@click.command('x')\n"
        "def command(): ...\n"
        "A().called()\n"
    )
    other = ast.parse("from sandscore.room import busy\n")
    assert set(unused({"room.py": room, "other.py": other})) == {"room.py:lonely", "room.py:quiet"}

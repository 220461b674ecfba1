"""Names of modules and classes are unique in the package, and a module's docstring begins with a noun."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from source_trees import MODULES, tree_of

QUESTIONS = {"what", "which", "who", "whom", "whose", "how", "where", "when", "whether", "why"}


def public_classes() -> Iterator[str]:
    for module in MODULES:
        found = (node.name for node in tree_of(module).body if isinstance(node, ast.ClassDef))
        yield from (name for name in found if not name.startswith("_"))


def repeated(names: Iterator[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def is_a_verb(module: str) -> bool:
    """A verb may be called as the module that does its work is; its module in cli says nothing else."""
    return module.startswith("cli/")


def test_modules_have_names_of_their_own() -> None:
    named = (Path(module).stem for module in MODULES if not is_a_verb(module))
    assert repeated(name for name in named if name != "__init__") == []


def test_no_module_is_called_as_a_package_elsewhere() -> None:
    packages = {Path(module).parent.name for module in MODULES if module.endswith("/__init__.py")}
    assert [m for m in MODULES if not is_a_verb(m) and Path(m).stem in packages] == []


def test_public_classes_have_names_of_their_own() -> None:
    assert repeated(public_classes()) == []


def test_a_docstring_begins_with_the_thing_itself() -> None:
    for module in MODULES:
        words = (ast.get_docstring(tree_of(module)) or "").split()
        assert words, f"{module} has no docstring"
        assert words[0].strip(",.:").lower() not in QUESTIONS, f"{module}: begin with the noun, not with {words[0]!r}"

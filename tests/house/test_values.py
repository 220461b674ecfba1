"""Two kinds of values: pydantic's for what people and programs hand us, msgspec's for everything inside.

``dict[str, Any]`` is for JSON whose form is somebody else's; between our own processes and rooms it is none.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache

from source_trees import MODULES, nodes_of

LOOSE = {
    "annotations/": "records of participants that are looked at one by one",
    "api/": "what callers hold in memory, and plain copies of what we hand them",
    "base/strict_json.py": "the JSON reader itself",
    "cli/task_form.py": "a file of annotations as people write it",
    "conformance/": "settings of homes that we do not know",
    "containers/": "answers of annotators and of engines",
    "documents/": "records of files that are looked at one by one",
    "formats/": "foreign files",
    "measures/": "rows of a card, which every measure makes its own",
    "memory_inputs/": "what callers hold in memory",
    "leaks/": "parameters of measures, and files that organisers write",
    "span_measures/": "the same",
    "perturbation/paired_copy.py": "entries of files that go over property by property",
    "profiles/": "decoded files and rows of the original scorers, each of its own form",
    "queue/attempt_files.py": "files that an attempt left for its team, of any form",
    "queue/homes/": "rows of databases, and what Synapse answers",
    "records/": "parts of cards that other profiles give a form",
    "scoring/card_building.py": "rows of a card",
    "site/": "parts of cards",
    "task_table/": "tables of tasks.toml, and JSON Schemas",
}
"""Where it stands, and why its form is not ours."""
MOST_LOOSE = 149
WHO_COMPLAINS = {
    "queue/homes/synapse/synapse_setup.py",
    "queue/settings.py",
    "challenges/challenge_reading.py",
    "records/record_reading.py",
}
"""Lines of TOML, and options on a command line: the sentences are made by ``complaints`` there too."""


def is_loose(node: ast.AST) -> bool:
    named = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "dict"
    return named and ast.unparse(node) == "dict[str, Any]"


def loose(nodes: Iterable[ast.AST]) -> int:
    """How often these nodes of a tree say ``dict[str, Any]``, in quotes or not."""
    return sum(
        node.value.count("dict[str, Any]")
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        else is_loose(node)
        for node in nodes
    )


@cache
def loose_by_module() -> dict[str, int]:
    return {module: loose(nodes_of(module)) for module in MODULES}


def bases(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from ((node.name, ast.unparse(base).rpartition(".")[2]) for base in node.bases)


def imported(module: str) -> set[str]:
    found = set()
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_values_are_structs_or_pydantic_models() -> None:
    for module in MODULES:
        assert not {base for _, base in bases(nodes_of(module))} & {"NamedTuple", "TypedDict"}, module
        assert not {name for name in imported(module) if name.startswith(("dataclasses", "attr"))}, module


def test_dictionaries_of_anything_stand_where_the_form_is_not_ours() -> None:
    ours = [module for module in MODULES if not module.startswith(tuple(LOOSE))]
    assert [module for module in ours if loose_by_module()[module]] == [], "say the form: a msgspec.Struct"


def test_they_do_not_become_more() -> None:
    assert sum(loose_by_module().values()) <= MOST_LOOSE


def test_no_room_is_named_for_nothing() -> None:
    held = [module for module, times in loose_by_module().items() if times]
    assert {room for room in LOOSE if not any(module.startswith(room) for module in held)} == set()


def test_complaints_of_pydantic_become_sentences_in_one_place() -> None:
    brought = {module: imported(module) for module in MODULES}
    catching = {module for module, names in brought.items() if "pydantic.ValidationError" in names}
    assert catching <= WHO_COMPLAINS, "records.record_reading says it"
    for module in catching - {"records/record_reading.py"}:
        assert "sandscore.records.record_reading.complaints" in brought[module], module


def test_what_is_loose_is_found() -> None:
    planted = ast.parse("def f(a: dict[str, Any], b: 'list[dict[str, Any]]') -> dict[str, int]: ...")
    assert loose(ast.walk(planted)) == 2
    assert dict(bases(ast.walk(ast.parse("class A(typing.NamedTuple): ...")))) == {"A": "NamedTuple"}

"""The task table is the only place that knows a task: what follows from it is made, and never written by hand."""

import ast
import importlib.util
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sandscore.annotations.label_codes import allowed
from sandscore.task_table.task import TASKS
from sandscore.task_table.task_schema import schema_of

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str) -> Any:
    """One of the programs in ``tools/``."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


make_schemas = tool("make_schemas")
TABLE = ROOT / make_schemas.TABLE
DISTINCT = {"person-name", "address", "location", "covid-symptom", "phi"}
"""Ids that mean nothing but a task."""
ELSEWHERE = {
    ("name_swap.py", "person-name"): "names are what is swapped, whatever task they are found for",
    ("nlpsandbox_profile.py", "address"): "what the NLP Sandbox client calls a list of its own",
    ("registry_client.py", "location"): "a header of HTTP",
    ("web_api.py", "location"): "the same, in an answer of ours",
    ("participant_template.py", "textDateAnnotations"): "the starting point is written for dates, then for its task",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The table and what follows from it, in a folder of their own."""
    for folder in ("schemas", "scoring/sandscore/task_table", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def test_what_follows_from_the_table_is_as_the_table_says() -> None:
    assert make_schemas.outdated() == [], "run make schemas"


def test_the_table_that_programs_read_is_the_one_that_people_write() -> None:
    assert make_schemas.table_rows(TABLE.read_text(encoding="utf-8")) == list(TASKS.values())


@pytest.mark.parametrize("task", [task.id for task in TASKS.values() if task.labels])
def test_a_label_in_the_schema_alone_is_seen(task: str, checkout: Path) -> None:
    path = checkout / "schemas" / f"{task}.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    schema["$defs"]["annotation"]["properties"][TASKS[task].label]["anyOf"][0]["enum"].append("planet")
    path.write_text(json.dumps(schema, indent=2) + "\n", encoding="utf-8")
    assert make_schemas.outdated(checkout) == [f"schemas/{task}.schema.json"]


def test_a_label_in_the_table_reaches_schema_and_reader_in_one_step(checkout: Path) -> None:
    table = checkout / make_schemas.TABLE
    before = table.read_text(encoding="utf-8")
    table.write_text(before.replace('"ip_address", "phone"', '"ip_address", "pager", "phone"'), encoding="utf-8")
    follows = ["schemas/contact.schema.json", make_schemas.READ, make_schemas.PAGE]
    assert make_schemas.outdated(checkout) == follows
    [changed] = [task for task in make_schemas.table_rows(table.read_text("utf-8")) if task.id == "contact"]
    assert "pager" in (allowed(changed, "contactType") or ())
    rule = schema_of(changed)["$defs"]["annotation"]["properties"]["contactType"]
    assert Draft202012Validator(rule).is_valid(" PAGER ")
    assert not Draft202012Validator(schema_of(TASKS["contact"])["$defs"]["annotation"]).is_valid("pager")


def test_a_property_that_no_task_has_is_an_error() -> None:
    with pytest.raises(SystemExit, match=r"no task has date\.colour"):
        make_schemas.table_rows('[tasks.date]\narray = "textDateAnnotations"\nkind = "date"\ncolour = "red"\n')


def test_ids_arrays_and_types_lead_to_one_task() -> None:
    assert len({task.array for task in TASKS.values()}) == len(TASKS)
    types = [kind for task in TASKS.values() for kind in task.types]
    assert len(set(types)) == len(types)
    assert sum(task.any_type for task in TASKS.values()) == 1


def test_nobody_else_spells_a_task() -> None:
    """An array, or an id that means nothing else, as a string of the program; suites for plug-ins have samples."""
    arrays = {task.array for task in TASKS.values()}
    spelt = {
        (path.name, node.value)
        for path in sorted((ROOT / "scoring/sandscore").rglob("*.py"))
        if path.parent.name != "conformance"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in arrays | DISTINCT
    }
    assert spelt == ELSEWHERE.keys()

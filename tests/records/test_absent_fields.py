"""Fields that are not written while they say nothing, so that older cards and boards keep their bytes."""

import importlib
import pkgutil
from typing import Any

import pytest
from pydantic import BaseModel

from sandscore import records
from sandscore.records.slicing_names import fault_of_slicing, slicing_name

MODULES = [
    importlib.import_module(f"sandscore.records.{found.name}") for found in pkgutil.iter_modules(records.__path__)
]
MODELS = [
    kind
    for module in MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, BaseModel) and kind.__module__ == module.__name__
]
ABSENT = [(kind, name) for kind in MODELS for name, field in kind.model_fields.items() if field.exclude_if]


def written(kind: type[BaseModel], name: str, said: dict[str, Any]) -> dict[str, Any]:
    return kind.model_construct(**said).model_dump(include={name}, warnings=False)


@pytest.mark.parametrize(("kind", "name"), ABSENT, ids=[f"{kind.__name__}.{name}" for kind, name in ABSENT])
def test_what_says_nothing_is_not_written_and_what_says_something_is(kind: type[BaseModel], name: str) -> None:
    assert written(kind, name, {}) == {}
    assert written(kind, name, {name: "something"}) == {name: "something"}


def test_some_fields_are_known_to_be_absent() -> None:
    known = {f"{kind.__name__}.{name}" for kind, name in ABSENT}
    assert {"PerturbedScores.per_unit", "Slice.per_unit", "RankedMeasure.ci", "Board.agreement"} <= known


def test_what_slices_are_called() -> None:
    assert [slicing_name(asked) for asked in ("note-length", "my/hospitals.json")] == ["note-length", "hospitals"]
    assert [fault_of_slicing(asked) for asked in ("note-length", "my/hospitals.json")] == [None, None]
    assert (fault_of_slicing("note-lenght") or "").startswith("unknown slices 'note-lenght'")

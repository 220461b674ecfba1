"""Foreign types become task labels, and whatever is left out is named. The rule is the recorded pipeline's (c03)."""

from pathlib import Path

import pytest

from sandscore.base.errors import MissingFile, OrganiserFault
from sandscore.records.document import Annotation, Document
from sandscore.site.error_files.entity_map import align, entity_map, read_entity_map
from sandscore.task_table.task import find_task

PHI, ADDRESS = find_task("phi"), find_task("address")
NAMES = entity_map(
    {"PERSON": "PERSON", "NAME": "PERSON", "GPE": "LOCATION", "LOCATION": "LOCATION", "ZIP_CODE": "LOCATION"}, PHI
)


def note(name: str, *gold: str, predicted: tuple[str, ...] = ()) -> Document:
    sides = [tuple(Annotation(i, 1, "x", kind) for i, kind in enumerate(kinds)) for kinds in (gold, predicted)]
    return Document(name, None, sides[0], sides[1])


def types(document: Document) -> list[str | None]:
    return [a.label for a in document.gold]


def test_a_named_type_is_replaced() -> None:
    kept, alignment = align([note("a", "NAME", "GPE")], NAMES)
    assert types(kept[0]) == ["PERSON", "LOCATION"]
    assert alignment.unmapped == {}


def test_an_unnamed_type_goes_where_a_named_one_stays() -> None:
    kept, alignment = align([note("a", "PERSON", "WIDGET"), note("b", "WIDGET")], NAMES)
    assert [types(document) for document in kept] == [["PERSON"], ["WIDGET"]]
    assert alignment.unmapped == {"WIDGET": 2}
    assert alignment.discarded == ()


def test_a_name_spelled_otherwise_discards_the_note() -> None:
    kept, alignment = align([note("a", "PERSON"), note("b", "PERSON", "zipcode")], NAMES)
    assert [document.id for document in kept] == ["a"]
    (left_out,) = alignment.discarded
    assert left_out.note == "b"
    assert "'zipcode' is named 'ZIP_CODE'" in left_out.reason


def test_predictions_are_renamed_and_never_dropped() -> None:
    kept, alignment = align([note("a", "PERSON", predicted=("GPE", "WIDGET", "person"))], NAMES)
    assert [a.label for a in kept[0].predictions] == ["LOCATION", "WIDGET", "person"]
    assert alignment.unmapped == {"WIDGET": 1, "person": 1}


def test_nothing_left_is_the_organisers_fault() -> None:
    with pytest.raises(OrganiserFault, match="discards every note"):
        align([note("a", "person")], NAMES)


def test_the_tasks_own_labels_need_no_entry() -> None:
    assert entity_map({"GPE": "city"}, ADDRESS)["zip"] == "zip"


@pytest.mark.parametrize("given", [[], {"GPE": 1}, {"GPE": "planet"}, "x"])
def test_a_map_that_is_none(given: object) -> None:
    with pytest.raises(OrganiserFault):
        entity_map(given, ADDRESS)


def test_the_file(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    path.write_text('{"GPE": "city"}')
    assert read_entity_map(path, ADDRESS)["GPE"] == "city"
    path.write_text('{"GPE": "city", "GPE": "zip"}')
    with pytest.raises(OrganiserFault, match="duplicate key"):
        read_entity_map(path, ADDRESS)
    with pytest.raises(MissingFile):
        read_entity_map(tmp_path / "none.json", ADDRESS)

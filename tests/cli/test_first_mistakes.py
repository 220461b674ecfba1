"""What a newcomer gets wrong in a first file: the sentence about it names the mistake, and what to do instead."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore

EXAMPLE = Path(__file__).resolve().parents[2] / "gold" / "example"
NOTES = EXAMPLE / "notes.json"
GOLD = json.loads((EXAMPLE / "date.json").read_text())
ARRAY = "textDateAnnotations"


def renamed(key: str, other: str) -> Any:
    """Gold whose annotations call a property otherwise."""
    made = deepcopy(GOLD)
    for annotation in (one for entry in made for one in entry[ARRAY]):
        annotation[other] = annotation.pop(key)
    return made


def called(name: Callable[[str], str]) -> Any:
    """Gold whose entries call their notes otherwise."""
    made = deepcopy(GOLD)
    for entry in made:
        source = entry["annotationSource"]["resourceSource"]
        source["name"] = name(source["name"].rpartition("/")[2])
    return made


MISTAKES = {
    "begin": (renamed("start", "begin"), """'start' is missing (there is "begin")"""),
    "end": (renamed("length", "end"), "the length is the end less the start"),
    "word": (renamed("text", "word"), """'text' is missing (there is "word")"""),
    "note beside": ([{"note": "101-01", ARRAY: []}], """the note is named as {"resourceSource": {"name": "…"}}"""),
    "flat": ([{"note": "101-01", "start": 1, "length": 2}], "this is an annotation by itself"),
    "in an object": ({"predictions": GOLD}, """the entries stand within "predictions\""""),
    "lists by note": ({"101-01": [{"start": 1}], "101-02": []}, "this is an object of lists by note"),
    "a card": ({"signature": "s", "measures": {}}, "this is a score card, not predictions"),
    "a schema": ({"$schema": "s", "$defs": {}}, "this is a JSON Schema, not predictions"),
    "the notes": (json.loads(NOTES.read_text())[:2], "this is a note itself"),
    "an ending": (called("{}.txt".format), '"101-01.txt" is not a note of the data set; did you mean "101-01"?'),
    "blanks": (called(" {} ".format), 'did you mean "101-01"?'),
    "other marks": (called(lambda name: name.replace("-", "_")), 'did you mean "101-01"?'),
}


@pytest.mark.parametrize(("written", "said"), MISTAKES.values(), ids=MISTAKES)
def test_the_mistake_is_named(written: Any, said: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(written))
    done = sandscore("validate", "date", tmp_path / "p.json", "--notes", NOTES, "--format", "json")
    assert done.code == 65, done.err
    errors = [one["message"] for one in json.loads(done.out)["problems"] if one["severity"] == "error"]
    assert any(said in message for message in errors), errors[:3]
    assert not any("one-note form" in message for message in errors)


def test_a_name_that_is_near_to_two_notes_is_near_to_none(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text(json.dumps([{"identifier": name, "text": "May"} for name in ("a-1", "a_1")]))
    source = {"resourceSource": {"name": "a1"}}
    (tmp_path / "p.json").write_text(json.dumps([{"annotationSource": source, ARRAY: []}]))
    done = sandscore("validate", "date", tmp_path / "p.json", "--notes", tmp_path / "notes.json")
    assert (done.code, "did you mean" in done.out) == (65, False)


def test_a_mark_before_the_json_is_called_that_and_nothing_of_the_notes(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(GOLD).encode())
    done = sandscore("validate", "date", tmp_path / "p.json", "--notes", NOTES)
    assert "a byte order mark stands before the JSON: the file was written as 'UTF-8 with BOM'" in done.out
    assert "stands in the note" not in done.out


def test_what_is_called_packed_and_is_not(tmp_path: Path) -> None:
    (tmp_path / "p.json.gz").write_text(json.dumps(GOLD))
    done = sandscore("validate", "date", tmp_path / "p.json.gz", "--notes", NOTES)
    assert (done.code, "ends in .gz, but is not packed: rename it" in done.out) == (65, True)

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


def items(by: int, **changes: object) -> dict[str, list[dict[str, object]]]:
    """Gold as a Hugging Face pipeline gives it, by note, with every place moved."""
    made = {}
    for entry in GOLD:
        name = entry["annotationSource"]["resourceSource"]["name"].rpartition("/")[2]
        made[name] = [
            {
                "entity_group": "DATE",
                "score": 0.5,
                "word": one["text"].lower(),
                "start": one["start"] + by,
                "end": one["start"] + one["length"] + by,
            }
            | changes
            for one in entry[ARRAY]
        ]
    return made


def test_words_of_a_pipeline_that_stand_elsewhere_are_found_there(tmp_path: Path) -> None:
    """An uncased model's words: their letters say that offsets begin at 1, and nothing where they are right."""
    for by, code in ((1, 65), (0, 0)):
        (tmp_path / f"{by}.json").write_text(json.dumps(items(by)))
        done = sandscore("validate", "date", tmp_path / f"{by}.json", "--notes", NOTES, "--format", "json")
        assert done.code == code, done.err
        causes = [(one["cause"], one.get("by"), one["scope"]) for one in json.loads(done.out)["diagnosis"]]
        assert causes == ([("shift", -1, "file")] if by else [])


HEAD = "note,start,end,text,type\n"
NOT_READ = {
    "null offsets": ("p.json", json.dumps(items(0, start=None, end=None)), "a slow tokenizer knows no offsets"),
    "one list": ("p.json", json.dumps(items(0)["101-01"]), "1 list does not say of which note, but there are 72 notes"),
    "another note": ("p.csv", f"{HEAD}101-01.txt,190,201,22 Jul 1951,DATE\n", "(did you mean 101-01?)"),
    "end before start": ("p.csv", f"{HEAD}101-01,201,190,22 Jul 1951,DATE\n", "row 2: it ends before it begins"),
    "latin-1": ("p.csv", f"{HEAD}101-01,1,2,é,DATE\n".encode("latin-1"), "save the table as UTF-8"),
}


@pytest.mark.parametrize(("name", "content", "said"), NOT_READ.values(), ids=NOT_READ)
def test_what_another_format_cannot_say(name: str, content: str | bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    done = sandscore("validate", "date", tmp_path / name, "--notes", NOTES)
    assert (done.code, said in done.err) == (65, True), done.err


ASKED = {
    "csv that is empty": ("validate date empty --from csv", 65, "empty: the file is empty"),
    "csv that is utf-16": ("validate date utf16 --from csv", 65, "utf16: this is UTF-16 text"),
    "hf that is html": ("validate date page --from hf", 65, "page: this is HTML"),
    "gold that is missing": ("index nosuch {notes} -o i", 66, "nosuch: there is no such file"),
    "gold that is a folder": ("index folder {notes} -o i", 66, "folder: is a directory, not a file"),
    "notes that are missing": ("index {gold} nosuch -o i", 66, "nosuch: there is no such file"),
    "notes that are a folder": ("index {gold} folder -o i", 66, "folder: is a directory, not a file"),
    "notes that are a page": ("index {gold} page -o i", 78, "page:: this is HTML"),
    "gold of no task": ("index empty {notes} -o i", 2, "does not say of which task it is"),
    "gold to compare over": ("compare --gold nosuch empty empty", 66, "nosuch: there is no such file"),
    "a backup that is a folder": ("queue restore folder q", 66, "folder: is a directory, not a file"),
    "a command that is a folder": (
        "evaluate date --command ./folder --notes {notes} --gold {gold} -o r",
        2,
        "./folder: permission denied",
    ),
}


@pytest.mark.parametrize(("asked", "code", "said"), ASKED.values(), ids=ASKED)
def test_what_cannot_be_read_is_said_with_its_code(
    asked: str, code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "utf16").write_bytes(HEAD.encode("utf-16"))
    (tmp_path / "page").write_text("<!doctype html><html></html>")
    done = sandscore(*asked.format(notes=NOTES, gold=EXAMPLE / "date.json").split())
    assert (done.code, said in done.err) == (code, True), done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(("first", "causes"), [(0, ["end-inclusive"]), (1, ["shift", "end-inclusive"])])
def test_ends_that_are_the_last_characters_place(first: int, causes: list[str], tmp_path: Path) -> None:
    """A table as tools write it that count from ``first`` and name the last character; mended it is the gold it was."""
    rows = [
        (
            entry["annotationSource"]["resourceSource"]["name"].rpartition("/")[2],
            one["start"],
            one["length"],
            one["text"],
        )
        for entry in GOLD
        for one in entry[ARRAY]
    ]
    lines = [f'{note},{start + first},{start + length - 1 + first},"{text}",DATE' for note, start, length, text in rows]
    (tmp_path / "p.csv").write_text(HEAD + "\n".join(lines))
    done = sandscore("validate", "date", tmp_path / "p.csv", "--notes", NOTES, "--format", "json")
    told = json.loads(done.out)["diagnosis"]
    assert [(one["cause"], one["explains"], one["fixable"]) for one in told] == [
        (one, len(rows), True) for one in causes
    ]
    said = sandscore("validate", "date", tmp_path / "p.csv", "--notes", NOTES)
    assert "--fix -o mended.json" in said.out
    done = sandscore("validate", "date", tmp_path / "p.csv", "--notes", NOTES, "--fix", "-o", tmp_path / "mended.json")
    assert done.code == 0, done.err
    mended = [json.loads(line) for line in (tmp_path / "mended.json").read_text().splitlines()]
    found = [
        (
            entry["annotationSource"]["resourceSource"]["name"].rpartition("/")[2],
            one["start"],
            one["length"],
            one["text"],
        )
        for entry in mended
        for one in entry[ARRAY]
    ]
    assert sorted(found) == sorted(rows)

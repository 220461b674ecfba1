"""Predictions of any format are scored and validated as ours would be: named, or seen where there is no doubt."""

import json
from pathlib import Path
from typing import Any

import pytest

import sandscore as ss
from sandscore.base.bundled_content import example_gold
from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.cli.main import run
from sandscore.formats import FORMATS
from sandscore.formats.foreign_input import recognised
from sandscore.task_table.task import TASKS

ROOT = Path(__file__).resolve().parents[2]
NOTES, GOLD = example_gold() / "notes.json", example_gold() / "date.json"
GOOD = ROOT / "submissions" / "date-good" / "predictions.json"
UNSEEN = {"ours", "neleval", "nlpsandbox-list", "conll-biluo", "conll-iobes", "conll-io", "uima-xmi"}
RECOGNISED = [name for name in FORMATS.names if name not in UNSEEN]
"""neleval's columns could be anybody's, a list of the NLP Sandbox is ours, and some are read as another."""


@pytest.fixture(scope="module")
def exact() -> Any:
    return ss.score("person-name", gold=example_gold() / "person-name.json", predictions=NAMES, notes=NOTES)


NAMES = example_gold() / "person-name.json"


def made_in(form: str, folder: Path) -> Path:
    """The example's names in a format."""
    place = folder / "made"
    ss.convert(NAMES, source="ours", target=form, tasks=["person-name"], notes=NOTES, output=place)
    return place


@pytest.mark.parametrize("form", [name for name in FORMATS.names if name != "ours"])
def test_what_convert_writes_is_scored_as_what_it_was(form: str, tmp_path: Path, exact: ss.Result) -> None:
    theirs = made_in(form, tmp_path)
    found = ss.score(
        "person-name", gold=example_gold() / "person-name.json", predictions=theirs, notes=NOTES, source=form
    )
    assert found.card.measures["instance_strict"] == exact.card.measures["instance_strict"]
    assert found.card.per_note == exact.card.per_note


@pytest.mark.parametrize("form", RECOGNISED)
def test_where_there_is_no_doubt_the_format_is_seen_and_told(form: str, tmp_path: Path) -> None:
    theirs = made_in(form, tmp_path)
    assert recognised(str(theirs), TASKS["person-name"]) == form
    problems = ss.validate("person-name", theirs, notes=NOTES)
    assert problems.ok
    assert f"made: read as {form}, " in problems.remarks[0]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"[]\n", b"{}", b"[{}]", b"null", b"\xff\xfe", b"[" * 9999, b"a,b\n", b'[{"text": "a"}]', b"<html>"],
    ids=repr,
)
def test_what_may_be_anything_is_taken_for_ours(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(content)
    assert recognised(str(tmp_path / "p"), TASKS["date"]) is None


def test_ours_stays_ours(tmp_path: Path) -> None:
    line = {
        "annotationSource": {"resourceSource": {"name": "a"}},
        "textDateAnnotations": [],
        "full_text": "",
        "spans": [],
    }
    for number, text in enumerate((json.dumps([line]), json.dumps(line) + "\n" + json.dumps(line), json.dumps(line))):
        (tmp_path / str(number)).write_text(text)
        assert recognised(str(tmp_path / str(number)), TASKS["date"]) is None
    assert recognised("-", TASKS["date"]) is None
    assert recognised(str(tmp_path / "none"), TASKS["date"]) is None


def test_validation_lists_every_text_that_stands_elsewhere(tmp_path: Path) -> None:
    """Two wrong of three, one of them past the end: conversion would stop at the first."""
    sample = {
        "full_text": "May 1, May 2",
        "metadata": {"identifier": "n"},
        "spans": [
            {"entity_type": "DATE", "entity_value": "May 1", "start_position": 0, "end_position": 5},
            {"entity_type": "DATE", "entity_value": "May 2", "start_position": 8, "end_position": 13},
            {"entity_type": "DATE", "entity_value": "May 2", "start_position": 6, "end_position": 11},
        ],
    }
    (tmp_path / "p.json").write_text(json.dumps([sample]))
    (tmp_path / "n.json").write_text(json.dumps([{"identifier": "n", "text": "May 1, May 2"}]))
    problems = ss.validate("date", tmp_path / "p.json", notes=tmp_path / "n.json")
    assert problems.counts == {"out-of-bounds": 1, "overlap": 1, "text-mismatch": 1}


def test_types_that_no_task_knows_end_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = made_in("presidio", tmp_path)
    assert run(["validate", "date", str(theirs), "--notes", str(NOTES)]) == 65
    said = capsys.readouterr().err
    assert "goes over to date: found the types 'PERSON' (" in said
    assert '--map FILE says which labels they are, as in {"PERSON": null}' in said
    (tmp_path / "map.json").write_text('{"PERSON": null}')
    assert run(["validate", "date", str(theirs), "--notes", str(NOTES), "--map", str(tmp_path / "map.json")]) == 0


@pytest.mark.parametrize("name", ["hf", "presidio-results", "doccano", "label-studio", "tab"])
@pytest.mark.parametrize("verb", ["validate", "score"])
def test_a_file_that_holds_nothing_is_no_answer(
    name: str, verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty.json").write_text("[]", encoding="utf-8")
    given = [] if verb == "validate" else ["--gold", str(GOLD), "--predictions"]
    assert run([verb, "date", *given, str(tmp_path / "empty.json"), "--notes", str(NOTES), "--from", name]) == 65
    assert "empty.json: holds no note and no annotation" in capsys.readouterr().err


def test_what_maps_to_nothing_is_named_with_its_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spans = [{"entity_type": kind, "start_position": 0, "end_position": 3} for kind in ("DATE_TIME", "NRP", "NRP")]
    (tmp_path / "p.json").write_text(
        json.dumps([{"full_text": "May", "metadata": {"identifier": "n"}, "spans": spans}])
    )
    assert run(["validate", "date", str(tmp_path / "p.json"), "--from", "presidio"]) == 0
    assert (
        "type 'NRP' is mapped to nothing in date (--map FILE can map it): 2, first in note 'n'"
        in capsys.readouterr().err
    )


def test_wrong_usage_and_whose_fault_it_is(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="name it with --from"):
        ss.validate("date", GOLD, labels={"A": None})
    with pytest.raises(UsageFault, match="given as a path"):
        ss.validate("date", b"[]", source="presidio")
    with pytest.raises(UsageFault, match=r"unknown format 'presido' \(did you mean presidio"):
        ss.validate("date", GOLD, source="presido")
    (tmp_path / "n.json").write_text("[{}]")
    with pytest.raises(OrganiserFault, match="the notes are not valid"):
        ss.validate("date", made_in("presidio", tmp_path), notes=tmp_path / "n.json")
    with pytest.raises(ParticipantFault, match="expected a list, found an object"):
        ss.validate("date", _object(tmp_path), source="presidio")


def _object(folder: Path) -> Path:
    (folder / "o.json").write_text("{}")
    return folder / "o.json"


def test_gold_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = made_in("brat", tmp_path)
    words = ["score", "person-name", "--gold", str(theirs), "--predictions", str(NAMES), "--notes", str(NOTES)]
    for more in ([], ["--from-gold", "brat"]):
        assert run([*words, *more, "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["measures"]["instance_strict"]["f1"] == 1


def test_a_note_that_the_file_does_not_name_is_missing(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(
        json.dumps([{"full_text": _text("101-01"), "metadata": {"identifier": "101-01"}, "spans": []}])
    )
    problems = ss.validate("date", tmp_path / "p.json", notes=NOTES)
    assert problems.counts == {"missing-note": 71, "empty": 1}


def _text(name: str) -> str:
    return next(str(note["text"]) for note in json.loads(NOTES.read_bytes()) if note["identifier"] == name)


@pytest.mark.parametrize(
    ("kind", "task", "label"),
    [
        ("PER", "person-name", None),
        ("Person", "person-name", None),
        ("DATE_TIME", "date", None),
        ("GPE", "address", None),
        ("GPE", "location", "other"),
        ("ORG", "location", "organization"),
        ("ZIPCODE", "address", "zip"),
        ("PHONE_NUMBER", "contact", "phone"),
        ("EMAIL_ADDRESS", "contact", "email"),
        ("US_SSN", "id", "ssn"),
        ("MRN", "id", "medical_record"),
        ("DATE_TIME", "phi", "DATE_TIME"),
    ],
)
def test_standard_names_have_a_task_and_a_label(kind: str, task: str, label: str | None, tmp_path: Path) -> None:
    """spaCy's OntoNotes names, CoNLL's, Presidio's entities, and what the tasks of docs/formats.md make of them."""
    (tmp_path / "n.txt").write_text("x y")
    (tmp_path / "n.ann").write_text(f"T1\t{kind} 0 1\tx\n")
    made = ss.convert(tmp_path, source="brat", target="ours", tasks=[task])
    content = json.loads(dict(made.content)[f"{task}.json"])  # type: ignore[arg-type]
    (annotation,) = content[0][TASKS[task].array]
    assert annotation.get(TASKS[task].label or "") == label

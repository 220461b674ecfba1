"""The bundled example challenge: its promises to readers, and that it is made by what says it makes it."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sandscore.base.bundled_content import example_gold, schema_path, submissions
from sandscore.task_table.task import find_task

ROOT = Path(__file__).resolve().parents[2]
TASKS = ("date", "person-name", "address")
FOLDERS = [f"{task}-{quality}" for task in TASKS for quality in ("good", "weak")]
ADDRESS_TYPES = {
    "city", "country", "department", "hospital", "organization",
    "other", "room", "state", "street", "zip",
}  # fmt: skip
AMBIGUOUS_NAMES = {"Will", "May", "April", "Grace", "Hunter", "Long", "Park", "Washington", "Chase", "Mary"}


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def notes() -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = read(example_gold() / "notes.json")
    return loaded


def annotations(path: Path, task: str) -> dict[str, list[dict[str, Any]]]:
    array = find_task(task).array
    return {entry["annotationSource"]["resourceSource"]["name"]: entry[array] for entry in read(path)}


def gold(task: str) -> dict[str, list[dict[str, Any]]]:
    return annotations(example_gold() / f"{task}.json", task)


def problems(schema: str, document: object) -> list[str]:
    validator = Draft202012Validator(read(schema_path(schema)))
    return [error.message for error in validator.iter_errors(document)]


def without_gold(text: str, spans: list[dict[str, Any]]) -> str:
    """The note with its gold blanked out."""
    for span in spans:
        end = span["start"] + span["length"]
        text = text[: span["start"]] + "█" * span["length"] + text[end:]
    return text


@pytest.fixture
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def test_checksums_are_those_of_the_files() -> None:
    lines = (example_gold() / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    named = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert set(named) == {"notes.json", "date.json", "person-name.json", "address.json"}
    assert named == {name: hashlib.sha256((example_gold() / name).read_bytes()).hexdigest() for name in named}


def test_notes_are_as_many_and_as_long_as_promised() -> None:
    loaded = notes()
    assert len({note["identifier"] for note in loaded}) == len(loaded) >= 60
    assert len({note["patientId"] for note in loaded}) >= 12
    assert all(1000 <= len(note["text"].encode()) <= 4096 for note in loaded)
    assert len({note["type"] for note in loaded}) == 6
    assert not problems("note", loaded)


def test_notes_hold_what_makes_offsets_hard() -> None:
    everything = "".join(note["text"] for note in notes())
    assert [sign for sign in everything if ord(sign) > 0xFFFF] == ["🎉"]
    hard_spots = ("e\u0301", "José", "Zoë", "Nguyễn", "David's", "García’s", "Children’s", "Smith/Jones", "3/14")
    assert [spot for spot in hard_spots if spot not in everything] == []


def test_the_emoji_stands_before_gold() -> None:
    """So that whoever counts UTF-16 units is off in that note."""
    for note in notes():
        place = note["text"].find("🎉")
        if place >= 0:
            for task in TASKS:
                assert any(span["start"] > place for span in gold(task)[note["note_name"]])


@pytest.mark.parametrize("task", TASKS)
def test_gold_is_valid_and_says_what_the_note_says(task: str) -> None:
    assert not problems(task, read(example_gold() / f"{task}.json"))
    entries = gold(task)
    assert list(entries) == [note["note_name"] for note in notes()]
    for note in notes():
        end = 0
        for span in entries[note["note_name"]]:
            assert span["start"] >= end, "sorted, without overlaps"
            end = span["start"] + span["length"]
            assert note["text"][span["start"] : end] == span["text"]


def test_address_types_and_date_formats_are_all_met() -> None:
    types = Counter(span["addressType"] for spans in gold("address").values() for span in spans)
    assert set(types) == ADDRESS_TYPES
    assert min(types.values()) >= 10
    formats = Counter(span.get("dateFormat") for spans in gold("date").values() for span in spans)
    assert 0 < formats[None] < 50
    assert {"MM/DD/YYYY", "MMMM D, YYYY", "M/D", "YYYY"} <= set(formats)


def test_no_date_was_left_out_of_the_gold() -> None:
    months = "January|February|March|April|June|July|August|September|October|November|December"
    date = re.compile(rf"\d+[/.-]\d+[/.-](?:19|20)\d\d|\b(?:19|20)\d\d-\d|\b(?:{months})\b|\b[A-Z][a-z]+day\b")
    spans = {task: gold(task) for task in ("date", "person-name")}
    for note in notes():
        known = [span for entries in spans.values() for span in entries[note["note_name"]]]
        assert date.findall(without_gold(note["text"], known)) == []


@pytest.mark.parametrize("task", ["person-name", "address"])
def test_what_is_gold_once_is_gold_wherever_it_stands(task: str) -> None:
    """Left out: names that are words too, and short codes and bare numbers (PA, OR, 98402)."""
    entries = {name: gold(name) for name in ("person-name", "address")}
    words = {
        word
        for spans in entries[task].values()
        for span in spans
        for word in ([span["text"]] if task == "address" else re.findall(r"[^\W\d_]+", span["text"]))
        if len(word) > 2 and re.search(r"[^\W\d]{3}", word)
    }
    known = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words - AMBIGUOUS_NAMES)))})(?!\w)")
    for note in notes():
        spans = [span for spans in entries.values() for span in spans[note["note_name"]]]
        assert known.findall(without_gold(note["text"], spans)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("_tools")
def test_remaking_the_example_changes_no_byte(tmp_path: Path) -> None:
    from tools.make_example.writing import write_example

    write_example(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(made) == 5
    assert made == {name: (example_gold() / name).read_bytes() for name in made}


def test_every_example_submission_is_here() -> None:
    assert sorted(path.parent.name for path in submissions().glob("*/submission.json")) == sorted(FOLDERS)
    teams = [read(submissions() / folder / "submission.json")["team"] for folder in FOLDERS]
    assert len(set(teams)) == len(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS)
def test_manifest_and_predictions_are_valid(folder: str) -> None:
    manifest = read(submissions() / folder / "submission.json")
    assert not problems("submission", manifest)
    assert folder.startswith(manifest["task"])
    assert not problems(manifest["task"], read(submissions() / folder / manifest["predictions"]))


@pytest.mark.usefixtures("_tools")
@pytest.mark.parametrize("folder", FOLDERS)
def test_predictions_are_what_the_annotator_says_today(folder: str) -> None:
    from tools.make_predictions import predictions_of

    written = (submissions() / folder / "predictions.json").read_text(encoding="utf-8")
    assert predictions_of(submissions() / folder, notes()) == written


@pytest.mark.parametrize("task", TASKS)
def test_the_good_baseline_is_clearly_better(task: str) -> None:
    """F1 of equal start and length, counted here with sets; neither baseline is perfect or useless."""
    truth = {(name, span["start"], span["length"]) for name, spans in gold(task).items() for span in spans}
    scores = []
    for quality in ("weak", "good"):
        predicted = annotations(submissions() / f"{task}-{quality}" / "predictions.json", task)
        said = [(name, span["start"], span["length"]) for name, spans in predicted.items() for span in spans]
        scores.append(2 * len(truth.intersection(said)) / (len(truth) + len(said)))
    weak, good = scores
    assert 0.3 < weak < 0.6
    assert 0.75 < good < 0.95


def test_good_baselines_give_confidence() -> None:
    for task in TASKS:
        for spans in annotations(submissions() / f"{task}-good" / "predictions.json", task).values():
            assert all("confidence" in span for span in spans)

"""Small files read with the kernel (``block_readers``) and without it (``decoder``).

The problems, columns and tokens are written down by hand, after docs/participants.md. Met on the way:
``input_files``, ``note_loader``, ``annotation_loader``, ``record_reader``, ``slow_validation``, ``note_checks``,
``data_set``, ``label_codes``, ``white_space_tokens``, ``problem_collector``.

The note has 25 characters::

    0123456789012345678901234
    Dr. Zoë saw 😀 in  Seattle
"""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from kernel_comparison import no_kernel

from sandscore.annotations import input_files
from sandscore.annotations.input_files import Inputs, Loaded, ReadingWatch, load_files
from sandscore.base.errors import UsageFault
from sandscore.task_table.task import find_task

TEXT = "Dr. Zoë saw 😀 in  Seattle"
SEATTLE = {"start": 18, "length": 7, "text": "Seattle", "addressType": "city", "confidence": 50}
ZOE = {"start": 4, "length": 3, "text": "Zoë"}
ADDRESS, SYMPTOM = find_task("address"), find_task("covid-symptom")
ARRAY = ADDRESS.array


@pytest.fixture(params=["kernel", "no kernel"], autouse=True)
def _reader(request: pytest.FixtureRequest) -> Iterator[None]:
    with no_kernel() if request.param == "no kernel" else nullcontext():
        yield


def entry(name: str, *annotations: Any, array: str = ARRAY) -> dict[str, Any]:
    return {"annotationSource": {"resourceSource": {"name": name}}, array: list(annotations)}


def written(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def read(folder: Path, predictions: Any, *, notes: Any = None, gold: Any = None, **options: Any) -> Loaded:
    given = {"predictions": predictions, "notes": notes, "gold": gold}
    paths = {role: written(folder / f"{role}.json", value) for role, value in given.items() if value is not None}
    return load_files(options.pop("task", ADDRESS), Inputs(**paths), **options)


def note(name: str, text: str = TEXT, **more: Any) -> dict[str, Any]:
    return {"identifier": name, "text": text, **more}


def told(loaded: Loaded, role: str = "predictions") -> list[tuple[str, str, str | None]]:
    return [(problem.code, problem.pointer, problem.note) for problem in loaded.findings[role].problems]


def test_what_is_right_becomes_columns(tmp_path: Path) -> None:
    loaded = read(tmp_path, [entry("d/Note/b", SEATTLE), entry("a", ZOE, SEATTLE)], notes=[note("a"), note("b")])
    found = loaded.columns["predictions"]
    assert told(loaded) == []
    assert (loaded.dataset.roll.ids, list(loaded.dataset.texts or ())) == (["a", "b"], [TEXT, TEXT])
    assert [column.tolist() for column in (found.note, found.start, found.length)] == [
        [1, 0, 0],
        [18, 4, 18],
        [7, 3, 7],
    ]
    assert [loaded.dataset.vocabulary.names[code] if code >= 0 else None for code in found.label] == [
        "city",
        None,
        "city",
    ]
    assert found.confidence[[0, 2]].tolist() == [50, 50]
    assert found.confidence[1] != found.confidence[1]  # NaN: none was given
    assert found.text is None


def test_tokens_are_runs_between_white_space(tmp_path: Path) -> None:
    whole = {"start": 8, "length": 17, "text": TEXT[8:25]}
    one = read(tmp_path, [entry("a", whole, ZOE)], notes=[note("a")]).columns["predictions"]
    assert one.tokens is not None
    assert one.tokens.words.tolist() == [4, 1]
    assert one.tokens.begin.tolist() == [0, 4, 6, 10, 0]
    assert one.tokens.size.tolist() == [3, 1, 2, 7, 3]
    assert read(tmp_path, [entry("a", ZOE)], notes=[note("a")], want_tokens=False).columns["predictions"].tokens is None


PROBLEMS: dict[str, tuple[Any, list[tuple[str, str, str | None]], str]] = {
    "unknown note": ([entry("z", ZOE), entry("a")], [("unknown-note", "/0", "z")], "is not a note of the data set"),
    "a note twice": ([entry("a", ZOE), entry("a")], [("duplicate-note", "/1", "a")], "a second entry for the note"),
    "past the end": (
        [entry("a", SEATTLE | {"start": 20})],
        [("out-of-bounds", f"/0/{ARRAY}/0", "a")],
        "start 20 + length 7 is past the end of the note, which has 25 characters; "
        "it stands 2 characters earlier, at 18",
    ),
    "one too late": (
        [entry("a", ZOE, SEATTLE | {"start": 17})],
        [("text-mismatch", f"/0/{ARRAY}/1", "a")],
        'the text "Seattle" does not stand at 17 in the note; it stands 1 character later, at 18',
    ),
    "UTF-16": (
        [entry("a", {"start": 15, "length": 2, "text": "in"})],
        [("text-mismatch", f"/0/{ARRAY}/0", "a")],
        "it stands there counted in UTF-16 units, but offsets count code points",
    ),
    "UTF-8": (
        [entry("a", {"start": 18, "length": 2, "text": "in"})],
        [("text-mismatch", f"/0/{ARRAY}/0", "a")],
        "it stands there counted in UTF-8 bytes, but offsets count code points",
    ),
    "another length": (
        [entry("a", ZOE | {"length": 4})],
        [("text-mismatch", f"/0/{ARRAY}/0", "a")],
        'length is 4, but the text "Zoë" has 3 characters',
    ),
    "the same again": (
        [entry("a", ZOE, SEATTLE, ZOE)],
        [("duplicate", f"/0/{ARRAY}/2", "a")],
        "repeats an earlier annotation: a false positive",
    ),
    "a span in another": (
        [entry("a", {"start": 0, "length": 7, "text": "Dr. Zoë"}, ZOE, SEATTLE)],
        [("overlap", f"/0/{ARRAY}/1", "a")],
        "overlaps another annotation of the note",
    ),
    "no label": (
        [entry("a", ZOE, SEATTLE | {"addressType": "town"}, ZOE)],
        [("schema", f"/0/{ARRAY}/1/addressType", "a"), ("duplicate", f"/0/{ARRAY}/2", "a")],
        '"town" is not one of city, country',
    ),
    "no number": (
        [entry("x/a", ZOE | {"start": "4"})],
        [("schema", f"/0/{ARRAY}/0/start", "a")],
        '"4" is not an integer',
    ),
    "too small": ([entry("a", ZOE | {"length": 0})], [("schema", f"/0/{ARRAY}/0/length", "a")], "0 is less than 1"),
    "too large": (
        [entry("a", ZOE | {"start": 1 << 31})],
        [("schema", f"/0/{ARRAY}/0/start", "a")],
        "2147483648 is more than 2147483647",
    ),
    "too sure": (
        [entry("a", ZOE | {"confidence": 100.5})],
        [("schema", f"/0/{ARRAY}/0/confidence", "a")],
        "100.5 is more than 100",
    ),
    "no text": (
        [entry("a", {"start": 4, "length": 3, "Text": "Zoë"}, SEATTLE)],
        [("schema", f"/0/{ARRAY}/0", "a"), ("unknown-property", f"/0/{ARRAY}/0/Text", None)],
        "'text' is missing (there is \"Text\")",
    ),
    "no name": ([{ARRAY: [ZOE]}, entry("a")], [("schema", "/0", None)], "'annotationSource' is missing"),
    "unknown property": (
        [entry("a", ZOE | {"confidance": 7}, SEATTLE | {"confidance": 8})],
        [("unknown-property", f"/0/{ARRAY}/0/confidance", None)],
        "unknown property \"confidance\" (2 times); did you mean 'confidence'?",
    ),
    "unknown in the source": (
        [{"annotationSource": {"resourceSource": {"name": "a", "page": 1}}, ARRAY: [ZOE]}],
        [("unknown-property", "/0/annotationSource/resourceSource/page", None)],
        'unknown property "page"',
    ),
    "unknown beside the source": (
        [{"annotationSource": {"resourceSource": {"name": "a"}, "page": 1}, ARRAY: [ZOE]}],
        [("unknown-property", "/0/annotationSource/page", None)],
        'unknown property "page"',
    ),
    "unknown in the record": (
        [entry("a", ZOE) | {"page": 1}], [("unknown-property", "/0/page", None)], 'unknown property "page"',
    ),
    "a key twice": (
        '[{"annotationSource": {"resourceSource": {"name": "a"}},\n "ARRAY": [], "ARRAY": []}]'.replace("ARRAY", ARRAY),
        [("json", "/0", None)],
        "duplicate key",
    ),
    "not JSON": ("[1,\n 2", [("json", "", None)], "line 2"),
    "a bare number": ("7", [("json", "", None)], "expected an array or an object, found '7'"),
    "nothing": ("", [("json", "", None)], "the file is empty"),
    "no annotation": ([entry("a")], [("empty", "", None)], "the file holds no annotation"),
}  # fmt: skip


@pytest.mark.parametrize(("predictions", "wanted", "message"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems(tmp_path: Path, predictions: Any, wanted: list[Any], message: str) -> None:
    loaded = read(tmp_path, predictions, notes=[note("a")])
    found = [one for one in told(loaded) if one[0] not in ("empty", "missing-note") or one in wanted]
    assert found == wanted
    assert message in loaded.findings["predictions"].problems[0].message
    assert loaded.findings["predictions"].errors == sum(
        p.severity == "error" for p in loaded.findings["predictions"].problems
    )


@pytest.mark.parametrize("complete", [True, False])
def test_a_note_without_an_entry(tmp_path: Path, complete: bool) -> None:
    loaded = read(tmp_path, [entry("b", ZOE)], notes=[note("a"), note("b"), note("c")], complete=complete)
    assert told(loaded) == [("missing-note", "", "a"), ("missing-note", "", "c")]
    assert loaded.findings["predictions"].errors == (2 if complete else 0)
    assert loaded.faulty("predictions") is complete
    assert not loaded.faulty("gold", "notes")


def test_without_notes_gold_names_them(tmp_path: Path) -> None:
    loaded = read(tmp_path, [entry("a", ZOE, ZOE | {"text": "Zoe"}), entry("z")], gold=[entry("a", ZOE), entry("b")])
    assert (loaded.dataset.roll.ids, loaded.dataset.texts) == (["a", "b"], None)
    assert [code for code, *_ in told(loaded)] == ["duplicate", "unknown-note", "missing-note"]
    assert told(loaded, "gold") == []
    gold, found = loaded.columns["gold"].text, loaded.columns["predictions"].text
    assert gold is not None
    assert found is not None
    assert gold[0] == found[0] != found[1]


def test_alone_a_file_names_its_own_notes(tmp_path: Path) -> None:
    assert told(read(tmp_path, [entry("a", ZOE), entry("b")])) == []
    assert told(read(tmp_path, {ARRAY: [ZOE, ZOE | {"start": 9, "length": 2}]})) == [
        ("text-mismatch", f"/{ARRAY}/1", "note")
    ]


def test_the_form_of_one_note(tmp_path: Path) -> None:
    one = read(tmp_path, {ARRAY: [ZOE, {"start": 1}]}, notes=[note("a")])
    assert told(one) == [("schema", f"/{ARRAY}/1", None)] * 2
    assert one.columns["predictions"].note.tolist() == [0]
    several = read(tmp_path, {ARRAY: [ZOE]}, notes=[note("a"), note("b")])
    assert told(several)[0] == ("unknown-note", "", None)
    assert "for a data set of one note; this one has 2" in several.findings["predictions"].problems[0].message
    assert told(read(tmp_path, json.dumps(entry("a", ZOE), indent=1), notes=[note("a")])) == []
    assert told(read(tmp_path, '{"text": [}', notes=[note("a")]))[0] == ("json", "", None)


def test_lines(tmp_path: Path) -> None:
    rows = [entry("a", ZOE), entry("b", ZOE | {"start": 5}), entry("c", SEATTLE)]
    text = "\n\n".join(json.dumps(row) for row in rows) + "\n"
    loaded = read(tmp_path, text, notes="".join(json.dumps(note(name)) + "\n" for name in "abc"))
    assert told(loaded) == [("text-mismatch", f"/1/{ARRAY}/0", "b")]
    assert loaded.columns["predictions"].note.tolist() == [0, 1, 2]
    broken = read(tmp_path, json.dumps(rows[0]) + "\n[}\n" + json.dumps(rows[2]), notes=[note("a"), note("c")])
    assert told(broken) == [("json", "/1", None)]
    assert broken.findings["predictions"].problems[0].message.startswith("line 2, column 2")


def test_numbers_with_a_point_are_integers(tmp_path: Path) -> None:
    loaded = read(tmp_path, [entry("a", ZOE | {"start": 4.0, "length": 3.0}, ZOE | {"start": 4.5})], notes=[note("a")])
    assert told(loaded) == [("schema", f"/0/{ARRAY}/1/start", "a")]
    assert loaded.columns["predictions"].start.tolist() == [4]


def test_enum_labels_in_any_case(tmp_path: Path) -> None:
    spelt = ["CITY", " zip ", "location-other", "", "  "]
    rows = [
        ZOE | {"start": 4 + i, "length": 1, "text": TEXT[4 + i], "addressType": label} for i, label in enumerate(spelt)
    ]
    loaded = read(tmp_path, [entry("a", *rows)], notes=[note("a")])
    names = loaded.dataset.vocabulary.names
    assert [names[code] if code >= 0 else "" for code in loaded.columns["predictions"].label] == [
        "city",
        "zip",
        "other",
        "",
        "",
    ]
    assert told(loaded) == []


def test_a_second_label_is_judged_too(tmp_path: Path) -> None:
    right = ZOE | {"condition": "cough", "certainty": "positive", "confidence": 1}
    wrong = SEATTLE | {"condition": "cough", "certainty": "maybe"}
    wrong.pop("addressType")
    notes = [note("a")]
    assert told(read(tmp_path, [entry("a", right, array=SYMPTOM.array)], notes=notes, task=SYMPTOM)) == []
    loaded = read(tmp_path, [entry("a", right, wrong, array=SYMPTOM.array)], notes=notes, task=SYMPTOM)
    assert told(loaded) == [("schema", f"/0/{SYMPTOM.array}/1/certainty", "a")]


def test_names_that_end_alike_are_joined_whole(tmp_path: Path) -> None:
    notes = [note("1", "one", note_name="x/1", patientId="p"), note("1", "two", note_name="y/1"), note("2", "three")]
    row = {"start": 0, "length": 3, "text": "two"}
    loaded = read(tmp_path, [entry("y/1", row), entry("x/1"), entry("2")], notes=notes)
    assert told(loaded) == told(loaded, "notes") == []
    assert loaded.dataset.roll.ids == ["x/1", "y/1", "2"]
    assert loaded.dataset.roll.patients == ["p", None, None]
    assert loaded.dataset.roll.units == ["p", "y/1", "2"]
    assert loaded.columns["predictions"].note.tolist() == [1]


def test_names_that_differ_before_the_last_part_are_one_note(tmp_path: Path) -> None:
    notes = [note("a", note_name="x/a", type="t", noteType="o"), note("b", patientId="")]
    loaded = read(tmp_path, [entry("q/a", ZOE), entry("b")], notes=notes)
    assert told(loaded) == told(loaded, "notes") == []
    assert (loaded.dataset.roll.ids, loaded.dataset.roll.units) == (["a", "b"], ["a", "b"])


NOTES: dict[str, tuple[Any, list[tuple[str, str, str | None]]]] = {
    "twice": ([note("a"), note("b"), note("a")], [("duplicate-note", "/2", "a")]),
    "twice, one odd": ([note("a", odd=1), note("b"), note("b")], [("duplicate-note", "/2", "b")]),
    "no text": ([note("a"), {"identifier": "b"}], [("schema", "/1", None)]),
    "no string": ([note("a"), note("b", patientId=7)], [("schema", "/1/patientId", None)]),
    "unknown properties": ([note("a", odd=1), note("b", odder={})], []),
    "a key twice": ('[{"identifier": "a", "text": "", "text": ""}]', [("json", "/0", None)]),
    "broken": ('[{"identifier": "a", "text": ""}', [("json", "", None)]),
}


@pytest.mark.parametrize(("notes", "wanted"), NOTES.values(), ids=NOTES.keys())
def test_problems_of_notes(tmp_path: Path, notes: Any, wanted: list[Any]) -> None:
    loaded = read(tmp_path, [entry("a", ZOE)], notes=notes)
    assert told(loaded, "notes") == wanted
    assert loaded.faulty("notes") is bool(wanted)
    assert ("predictions" in loaded.columns) is not bool(wanted)
    if not wanted:
        assert (loaded.dataset.roll.ids, list(loaded.dataset.texts or ())) == (["a", "b"], [TEXT, TEXT])


def test_a_second_process_changes_nothing_and_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold = [
        entry("a", ZOE | {"dateFormat": "later"}, array="textDateAnnotations"),
        entry("b", array="textDateAnnotations"),
    ]
    found = [entry("a", ZOE | {"dateFormat": "first"}, array="textDateAnnotations")]
    dates = {"task": find_task("date"), "notes": [note("a"), note("b")], "gold": gold}
    both = read(tmp_path, found, jobs=2, **dates)
    monkeypatch.setattr(input_files, "beside", None)
    alone = read(tmp_path, found, **dates)
    for loaded in (both, alone):
        assert loaded.dataset.vocabulary.names == ["later", "first"]
        assert loaded.columns["gold"].label.tolist() == [0]
        assert loaded.columns["predictions"].label.tolist() == [1]
        assert (told(loaded), told(loaded, "gold")) == ([("missing-note", "", "b")], [])
        assert sorted(loaded.sha256) == ["gold", "predictions"]
    assert both.sha256 == alone.sha256
    assert read(tmp_path, found, want_hashes=False, **dates).sha256 == {}


def test_standard_input_is_read_once() -> None:
    assert list(Inputs(gold=Path("g"), predictions=Path("-"), notes=Path("n")).given) == [
        "notes",
        "gold",
        "predictions",
    ]
    with pytest.raises(UsageFault, match="can be read only once"):
        Inputs(gold=Path("-"), predictions=Path("-")).given  # noqa: B018 (asking is what fails)
    with ReadingWatch().reading([Path("g")]) as progress:
        progress(1)

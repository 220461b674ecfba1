"""``sandscore convert``: what it prints, what it writes, what it exits with."""

import json
from pathlib import Path

import pytest

from sandscore.base.bundled_content import example_gold
from sandscore.cli.main import run
from sandscore.formats import FORMATS

TEXT = "Ann (\U0001d4b3) seen 3/1 in Boston."
NOTES = [{"identifier": "7-1", "text": TEXT, "patientId": "7", "type": "t"}]
DATES = [
    {
        "annotationSource": {"resourceSource": {"name": "dataset/d/fhirStores/s/fhir/Note/7-1"}},
        "textDateAnnotations": [{"start": 13, "length": 3, "text": "3/1", "dateFormat": "M/D", "confidence": 90}],
    }
]
PLACES = [
    {
        "annotationSource": {"resourceSource": {"name": "7-1"}},
        "textPhysicalAddressAnnotations": [{"start": 20, "length": 6, "text": "Boston", "addressType": "City"}],
    }
]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, content in (("notes", NOTES), ("date", DATES), ("address", PLACES)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


OURS = "convert --from ours --notes notes.json"


def sandscore(line: str) -> int:
    return run(line.split())


def test_single_files_go_to_standard_output(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sandscore(f"{OURS} date.json --to neleval") == 0
    printed = capsys.readouterr()
    assert printed.out == "7-1\t13\t15\tNIL\t1.0\tDATE\n"
    assert printed.err.splitlines() == [
        "sandscore: not carried over (neleval): patientId: 1, first in note '7-1'",
        "sandscore: not carried over (neleval): note type: 1, first in note '7-1'",
        "sandscore: not carried over (neleval): note text: 1, first in note '7-1'",
        "sandscore: not carried over (neleval): dateFormat: 1, first in note '7-1'",
        "sandscore: not carried over (neleval): confidence: 1, first in note '7-1'",
        "1 notes, 1 annotations: ours to neleval",
    ]


def test_losses_are_data(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sandscore(f"{OURS} date.json address.json --to presidio -o out.json --format json") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert json.loads(printed.out) == {
        "from": "ours",
        "to": "presidio",
        "tasks": ["date", "address"],
        "notes": 1,
        "annotations": 2,
        "output": "out.json",
        "losses": [
            {"format": "presidio", "what": "dateFormat", "count": 1, "example": "7-1"},
            {"format": "presidio", "what": "confidence", "count": 1, "example": "7-1"},
        ],
    }
    spans = json.loads((data / "out.json").read_text(encoding="utf-8"))[0]["spans"]
    assert [(span["entity_type"], span["start_position"], span["end_position"]) for span in spans] == [
        ("DATE_TIME", 13, 16),
        ("city", 20, 26),
    ]


def test_several_tasks_come_out_of_one_file_of_types(data: Path) -> None:
    assert sandscore(f"{OURS} date.json address.json --to i2b2 -o xml") == 0
    assert [path.name for path in (data / "xml").iterdir()] == ["7-1.xml"]
    assert sandscore("convert date address --from i2b2 xml --to ours -o back") == 0
    assert sorted(path.name for path in (data / "back").iterdir()) == ["address.json", "date.json", "notes.json"]
    address = json.loads((data / "back" / "address.json").read_text(encoding="utf-8"))
    assert address[0]["textPhysicalAddressAnnotations"] == [
        {"start": 20, "length": 6, "text": "Boston", "addressType": "city"}
    ]
    assert sandscore("convert --from ours back --to brat -o again") == 0
    assert (data / "again" / "7-1.ann").read_text(encoding="utf-8") == "T1\tDATE 13 16\t3/1\nT2\tcity 20 26\tBoston\n"


def test_unmapped_types_are_named(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sandscore(f"{OURS} date.json address.json --to i2b2 -o xml") == 0
    capsys.readouterr()
    assert sandscore("convert date --from i2b2 xml --to ours -o back --format json") == 0
    losses = json.loads(capsys.readouterr().out)["losses"]
    assert losses == [
        {
            "format": "i2b2",
            "what": "type 'CITY' is mapped to nothing in date (--map FILE can map it)",
            "count": 1,
            "example": "7-1",
        }
    ]


def test_a_map_gives_types_their_labels(data: Path) -> None:
    (data / "map.json").write_text('{"GPE": "city", "LOC": null}', encoding="utf-8")
    assert sandscore(f"{OURS} address address.json --to conll --map map.json -o out") == 0
    assert "Boston\t20\t26\tB-GPE\n" in (data / "out").read_text(encoding="utf-8")
    assert sandscore("convert address --from conll out --notes notes.json --map map.json --to ours -o back") == 0
    address = json.loads((data / "back" / "address.json").read_text(encoding="utf-8"))
    assert address[0]["textPhysicalAddressAnnotations"][0]["addressType"] == "city"


def test_a_type_names_the_task_abroad(data: Path) -> None:
    assert sandscore(f"{OURS} date date.json --to neleval --type WHEN -o out") == 0
    assert (data / "out").read_text(encoding="utf-8").endswith("\tWHEN\n")
    assert sandscore("convert date --from neleval out --notes notes.json --type when --to ours -o back") == 0
    assert "3/1" in (data / "back" / "date.json").read_text(encoding="utf-8")


def test_required_fields_are_filled_in_and_told(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "f.tsv").write_text("7-1\t20\t25\tNIL\t1\tcity\n7-1\t0\t2\tNIL\t1\tLOCATION\n", encoding="utf-8")
    line = "convert location --from neleval f.tsv --notes notes.json --to ours -o out --confidence 80"
    assert sandscore(line) == 0
    made = json.loads((data / "out" / "location.json").read_text(encoding="utf-8"))
    assert made[0]["textLocationAnnotations"] == [
        {"start": 20, "length": 6, "text": "Boston", "locationType": "city", "confidence": 80.0}
    ]
    assert capsys.readouterr().err.splitlines() == [
        "sandscore: not carried over (neleval): annotations without the locationType that location requires: 1,"
        " first in note '7-1'",
        "sandscore: not carried over (neleval): confidence, which location requires (filled in as 80): 1,"
        " first in note '7-1'",
    ]


def test_lossless_writes_nothing(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sandscore(f"{OURS} date.json --to brat -o out --lossless") == 65
    assert "dateFormat" in capsys.readouterr().err
    assert not (data / "out").exists()
    assert sandscore(f"{OURS} date.json --to ours -o out --lossless") == 0


def test_mismatches_can_be_dropped(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (data / "bad.json").write_text(json.dumps(DATES).replace('"start": 13', '"start": 14'), encoding="utf-8")
    assert sandscore(f"{OURS} bad.json --to ours -o out") == 65
    assert "bad.json[0], textDateAnnotations[0]: note '7-1' does not read '3/1' at 14-17" in capsys.readouterr().err
    assert sandscore(f"{OURS} bad.json --to ours -o out --drop-mismatches") == 0
    assert "annotations whose text does not stand at their offsets: 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        pytest.param("convert --from ours --to brat -o out", 2, "nothing to read", id="no path"),
        pytest.param("convert date date --from ours date.json --to brat -o out", 2, "twice", id="task twice"),
        pytest.param("convert --from odd x --to brat -o out", 2, "odd", id="unknown format"),
        pytest.param(f"{OURS} date.json --to brat", 2, "name it with -o", id="a directory to standard output"),
        pytest.param(f"{OURS} date.json --to brat -o .", 2, "is there already", id="output is there"),
        pytest.param(f"{OURS} date.json --to neleval -o . --force", 2, "is a directory", id="file over directory"),
        pytest.param(
            f"{OURS} date.json --to brat -o date.json --force", 2, "not a directory", id="directory over file"
        ),
        pytest.param("convert --from ours date.json --to brat -o out", 2, "give --notes", id="no text for BRAT"),
        pytest.param("convert --from neleval date.json --to ours -o out", 2, "give --notes", id="no text for neleval"),
        pytest.param(f"{OURS} date.json --type X --to brat -o out", 2, "name it", id="type without task"),
        pytest.param(f"{OURS} date date.json --type X --to ours -o out", 2, "have tasks", id="type between tasks"),
        pytest.param(f"{OURS} phi date.json --type X --to brat -o out", 2, "takes every type", id="type of phi"),
        pytest.param(f"{OURS} date date.json --type X --map good.json --to brat -o out", 2, "contradict", id="both"),
        pytest.param(f"{OURS} address address.json --map good.json --to brat -o out", 2, "has city", id="odd label"),
        pytest.param(f"{OURS} phi date.json --to nlpsandbox-list", 2, "no place for", id="phi in the sandbox"),
        pytest.param(f"{OURS} nowhere.json --to brat -o out", 66, "no such file", id="missing file"),
        pytest.param(f"{OURS} date.json --map nowhere.json --to brat -o out", 66, "no such file", id="missing map"),
        pytest.param("convert --from brat nowhere --to ours -o out", 66, "no such directory", id="missing directory"),
        pytest.param(f"{OURS} notes.json --to ours -o out", 65, "annotationSource", id="notes for annotations"),
        pytest.param("convert --from brat . --notes good.json --to ours -o out", 65, "identifier", id="odd notes"),
        pytest.param(
            "convert --from presidio p.json --notes notes.json --to ours -o out", 65, "another text", id="text"
        ),
        pytest.param("convert --from presidio q.json --notes notes.json --to ours -o out", 65, "not among", id="note"),
        pytest.param(f"{OURS} date date.json --map date.json --to brat -o out", 65, "expected an object", id="odd map"),
        pytest.param(f"{OURS} date date.json --confidence 101 --to brat -o out", 2, "101", id="odd confidence"),
    ],
)
def test_exit_codes(data: Path, capsys: pytest.CaptureFixture[str], line: str, code: int, said: str) -> None:
    (data / "good.json").write_text('{"DATE": "M/D"}', encoding="utf-8")
    for name, identifier in (("p", "7-1"), ("q", "7-2")):
        sample = [{"full_text": "other", "metadata": {"identifier": identifier}}]
        (data / f"{name}.json").write_text(json.dumps(sample), encoding="utf-8")
    assert sandscore(line) == code
    assert said in capsys.readouterr().err
    assert not (data / "out").exists()


def test_formats_are_listed_with_what_they_cannot_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert sandscore("convert --formats") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(FORMATS.names)
    assert "cannot hold confidence, dateFormat, certainty, patientId and note type" in lines[2]


@pytest.mark.parametrize("name", ["brat", "i2b2", "conll", "conll-io", "presidio", "nlpsandbox-bundle", "neleval"])
def test_the_example_challenge_goes_out_and_back(tmp_path: Path, name: str) -> None:
    gold = example_gold()
    notes = str(gold / "notes.json")
    there = ["convert", "address", "--from", "ours", str(gold), "--to", name, "-o", str(tmp_path / "there")]
    back = ["convert", "address", "--from", name, str(tmp_path / "there"), "--notes", notes, "--to", "ours"]
    assert run(there) == 0
    assert run([*back, "-o", str(tmp_path / "back")]) == 0
    assert json.loads((tmp_path / "back" / "address.json").read_text(encoding="utf-8")) == json.loads(
        (gold / "address.json").read_text(encoding="utf-8")
    )

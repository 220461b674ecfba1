"""Slices against counts of our own, the organiser's file, and what the verb says and refuses."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore
from struct_values import changeable

import sandscore as ss
from sandscore.records.group_scores import SliceTable
from sandscore.records.scorecard import Scorecard
from sandscore.slices.slice_analysis import slices_again
from sandscore.slices.slice_rules import script_of

EXAMPLE = Path(__file__).resolve().parents[2] / "gold" / "example"
GOOD = EXAMPLE.parents[1] / "submissions" / "address-good" / "predictions.json"
ARRAY = "textPhysicalAddressAnnotations"
MEASURES = ["char_leak", "patient_leak", "over_mask", "overlap", "iou(beta=2)", "char_f"]


def rows(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for entry in json.loads(file.read_bytes()):
        name = entry["annotationSource"]["resourceSource"]["name"].rpartition("/")[2]
        yield from ((name, row) for row in entry[ARRAY])


def scored(slices: Sequence[str | Path], measures: list[str]) -> Scorecard:
    gold, notes = EXAMPLE / "address.json", EXAMPLE / "notes.json"
    return ss.score("address", gold=gold, predictions=GOOD, notes=notes, measures=measures, slices=slices).card


def sliced(*slices: str | Path, measures: list[str] | None = None) -> dict[str, SliceTable]:
    return scored(slices, measures or []).slices


def test_labels_by_counting() -> None:
    """Recall of the exact spans of each label; patients are what stands before the dash of a note's name."""
    found = {(note, row["start"], row["length"]) for note, row in rows(GOOD)}
    of: Counter[str] = Counter()
    n: Counter[str] = Counter()
    patients: dict[str, set[str]] = {}
    for note, row in rows(EXAMPLE / "address.json"):
        of[row["addressType"]] += 1
        n[row["addressType"]] += (note, row["start"], row["length"]) in found
        patients.setdefault(row["addressType"], set()).add(note.partition("-")[0])
    table = sliced("label")["label"]
    assert (table.of, table.recalls[1]) == ("mentions", "instance_strict")
    assert {group: one.patients for group, one in table.slices.items()} == {
        group: len(people) for group, people in patients.items()
    }
    assert {group: one.measures["instance_strict"] for group, one in table.slices.items()}.keys() == of.keys()
    for group, one in table.slices.items():
        score = one.measures["instance_strict"]
        assert (score.n, score.of, score.value) == (n[group], of[group], n[group] / of[group])
    worst = min(of, key=lambda group: n[group] / of[group])
    assert table.worst["instance_strict"] == worst
    whole = sum(n.values()) / sum(of.values())
    gap = table.slices[worst].measures["instance_strict"].gap
    assert gap == pytest.approx(n[worst] / of[worst] - whole)


def test_leaks_by_label_are_the_cards_own() -> None:
    card = scored(["label"], MEASURES)
    for label, row in card.per_label.items():
        for measure in ("char_leak", "patient_leak"):
            score = card.slices["label"].slices[label].measures[measure]
            assert (score.n, score.of) == (row[measure]["n"], row[measure]["of"])
    assert "over_mask" not in card.slices["label"].whole
    assert slices_again(card, "label") == card.slices["label"]
    leaks = {label: row["char_leak"]["n"] / row["char_leak"]["of"] for label, row in card.per_label.items()}
    assert card.slices["label"].worst["char_leak"] == max(leaks, key=lambda label: leaks[label])


@pytest.mark.parametrize("rule", ["note-type", "note-length", "site"])
def test_slices_of_notes_add_up_the_cards_rows(rule: str) -> None:
    card = scored([rule], MEASURES)
    notes = json.loads((EXAMPLE / "notes.json").read_bytes())
    lengths = ("0 to 999", "1,000 to 2,999", "3,000 to 9,999", "10,000 and more")
    by_rule: dict[str, Callable[[dict[str, Any]], str]] = {
        "note-type": lambda note: note["type"],
        "note-length": lambda note: lengths[sum(len(note["text"]) >= border for border in (1000, 3000, 10_000))],
        "site": lambda note: "example",
    }
    group_of = by_rule[rule]
    groups = {note["identifier"]: group_of(note) for note in notes}
    table = card.slices[rule]
    assert slices_again(card, rule) == table
    assert set(table.slices) == set(groups.values())
    for group, one in table.slices.items():
        assert one.notes == list(groups.values()).count(group)
        if one.too_few:
            continue
        mine = [counts for name, counts in card.per_note.items() if groups[name] == group]
        tp, fp, fn = (sum(counts["instance_strict"][at] for counts in mine) for at in range(3))
        assert (one.measures["instance_strict"].n, one.measures["instance_strict"].of) == (2 * tp, 2 * tp + fp + fn)
        tp, fp, fn = (sum(counts["iou(beta=2)"][at] for counts in mine) for at in range(3))
        score = one.measures["iou(beta=2)"]
        assert score.value == pytest.approx(5 * tp / (5 * tp + 4 * fn + fp))
        for name in ("char_leak", "over_mask"):
            n, of = (sum(counts[name][at] for counts in mine) for at in range(2))
            assert (one.measures[name].n, one.measures[name].of) == (n, of)
        assert one.measures["patient_leak"].of == one.patients
    if rule == "site":
        for name, score in table.slices["example"].measures.items():
            assert score.value == pytest.approx(card.measures[name].ranked)
            assert score.gap_ci is None


def test_a_slice_of_few_patients_is_too_few(tmp_path: Path) -> None:
    """Nine patients of eighteen are one short of being told of; numbers of them stand nowhere."""
    names = [note["identifier"] for note in json.loads((EXAMPLE / "notes.json").read_bytes())]
    patients = sorted({name.partition("-")[0] for name in names})
    file = tmp_path / "halves.json"
    groups = {name: "few" if name.partition("-")[0] in patients[:8] else "many" for name in names}
    file.write_text(json.dumps({"name": "halves", "notes": groups}), encoding="utf-8")
    table = sliced(file)["halves"]
    assert {group: (one.patients, one.too_few, bool(one.measures)) for group, one in table.slices.items()} == {
        "few": (8, True, False),
        "many": (10, False, True),
    }
    assert set(table.worst.values()) == {"many"}
    assert table.sha256 is not None
    done = sandscore("score", "address", *given(), "--slices", file)
    assert "too few" in done.out


def test_mentions_of_a_file(tmp_path: Path) -> None:
    mentions = [
        {"note": note, "start": row["start"], "length": row["length"], "group": row["addressType"][:1]}
        for note, row in rows(EXAMPLE / "address.json")
        if row["addressType"] in {"city", "state"}
    ]
    file = tmp_path / "first.json"
    file.write_text(json.dumps({"name": "first", "mentions": mentions}), encoding="utf-8")
    told = sliced(file, "label")
    for letter, label in (("c", "city"), ("s", "state")):
        mine, theirs = told["first"].slices[letter].measures, told["label"].slices[label].measures
        assert {name: (one.n, one.of, one.gap) for name, one in mine.items()} == {
            name: (one.n, one.of, one.gap) for name, one in theirs.items()
        }


def given() -> list[Path | str]:
    return ["--gold", EXAMPLE / "address.json", "--predictions", GOOD, "--notes", EXAMPLE / "notes.json"]


ODD = {"note": "101-01", "start": 1, "length": 1, "group": "a"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"name": "x"}, "expected either 'notes' or 'mentions'"),
        ({"name": "x", "notes": {}}, "found 0 groups"),
        ({"name": "x", "notes": {"nobody": "a"}}, "a note of it is not among the notes"),
        (
            {"name": "x", "mentions": [{"note": "101-01", "start": 1, "length": 1, "group": "a"}]},
            "1 of its 1 annotations",
        ),
        ({"name": "x", "notes": {"101-01": "a\nb"}}, "/notes/101-01"),
        ({"name": "x", "notes": {str(n): str(n) for n in range(101)}}, "found 101 groups"),
    ],
)
def test_files_that_are_none(content: dict[str, Any], said: str, tmp_path: Path) -> None:
    file = tmp_path / "slices.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    done = sandscore("score", "address", *given(), "--slices", file)
    assert done.code == 78
    assert said in done.err


def test_wrong_usage(tmp_path: Path) -> None:
    assert "did you mean label?" in sandscore("score", "address", *given(), "--slices", "labl").err
    assert sandscore("score", "address", *given(), "--slices", tmp_path / "none.json").code == 66
    assert sandscore("score", "address", *given(), "--slices", "label", "--profile", "i2b2").code == 2
    without = sandscore("score", "address", *given()[:4], "--slices", "script")
    assert (without.code, "--notes" in without.err) == (2, True)


def test_the_card_and_the_same_bytes(tmp_path: Path) -> None:
    """Written, read again by our own reader, and written alike by two processes."""
    words = ("score", "address", *given(), "--slices", "label", "--slices", "site")
    assert sandscore(*words, "-o", tmp_path / "a.json").code == 0
    assert sandscore(*words, "--jobs", "2", "-o", tmp_path / "b.json").code == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    board = ss.rank([tmp_path / "a.json"]).board
    assert board.rows[0].slices == {}


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Smith 3", "Latin"),
        ("Nguyễn", "Latin with marks"),
        ("Иванов", "Cyrillic"),
        ("王小明", "Cjk"),
        ("12/3", "no letters"),
        ("Αθήνα X", "Greek"),
    ],
)
def test_scripts(text: str, script: str) -> None:
    assert script_of(text) == script


def test_a_measure_that_a_slice_does_not_define_is_told_as_undefined(tmp_path: Path) -> None:
    """Ten dates of a format, found as they are, and ten without one: of these nobody can miss the format."""
    formats = {"a": {"dateFormat": "MM/DD/YYYY"}, "b": {}}
    notes = [
        {"identifier": f"{kind}{i}", "text": "10/26/2020", "patientId": f"p{i}"} for kind in formats for i in range(10)
    ]
    entries = [
        {
            "annotationSource": {"resourceSource": {"name": f"dataset/d/fhirStores/f/fhir/Note/{note['identifier']}"}},
            "textDateAnnotations": [
                {"start": 0, "length": 10, "text": "10/26/2020", "confidence": 90, **formats[note["identifier"][0]]}
            ],
        }
        for note in notes
    ]
    for name, content in (("notes", notes), ("gold", entries)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    gold = tmp_path / "gold.json"
    table = ss.score("date", gold=gold, predictions=gold, notes=tmp_path / "notes.json", slices=["label"]).card.slices
    told = {
        group: (one.measures["instance_strict"].of, one.measures["date_format"].of, one.measures["date_format"].value)
        for group, one in table["label"].slices.items()
    }
    assert told == {"MM/DD/YYYY": (10, 10, 1.0), "(no label)": (10, 0, None)}


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("slices") == set()

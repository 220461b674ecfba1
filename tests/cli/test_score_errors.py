"""``score --errors``: four files or none, for our own profile and for presidio; everything else refuses."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from cli.running import Ran, sandscore

from sandscore.base.bundled_content import example_gold, submissions

GOLD = example_gold()
FILES = {"metrics.json", "false_positives.csv", "false_negatives.csv", "confusion_matrix.html"}
HEADER = "error_type,annotation,prediction,token,full_text,sample_id,explanation,start,end"


def score(*more: Any, task: str = "address", predictions: Path | None = None) -> Ran:
    found = predictions or submissions() / f"{task}-good" / "predictions.json"
    files = ("--gold", GOLD / f"{task}.json", "--notes", GOLD / "notes.json", "--predictions", found)
    return sandscore("score", task, *files, *more)


def strict(path: Path) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def spans(path: Path, found: dict[str, list[tuple[int, str, str]]]) -> Path:
    """A file of the task ``phi``: note to start, text and type."""
    records = [
        {
            "annotationSource": {"resourceSource": {"name": f"d/{note}"}},
            "textAnnotations": [{"start": s, "length": len(t), "text": t, "type": kind} for s, t, kind in annotations],
        }
        for note, annotations in found.items()
    ]
    path.write_text(json.dumps(records))
    return path


@pytest.mark.parametrize("profile", ["challenge", "presidio", "presidio(release=0.2.5,skip_words=none)"])
def test_four_files_beside_the_card(profile: str, tmp_path: Path) -> None:
    ran = score("--profile", profile, "--errors", tmp_path / "a" / "b", "--created", "2026-01-01", "--format", "json")
    assert ran.code == 0
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == FILES
    card = json.loads(ran.out)
    found = strict(tmp_path / "a" / "b" / "metrics.json")
    name = "instance_strict" if profile == "challenge" else "pii"
    assert found["recall"] == card["measures"][name]["recall"]
    assert found["details"]["timestamp"] == "2026-01-01"
    assert found["details"]["total_samples"] == card["notes"]
    wrong = rows(tmp_path / "a" / "b" / "false_negatives.csv")
    assert len(wrong) > 10
    assert {row["error_type"] for row in wrong} <= {"ErrorType.FN", "ErrorType.WrongEntity"}


def test_our_own_files_count_the_errors_of_the_card(tmp_path: Path) -> None:
    ran = score("--errors", tmp_path, "--format", "json")
    errors = json.loads(ran.out)["errors"]
    assert len(rows(tmp_path / "false_negatives.csv")) == errors["missed"] + errors["boundary"] + errors["wrong_label"]
    assert len(rows(tmp_path / "false_positives.csv")) == (
        errors["spurious"] + errors["boundary"] + errors["wrong_label"]
    )


def test_a_perfect_answer_has_tables_of_a_header_only(tmp_path: Path) -> None:
    assert score("--errors", tmp_path, predictions=GOLD / "address.json").code == 0
    assert [(tmp_path / f"false_{name}.csv").read_text() for name in ("positives", "negatives")] == [HEADER + "\n"] * 2


@pytest.mark.parametrize("profile", ["challenge", "presidio"])
def test_same_input_same_files(profile: str, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        assert score("--profile", profile, "--errors", tmp_path / folder).code == 0
    assert all((tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes() for name in FILES)


def test_an_answer_that_is_refused_leaves_the_old_files(tmp_path: Path) -> None:
    assert score("--errors", tmp_path).code == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    broken = tmp_path.with_name("broken.json")
    broken.write_text('[{"annotationSource"')
    for profile in ("challenge", "presidio"):
        assert score("--profile", profile, "--errors", tmp_path, predictions=broken).code == 65
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--errors", "x", "--publish"], "score twice"),
        (["--errors", "x", "--profile", "neleval"], "--errors goes with our own profile and with presidio"),
        (["--entity-map", "x.json"], "--entity-map goes with --errors"),
    ],
)
def test_contradictions(more: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SANDSCORE_SALT", "pepper")
    ran = score(*more)
    assert (ran.code, sentence in ran.err, ran.out) == (2, True, "")
    assert not list(tmp_path.iterdir())


def test_directories_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ran = score("--errors", tmp_path / "file")
    assert (ran.code, ran.out) == (2, "")
    assert "is not a directory" in ran.err
    ran = score("--errors", "/proc/nowhere/errors")
    assert (ran.code, ran.out) == (75, "")
    assert "cannot be written" in ran.err


def test_what_an_entity_map_leaves_out_is_told(tmp_path: Path) -> None:
    gold = spans(tmp_path / "g.json", {"1": [(0, "Ann", "PERSON")], "2": [(0, "Bob", "Per_Son"), (9, "Rome", "GPE")]})
    found = spans(tmp_path / "p.json", {"1": [(0, "Ann", "HUMAN"), (5, "Eve", "WIDGET\x1b")]})
    names = tmp_path / "map.json"
    names.write_text('{"PERSON": "NAME", "HUMAN": "NAME"}')
    files = ("--gold", gold, "--predictions", found, "--entity-map", names, "--errors", tmp_path / "errors")
    ran = sandscore("score", "phi", *files)
    assert ran.code == 0
    assert "warning: note 2 is left out of the error files: its type 'Per_Son' is named 'PERSON'" in ran.err
    assert "warning: the entity map does not know the type 'WIDGET\\x1b' (1 annotations)" in ran.err
    details = strict(tmp_path / "errors" / "metrics.json")["details"]
    assert [one["note"] for one in details["discarded"]] == ["2"]
    assert details["unmapped_types"] == {"GPE": 1, "Per_Son": 1, "WIDGET\x1b": 1}
    assert details["entity_recall_dict"]["NAME"] == 1.0


@pytest.mark.parametrize(
    ("text", "code"), [(None, 66), ("nothing", 78), ("[]", 78), ('{"GPE": 1}', 78), ('{"GPE": "town"}', 78)]
)
def test_maps_that_cannot_be_used(text: str | None, code: int, tmp_path: Path) -> None:
    names = tmp_path / "map.json"
    if text is not None:
        names.write_text(text)
    assert score("--entity-map", names, "--errors", tmp_path / "errors").code == code
    assert not (tmp_path / "errors").exists()

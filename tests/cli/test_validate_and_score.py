"""The two verbs as a user meets them: right and wrong files, every shape, and the exit codes of the contract."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from cli.running import sandscore

from sandscore.base.bundled_content import example_gold, submissions
from sandscore.task_table.task import TASKS

GOLD = example_gold()
NOTES = GOLD / "notes.json"
CASES = Path(__file__).resolve().parents[1] / "cases"
CHALLENGE = ("date", "person-name", "address")


def score(task: str, *more: Any, predictions: Any = None, gold: Any = None, stdin: bytes | None = None) -> Any:
    predictions = predictions or submissions() / f"{task}-good" / "predictions.json"
    gold = gold or GOLD / f"{task}.json"
    return sandscore("score", task, "--gold", gold, "--predictions", predictions, *more, stdin=stdin)


@pytest.mark.parametrize("task", CHALLENGE)
def test_example_gold_is_valid_and_perfect_against_itself(task: str) -> None:
    assert sandscore("validate", task, GOLD / f"{task}.json", "--notes", NOTES).code == 0
    ran = score(task, "--notes", NOTES, "--format", "json", predictions=GOLD / f"{task}.json")
    assert {m["f1"] for m in json.loads(ran.out)["measures"].values()} == {1.0}


@pytest.mark.parametrize("ending", ["json", "jsonl", "json.gz", "json.zst", "jsonl.gz", "-"])
def test_every_shape_gives_the_same_numbers(ending: str, tmp_path: Path) -> None:
    records = json.loads((submissions() / "date-good" / "predictions.json").read_text(encoding="utf-8"))
    text = "\n".join(map(json.dumps, records)) if "jsonl" in ending else json.dumps(records, indent=1)
    packers: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "zst": zstandard.compress}
    pack = packers.get(ending.rpartition(".")[2], bytes)
    if ending == "-":
        ran = score("date", "--format", "json", predictions="-", stdin=text.encode())
    else:
        path = tmp_path / f"p.{ending}"
        path.write_bytes(pack(text.encode()))
        ran = score("date", "--format", "json", predictions=path)
    plain = score("date", "--format", "json")
    assert ran.code == plain.code == 0
    assert json.loads(ran.out)["measures"] == json.loads(plain.out)["measures"]


def test_hash_is_of_the_unpacked_bytes(tmp_path: Path) -> None:
    packed = tmp_path / "p.json.gz"
    packed.write_bytes(gzip.compress((submissions() / "date-good" / "predictions.json").read_bytes()))
    assert (
        json.loads(score("date", "--format", "json", predictions=packed).out)["signature"]
        == (json.loads(score("date", "--format", "json").out)["signature"])
    )


def rubbish(folder: Path) -> dict[str, Path]:
    made = {
        "binary": os.urandom(1000),
        "empty": b"",
        "deep": b"[" * 100_000,
        "text": b"hello",
        "number": b"7",
        "null": b"null",
        "half": b'[{"annotationSource": {"resourceSource": {"name": "a"}}, "textDate',
        "not-gz.json.gz": b"[]",
        "not-zst.json.zst": b"[]",
        "utf16": "[]".encode("utf-16"),
        "list-of-numbers": b"[1, 2, 3]",
    }
    for name, data in made.items():
        (folder / name).write_bytes(data)
    for name, size in (("large", 64 << 20), ("huge", 2 << 30)):
        with (folder / name).open("wb") as zeros:
            zeros.truncate(size)
    return {path.name: path for path in folder.iterdir()}


def test_rubbish_is_refused_in_a_sentence(tmp_path: Path) -> None:
    for name, path in rubbish(tmp_path).items():
        ran = sandscore("validate", "date", path)
        assert (ran.code, "bug of ours" in ran.err) == (65, False), path
        assert score("date", "--notes", path).code == 78, path
        assert sandscore("validate", "date", GOLD / "date.json", "--notes", path).code == 78, path
        if name != "huge":  # gold and predictions are hashed before they are read: seconds, where 64 MiB show the same
            assert score("date", predictions=path).code == 65, path
            assert score("date", gold=path).code == 78, path


@pytest.mark.parametrize("name", ["missing.json", ".", "no/such/folder/x.json", "nul\0.json"])
def test_files_that_cannot_be_read(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / name) if "\0" not in name else name
    for ran in (sandscore("validate", "date", path), score("date", predictions=path), score("date", gold=path)):
        assert ran.code == 66
        assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "dates", "x.json"],
        ["validate", "date"],
        ["score", "date", "--gold", "x"],
        ["nothing"],
        ["score", "date", "--gold", "-", "--predictions", "-"],
        ["score", "date", "--gold", "x", "--predictions", "y", "--measure", "instance_relax(relax=two)"],
        ["score", "date", "--gold", "x", "--predictions", "y", "--measure", "address_type"],
        ["score", "date", "--gold", "x", "--predictions", "y", "--publish"],
    ],
)
def test_wrong_usage(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SANDSCORE_SALT", raising=False)
    assert sandscore(*arguments).code == 2


def test_bad_gold_comes_before_bad_predictions() -> None:
    bad = CASES / "date" / "invalid" / "json--nan.json"
    assert score("date", gold=bad, predictions=bad).code == 78


def test_complete_makes_a_missing_note_an_error(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text("[]")
    assert sandscore("validate", "date", path, "--notes", NOTES).code == 0
    assert sandscore("validate", "date", path, "--notes", NOTES, "--complete").code == 65
    found = json.loads(sandscore("validate", "date", path, "--notes", NOTES, "--format", "json").out)
    assert found["counts"] == {"empty": 1, "missing-note": 72}


def test_each_code_lists_ten_thousand_and_counts_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    wrong = [{"start": -1, "length": 1, "text": "x"}] * 10_500
    path.write_text(json.dumps({"textDateAnnotations": wrong}))
    found = json.loads(sandscore("validate", "date", path, "--format", "json").out)
    assert found["counts"] == {"schema": 10_500}
    assert len(found["problems"]) == 10_000


def test_problems_point_at_what_they_mean(tmp_path: Path) -> None:
    """Every pointer resolves to the very value complained about (RFC 6901)."""
    records = [{"annotationSource": {"resourceSource": {"name": "d/n"}}, "textDateAnnotations": [{"start": "8"}]}]
    path = tmp_path / "p.json"
    path.write_text(json.dumps(records))
    found = json.loads(sandscore("validate", "date", path, "--format", "json").out)["problems"]
    assert {(p["pointer"], p["message"]) for p in found} == {
        ("/0/textDateAnnotations/0/start", '"8" is not an integer'),
        ("/0/textDateAnnotations/0", "'length' is missing"),
        ("/0/textDateAnnotations/0", "'text' is missing"),
    }


def test_misspelt_property_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    a = {"start": 0, "length": 1, "text": "x", "dateformat": "Y"}
    path.write_text(json.dumps({"textDateAnnotations": [a, a | {"start": 5}]}))
    (problem,) = json.loads(sandscore("validate", "date", path, "--format", "json").out)["problems"]
    assert problem["code"] == "unknown-property"
    assert problem["message"] == "unknown property \"dateformat\" (2 times); did you mean 'dateFormat'?"


@pytest.mark.parametrize(
    ("case", "hint"),
    [("utf-16-units", "UTF-16 units"), ("utf-8-bytes", "UTF-8 bytes"), ("one-too-late", "1 character earlier, at 8")],
)
def test_hints_for_miscounted_offsets(case: str, hint: str) -> None:
    path = CASES / "date" / "invalid" / f"text-mismatch--{case}.json"
    assert hint in sandscore("validate", "date", path, "--notes", CASES / "notes.json").out


def test_whole_names_where_last_segments_collide(tmp_path: Path) -> None:
    """a/1 and b/1 are two notes as soon as one file names both."""

    def records(found: dict[str, int]) -> str:
        return json.dumps(
            [
                {
                    "annotationSource": {"resourceSource": {"name": name}},
                    "textDateAnnotations": [{"start": start, "length": 1, "text": "x"}],
                }
                for name, start in found.items()
            ]
        )

    gold, predictions = tmp_path / "g.json", tmp_path / "p.json"
    gold.write_text(records({"a/1": 0, "b/1": 5}))
    predictions.write_text(records({"b/1": 5}))
    ran = score("date", "--format", "json", gold=gold, predictions=predictions)
    assert json.loads(ran.out)["per_note"].keys() == {"a/1", "b/1"}
    assert json.loads(ran.out)["per_note"]["b/1"]["instance_strict"] == [1, 0, 0]


def test_published_card_hides_ids_and_keeps_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """HMAC-SHA256 of the id with the salt, as Python's own hmac gives it."""
    import hashlib
    import hmac

    monkeypatch.setenv("SANDSCORE_SALT", "pepper")
    plain = json.loads(score("date", "--notes", NOTES, "--format", "json").out)
    hidden = json.loads(
        score("date", "--notes", NOTES, "--format", "json", "--publish", "--challenge", GOLD / "challenge.toml").out
    )
    assert list(hidden["per_note"]) == [
        hmac.new(b"pepper", note.encode(), hashlib.sha256).hexdigest()[:16] for note in plain["per_note"]
    ]
    assert list(hidden["per_note"].values()) == list(plain["per_note"].values())
    assert len(set(hidden["units"].values())) == len(set(plain["units"].values())) == 18


def test_same_input_same_bytes(tmp_path: Path) -> None:
    cards = [tmp_path / "a.json", tmp_path / "b.json"]
    for card in cards:
        assert score("address", "--notes", NOTES, "-o", card).code == 0
    assert cards[0].read_bytes() == cards[1].read_bytes()


def test_score_prints_what_tasks_lists() -> None:
    for task in CHALLENGE:
        printed = score(task, "--notes", NOTES).out
        assert all(f"\n{measure} " in printed for measure in TASKS[task].measures)

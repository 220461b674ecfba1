"""``validate`` names the cause of what is wrong, and ``--fix`` undoes it or says why not."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.running import Ran, sandscore

import sandscore as ss
from sandscore.cli.aligned_texts import aligned

EXAMPLE = Path(__file__).resolve().parents[2] / "gold" / "example"
NOTES = EXAMPLE / "notes.json"
RIGHT: list[dict[str, Any]] = json.loads((EXAMPLE / "date.json").read_text())
ARRAY = "textDateAnnotations"
TEXTS = 905  # annotations of the example's gold, as `grep -o '"start"' gold/example/date.json | wc -l` counts them


def ran(code: int, *words: Any) -> Ran:
    done = sandscore(*words)
    assert done.code == code, done.err
    return done


def written(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Path:
    made = [record | {ARRAY: [one | change(one) for one in record[ARRAY]]} for record in RIGHT]
    content = json.dumps(made).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def test_offsets_from_one(tmp_path: Path) -> None:
    """The sentence and the JSON of the specification, for the example's dates."""
    wrong = written(tmp_path / "p.json", lambda one: {"start": one["start"] + 1})
    first = ran(65, "validate", "date", wrong, "--notes", NOTES).out.splitlines()[0]
    assert first == (
        f"{wrong}: 905 of 905 texts stand where you say if every start is one smaller: your offsets begin at 1. "
        f"Mend it: sandscore validate date {wrong} --notes {NOTES} --fix -o mended.json"
    )
    told = ran(65, "validate", "date", wrong, "--notes", NOTES, "--format", "json").out
    assert json.loads(told)["diagnosis"] == [
        {"cause": "shift", "by": -1, "scope": "file", "explains": TEXTS, "of": TEXTS, "fixable": True}
    ]
    assert "UTF" not in ran(65, "validate", "date", wrong, "--notes", NOTES).out


def test_mended_is_what_was(tmp_path: Path) -> None:
    """Two causes at once, in a packed file; the file itself stays."""
    wrong = written(tmp_path / "p.json.gz", lambda one: {"start": one["start"] + 1, "confidence": 0.93})
    before = wrong.read_bytes()
    done = ran(0, "validate", "date", wrong, "--notes", NOTES, "--fix", "-o", tmp_path / "m.json.gz")
    made = json.loads(gzip.decompress((tmp_path / "m.json.gz").read_bytes()))
    assert [record[ARRAY] for record in made] == [
        [one | {"confidence": 93} for one in record[ARRAY]] for record in RIGHT
    ]
    assert wrong.read_bytes() == before
    assert [line.split(":")[0] for line in done.out.splitlines()[:2]] == ["mended", "mended"]


def garbled(one: dict[str, Any]) -> dict[str, Any]:
    return {"text": "?" * one["length"]} if one["start"] % 7 == 0 else {"start": one["start"] + 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (garbled, "does not mend all of it; nothing was written"),
        (
            lambda one: {"text": "?" * one["length"]},
            "no cause was found that explains its problems; nothing was written",
        ),
        (lambda one: {}, "there is nothing to mend; nothing was written"),
        (lambda one: {"text": ""}, "no cause was found that explains its problems; nothing was written"),
    ],
    ids=["a part", "garbage", "right", "empty texts"],
)
def test_what_cannot_be_proven_is_refused(tmp_path: Path, change: Callable[..., dict[str, Any]], said: str) -> None:
    wrong = written(tmp_path / "p.json", change)
    refused = ran(65, "validate", "date", wrong, "--notes", NOTES, "--fix", "-o", tmp_path / "m.json")
    assert refused.err.rstrip().endswith(said)
    assert not (tmp_path / "m.json").exists()


def test_the_file_itself_is_not_written_over(tmp_path: Path) -> None:
    wrong = written(tmp_path / "p.json", lambda one: {"start": one["start"] + 1})
    (tmp_path / "link.json").symlink_to(wrong)
    for output in (wrong, tmp_path / "link.json"):
        assert "is the file itself" in ran(2, "validate", "date", wrong, "--fix", "-o", output).err
    assert "belong together" in ran(2, "validate", "date", wrong, "--fix").err


def test_a_byte_order_mark_goes(tmp_path: Path) -> None:
    wrong = written(tmp_path / "p.json", lambda one: {"length": one["start"] + one["length"]})
    wrong.write_bytes(b"\xef\xbb\xbf" + wrong.read_bytes())
    problems = ss.validate("date", wrong, notes=NOTES)
    assert [one.cause for one in problems.diagnosis] == ["bom", "end-exclusive"]
    assert json.loads(problems.fixed()) == RIGHT


def test_hidden_notes_are_not_quoted(tmp_path: Path) -> None:
    wrong = written(tmp_path / "p.json", lambda one: {"start": one["start"] + 1})
    challenge = tmp_path / "challenge.toml"
    challenge.write_text('challenge = "c"\n[data]\nnotes = "hidden"\ngold = "hidden"\n')
    shown = ran(65, "validate", "date", wrong, "--notes", NOTES).out
    hidden = ran(65, "validate", "date", wrong, "--notes", NOTES, "--challenge", challenge).out
    assert "there stands:" in shown
    assert "there stands:" not in hidden


def test_two_texts_under_one_another() -> None:
    """By hand."""
    assert aligned("3/14", "/14 ") == ("3/14", " /14", "^   ^")
    assert aligned("ab", "a\n") == ("ab", "a\\n", " ^^")
    assert aligned("日x", "日y") == ("日x", "日y", "  ^")

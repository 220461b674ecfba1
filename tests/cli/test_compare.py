"""Two answers on the same notes: the new one's loss is told, and fails a pipeline that asks for it."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandscore.base.bundled_content import example_gold
from sandscore.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
CARDS = ROOT / "leaderboard" / "cards"
GOOD, WEAK = (str(ROOT / "submissions" / name / "predictions.json") for name in ("date-good", "date-weak"))
OVER = ["--gold", str(example_gold() / "date.json"), "--notes", str(example_gold() / "notes.json")]
NOTES = [{"identifier": f"n{i}", "text": "May 1, May 2", "patientId": f"p{i}"} for i in range(8)]


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code = run(["compare", *words, "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_cards_and_predictions_say_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    _, cards = told([str(CARDS / "date-weak.json"), str(CARDS / "date-good.json")], capsys)
    _, files = told([WEAK, GOOD, *OVER], capsys)
    assert {**cards, "labels": None} == {**files, "labels": None}
    assert (cards["b_is"], cards["b_better"], cards["b_worse"]) == ("better", 71, 0)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([WEAK, GOOD, "--fail-if-worse"], 0),
        ([GOOD, WEAK], 0),
        ([GOOD, WEAK, "--fail-if-worse"], 1),
        ([GOOD, WEAK, "--fail-if-worse", "--measure", "iou"], 1),
        ([GOOD, WEAK, "--fail-if-worse", "--measure", "note_leak"], 1),
        ([WEAK, GOOD, "--fail-if-worse", "--measure", "note_leak", "--any"], 0),
        ([GOOD, GOOD, "--fail-if-worse", "--any"], 0),
        ([GOOD, WEAK, "--any"], 2),
    ],
)
def test_a_new_one_that_is_worse_fails_where_that_is_asked(words: list[str], code: int) -> None:
    assert run(["compare", *words, *OVER]) == code


def written(folder: Path, name: str, notes: list[list[tuple[int, int]]]) -> str:
    """Annotations of dates by note."""
    text = "May 1, May 2"
    records = [
        {
            "annotationSource": {"resourceSource": {"name": f"n{i}"}},
            "textDateAnnotations": [{"start": s, "length": e - s, "text": text[s:e]} for s, e in spans],
        }
        for i, spans in enumerate(notes)
    ]
    (folder / name).write_text(json.dumps(records), encoding="utf-8")
    return str(folder / name)


def test_a_loss_that_may_be_chance_fails_only_where_any_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Gold has both dates of each of eight notes; a finds all 16, b lacks one: F1 30/31, and one patient differs, so
    that half of all coins give a difference as large: p is 1. By hand: 30/31 - 1 = -.032258."""
    both = [(0, 5), (7, 12)]
    gold = written(tmp_path, "gold.json", [both] * 8)
    b = written(tmp_path, "b.json", [both[:1], *[both] * 7])
    (tmp_path / "notes.json").write_text(json.dumps(NOTES), encoding="utf-8")
    over = ["--gold", gold, "--notes", str(tmp_path / "notes.json"), "--fail-if-worse"]
    code, found = told([gold, b, *over], capsys)
    assert code == 0
    assert found["difference"] == pytest.approx(-1 / 31)
    assert (found["p"], found["b_better"], found["b_worse"]) == (1, 0, 1)
    assert found["notes"][0] == {
        "note": "n0",
        "a": {"tp": 2, "fp": 0, "fn": 0},
        "b": {"tp": 1, "fp": 0, "fn": 1},
        "better": "a",
    }
    assert told([gold, b, *over, "--any"], capsys)[0] == 1
    assert run(["compare", gold, b, *over]) == 0
    said = capsys.readouterr().out
    assert "b is worse than a by 0.032 (instance_strict, 95 % 0.000 to " in said
    assert "b is better on 0 notes, worse on 1" in said
    assert "b is worse on n0" in said


def test_where_nothing_is_to_be_found_whoever_finds_nothing_is_better(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = written(tmp_path, "gold.json", [[], [(0, 5)]])
    a = written(tmp_path, "a.json", [[(0, 5)], [(0, 5)]])
    _, found = told([a, gold, "--gold", gold], capsys)
    assert [(note["note"], note["better"]) for note in found["notes"]] == [("n0", "b")]


def test_predictions_of_other_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sandscore as ss

    theirs = tmp_path / "weak.jsonl"
    ss.convert(WEAK, source="ours", target="hf", tasks=["date"], notes=example_gold() / "notes.json", output=theirs)
    assert told([str(theirs), GOOD, *OVER], capsys)[1]["notes"] == told([WEAK, GOOD, *OVER], capsys)[1]["notes"]


def test_the_page_quotes_notes_only_where_the_licence_says_so(tmp_path: Path) -> None:
    page, rules = tmp_path / "page.html", tmp_path / "challenge.toml"
    assert run(["compare", WEAK, GOOD, *OVER, "--html", str(page)]) == 0
    closed = page.read_text(encoding="utf-8")
    assert "b is better than a by 0.446" in closed
    assert "Only in" in closed
    assert "quotes none of it" in closed
    note = json.loads((example_gold() / "notes.json").read_bytes())[0]["text"]
    word = max(note.split(), key=len)
    assert word not in closed
    rules.write_text('challenge = "dates"\n[publication]\ntext = true\n', encoding="utf-8")
    assert run(["compare", WEAK, GOOD, *OVER, "--html", str(page), "--challenge", str(rules)]) == 0
    assert 'class="m-spurious"' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([GOOD, WEAK], 2, "is no score card; predictions are compared with --gold FILE"),
        ([str(CARDS / "date-good.json"), str(CARDS / "date-weak.json"), "--html", "x"], 2, "score cards do not hold"),
        ([GOOD, WEAK, "--gold", str(example_gold() / "notes.json")], 2, "name it with --task"),
        ([GOOD, "none.json", *OVER], 66, "none.json: there is no such file"),
        ([GOOD, WEAK, *OVER, "--measure", "tokens"], 2, "tokens"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *words]) == code
    assert said in capsys.readouterr().err


def test_score_prints_the_intervals_of_the_library(capsys: pytest.CaptureFixture[str]) -> None:
    import sandscore as ss

    words = ["score", "date", "--predictions", GOOD, *OVER]
    assert run(words) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("95 % over 18 patients: ")]
    result = ss.score("date", gold=OVER[1], predictions=GOOD, notes=OVER[3])
    assert result.interval is not None
    assert f"instance_strict {result.interval[0]:.3f} to {result.interval[1]:.3f}" in line
    assert run([*words, "--no-intervals"]) == 0
    assert "95 %" not in capsys.readouterr().out


def test_many_patients_are_a_matter_of_asking(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sandscore.api.results.QUICK_UNITS", 17)
    words = ["score", "date", "--predictions", GOOD, *OVER]
    assert run(words) == 0
    assert "18 patients: --intervals computes how sure these scores are" in capsys.readouterr().out
    assert run([*words, "--intervals"]) == 0
    assert "95 % over 18 patients: token " in capsys.readouterr().out

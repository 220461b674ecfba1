"""A result says what its card and a board of it say, and can be looked at wherever it comes from."""

import json
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore
from example_numbers import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_inputs.memory_scoring import scored
from ranking_cards import as_entry, card_content, drawn_rows

from sandscore.api.comparison_calls import compare
from sandscore.api.results import Problems, RankedBoard, Result, ShownValue
from sandscore.api.running_calls import Run
from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import width
from sandscore.ranking.board_building import rank
from sandscore.ranking.card_reading import read_card
from sandscore.records.problem import CODES, Problem
from sandscore.records.run_record import Outcome, RunLimits, RunRecord
from sandscore.records.scorecard import Scorecard
from sandscore.task_table.task import TASKS

ROOT = Path(__file__).resolve().parents[2]
NOTES = ROOT / "gold" / "example" / "notes.json"
HOSTILE = '<script>alert(1)</script>\x1b[2J\u202e漢字"&\n'
EXAMPLES = ("date", "person-name", "address")
VOID = {"line"}


def predictions(task: str, which: str = "good") -> Path:
    return ROOT / "submissions" / f"{task}-{which}" / "predictions.json"


@cache
def result_of(task: str, which: str = "good") -> Result:
    gold = ROOT / "gold" / "example" / f"{task}.json"
    return scored(task, gold=gold, predictions=predictions(task, which), notes=NOTES)


def drawn(name: str, skill: float = 0.8, seed: int = 1, **changes: Any) -> Result:
    """A result of per-note counts drawn with a seed; five notes a patient."""
    rows = drawn_rows(skill, 60, seed)
    patients = [f"p{note // 5}" for note in range(60)]
    return Result(as_entry(card_content(name, rows, patients=patients, **changes)).card, Problems([], {}))


@pytest.mark.parametrize("task", EXAMPLES)
def test_card_bytes_are_the_file_of_the_command_line(task: str, tmp_path: Path) -> None:
    gold = ROOT / "gold" / "example" / f"{task}.json"
    files = ("--gold", gold, "--notes", NOTES, "--predictions", predictions(task))
    assert sandscore("score", task, *files, "-o", tmp_path / "cli.json").code == 0
    result = result_of(task)
    result.save(tmp_path / "saved.json")
    assert (tmp_path / "cli.json").read_bytes() == result.card_bytes == (tmp_path / "saved.json").read_bytes()
    assert result.to_dict() == json.loads(result.card_bytes)


@pytest.mark.parametrize("task", EXAMPLES)
def test_intervals_are_those_of_a_board_of_this_one_card(task: str, tmp_path: Path) -> None:
    result = result_of(task)
    result.save(tmp_path / "card.json")
    row = rank([read_card(tmp_path / "card.json")]).rows[0]
    assert {name: result[name].interval for name in row.measures} == {
        name: measure.f1_ci for name, measure in row.measures.items()
    }
    low, high = result.interval or (1, 0)
    assert (low, high) == row.measures["instance_strict"].f1_ci
    assert low < (result.f1 or 0) < high


def test_an_interval_needs_counts_that_are_defined() -> None:
    empty = Result(as_entry(card_content("none", [(0, 0, 0)] * 3)).card, Problems([], {}))
    assert (empty.f1, empty.interval) == (None, None)


def test_measures_of_a_result() -> None:
    result = result_of("date")
    assert (result["token"].tp, result["token"].fp, result["token"].fn) == (1077, 32, 75)
    assert result["token"].recall == 1077 / 1152
    assert result["token"].precision == 1077 / 1109
    assert tuple(result) == result.measures == TASKS["date"].measures
    with pytest.raises(UsageFault, match="no measure 'tokens'; it has token, instance_strict"):
        result["tokens"]


def test_problems() -> None:
    found = [Problem(code, severity, f"/{at}", None, "m") for at, (code, severity) in enumerate(CODES.items())]
    problems = Problems(found, {"schema": 20_000} | dict.fromkeys(CODES, 1))
    assert list(problems) == found
    assert [p.severity for p in problems[2:4]] == ["error", "error"]
    assert {p.code for p in problems.errors} == {code for code, severity in CODES.items() if severity == "error"}
    assert len(problems.errors) + len(problems.warnings) == len(problems) == len(CODES)
    assert not problems.ok
    assert Problems(problems.warnings, {}).ok
    assert problems.to_pandas().code.tolist() == [*CODES]
    assert Problems([], {}).to_pandas().empty


def test_problems_are_saved_as_the_command_line_prints_them(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text(
        '[{"annotationSource": {"resourceSource": {"name": "101-01"}}, "textDateAnnotations": [{}], "x": 1}]'
    )
    from memory_inputs.memory_scoring import problems

    told = sandscore("validate", "date", wrong, "--notes", NOTES, "--format", "json")
    problems("date", predictions=wrong, notes=NOTES).save(tmp_path / "problems.json")
    assert (tmp_path / "problems.json").read_text() == told.out


def run_of(predictions: bytes | None, **changes: Any) -> Run:
    facts: dict[str, Any] = {
        "sandscore": "0.1.0",
        "task": "date",
        "protocol": "service",
        "kind": "command",
        "isolation": "none",
        "limits": RunLimits(),
        "concurrency": 1,
        "notes": 3,
        "notes_sha256": "0",
        "outcome": Outcome.CRASHED,
    }
    return Run(predictions, RunRecord(**facts | changes))


def test_a_run_without_predictions_has_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="it ended as crashed"):
        run_of(None).save(tmp_path / "out.json")
    run_of(b"[]").save(tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == b"[]"


def test_a_board(tmp_path: Path) -> None:
    cards = [card_content(name, drawn_rows(0.8, 20, seed)) for seed, name in enumerate("ab")]
    for card in cards:
        (tmp_path / f"{card['submission']}.json").write_text(json.dumps(card))
    board = rank([as_entry(card) for card in cards])
    ranked = RankedBoard(board)
    ranked.save(tmp_path / "board.json")
    assert json.loads((tmp_path / "board.json").read_text()) == ranked.to_dict()
    assert ranked.to_pandas().submission.tolist() == [row.submission for row in board.rows]
    assert sandscore("verify", tmp_path / "board.json").code == 0
    assert len(ranked) == 2


VIEWS: dict[str, Callable[[str], Any]] = {
    "result": lambda name: drawn(name, team=name, warnings=[name]),
    "measure": lambda name: drawn(name)["instance_strict"],
    "problems": lambda name: Problems([Problem("schema", "error", f"/{name}", name, name)] * 30, {"schema": 40}),
    "comparison": lambda name: compare(labelled(name, 3), labelled(f"{name}2", 9)),
    "board": lambda name: RankedBoard(rank([as_entry(card_content(name, drawn_rows(0.8, 20, 1)))])),
    "run": lambda name: run_of(b"[]", reason=name, warnings=(name,)),
}


def labelled(name: str, tp: int) -> Result:
    per_label = {label: {"instance_strict": {"tp": tp, "fp": 1, "fn": 9 - tp}} for label in (name, "YYYY")}
    return drawn(name, tp / 10, tp, per_label=per_label)


class Tags(HTMLParser):
    """Open tags are closed, in order; remembers which there were, and their text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.attributes: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def as_page(value: ShownValue) -> str:
    """As a notebook shows it."""
    page = value._repr_html_()
    assert page is not None
    return page


ALLOWED = {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "svg", "line", "span"}


@pytest.mark.parametrize("what", VIEWS)
@pytest.mark.parametrize("name", ["plain", HOSTILE, "漢" * 100, "a " * 200, "é" * 150])
def test_looks(what: str, name: str) -> None:
    value = VIEWS[what](name)
    for line in repr(value).split("\n"):
        assert width(line) <= 80, line
        assert line.isprintable()
    page = Tags(as_page(value))
    assert page.seen <= ALLOWED
    assert page.open == []
    assert not [name for name in page.attributes if name.startswith("on") or name in {"href", "src"}]
    assert "\x1b" not in as_page(value)
    assert "\u202e" not in as_page(value)


def test_a_notebook_keeps_its_own_colours() -> None:
    page = as_page(drawn("plain"))
    assert "currentColor" in page
    assert not re.search(r"background|#[0-9a-f]{3}|(?<!current)color\s*:", page, re.IGNORECASE)


def test_a_bar_stands_where_its_interval_is() -> None:
    result = drawn("plain")
    assert result.interval is not None
    low, high = (f'{round(end * 120, 2)}"' for end in result.interval)
    assert f'<line x1="{low}' in as_page(result)
    assert f'x2="{high}' in as_page(result)


def test_looking_at_many_patients_computes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    many = drawn("many")
    monkeypatch.setattr("sandscore.api.results.QUICK_UNITS", 11)
    assert "12 patients: intervals are computed when asked for" in repr(many)
    assert many._intervals == {}
    assert many.interval is not None


@settings(max_examples=up_to(100))
@given(name=st.text(min_size=1, max_size=40), number=st.integers(0, 1 << 40))
def test_no_name_breaks_a_table(name: str, number: int) -> None:
    card = as_entry(card_content("x", [(number, 3, 2)])).card.model_copy(
        update={"submission": name, "warnings": [name]}
    )
    result = Result(card, Problems([], {}), [name])
    assert all(width(line) <= 80 and line.isprintable() for line in repr(result).split("\n"))
    assert Tags(as_page(result)).open == []


def test_a_profile_s_card_is_a_result_too() -> None:
    card = Scorecard.model_validate(card_content("x", {"strict": [(1, 2, 3)], "soft": [(0, 1, 0)]}))
    result = Result(card, Problems([], {}))
    assert result["strict"].interval is not None
    assert "strict" in repr(result)
    with pytest.raises(UsageFault, match="no measure 'instance_strict'; it has strict, soft"):
        assert result.f1

"""The table of who sees what, and when: made from the gate itself, and held against both guides."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ranking_cards import entry

from sandscore.challenges.challenge_reading import parse_challenge
from sandscore.disclosure.gate import release
from sandscore.disclosure.outcome_views import ReasonItem, ScoreItem
from sandscore.disclosure.policy_choice import policy_for
from sandscore.disclosure.problem_view import ProblemsItem
from sandscore.disclosure.released import Item
from sandscore.disclosure.run_views import IdentifierItem, LogItem, TimingItem, ToolItem
from sandscore.records.diagnosis import Diagnosis
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.problem import Problem
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.released_view import Audience

DOCS = Path(__file__).resolve().parents[2] / "docs"
CASES = {
    "notes and gold hidden": "",
    "hidden, phase ended": "",
    "notes with the teams": 'notes = "teams"\n',
    "all public": 'notes = "public"\ngold = "public"\n',
}
PROBLEMS = [Problem("text-mismatch", "error", "/0", "n1", "'x' does not stand there")]
CARD = entry("one", [(300, 10, 0), (200, 0, 21)])


def policy(case: str) -> DisclosurePolicy:
    ended = "true" if "ended" in case else "false"
    rules = f'challenge = "c"\n[data]\n{CASES[case]}[[phases]]\nname = "final"\nended = {ended}\n'
    return policy_for(parse_challenge(rules.encode(), "challenge.toml"), "date", "final")


def seen(item: Item[object], case: str, audience: Audience = Audience.TEAM) -> object:
    return release(item, audience, policy(case)).view


def log(case: str, *, rehearsal: bool = False, before_notes: bool = False) -> str:
    item = LogItem(text="printed", rehearsal=rehearsal, before_notes=before_notes)
    return "all of it" if seen(item, case) else "nothing"


def problems(case: str) -> str:
    found = release(ProblemsItem(problems=PROBLEMS, counts={"text-mismatch": 37}), Audience.TEAM, policy(case)).view
    return "each, with place and value" if found.problems else "codes, about how many"


def reason(case: str) -> str:
    item = ReasonItem(sentence="note n1: …", outcome="crashed", stage="notes", image=True)
    return "the whole sentence" if seen(item, case) == "note n1: …" else "outcome, stage, one code"


def score(case: str) -> str:
    told = release(ScoreItem(card=CARD, rules=BoardRules()), Audience.TEAM, policy(case)).view
    if "feedback" in told:
        return str(told["feedback"])
    return "exact" if "details" in told else "exact totals"


def shown(item: Item[object], case: str, audience: Audience) -> str:
    return "nothing" if seen(item, case, audience) is None else "all of it"


ROWS: dict[str, Callable[[str], str]] = {
    "your team: log of the rehearsal": lambda case: log(case, rehearsal=True),
    "your team: log up to the first note": lambda case: log(case, before_notes=True),
    "your team: log from the first note on": log,
    "your team: why an image is INVALID": reason,
    "your team: problems of predictions": problems,
    'your team: score (feedback = "full")': score,
    "your team: seconds a run took": lambda case: shown(TimingItem(seconds=7.0), case, Audience.TEAM),
    "everybody: ids of notes and patients": lambda case: shown(IdentifierItem(identifier="n1"), case, Audience.PUBLIC),
    "everybody: what a tool says of itself": lambda case: shown(ToolItem(value="mine"), case, Audience.PUBLIC),
}


def table() -> str:
    head = ["", *CASES]
    rows = [[what, *(row(case) for case in CASES)] for what, row in ROWS.items()]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line).replace("|  |", "| |") + " |" for line in lines).replace("|  |", "| |")


@pytest.mark.parametrize("page", ["organisers.md", "participants.md"])
def test_the_guides_have_the_table_that_the_gate_keeps(page: str) -> None:
    assert table() in (DOCS / page).read_text(encoding="utf-8"), table()


def test_the_table_tells_cases_apart() -> None:
    """By hand, from the defaults: what is hidden is hidden, and public data hide nothing."""
    assert [log(case) for case in CASES] == ["nothing", "nothing", "all of it", "all of it"]
    assert [score(case) for case in CASES] == ["rounded", "exact totals", "rounded", "exact"]


def test_of_causes_on_hidden_notes_those_of_the_file_alone_are_told() -> None:
    """What stands where if offsets are moved says what hidden notes hold; that confidences are fractions does not."""
    diagnosis = [
        Diagnosis("shift", "file", 412, 412, True, -1),
        Diagnosis("bom", "file", 7, 7, True),
        Diagnosis("confidence-scale", "file", 412, 413, True),
        Diagnosis("labels", "file", 3, 412, False),
    ]
    item = ProblemsItem(problems=PROBLEMS, counts={"text-mismatch": 412}, diagnosis=diagnosis)
    assert release(item, Audience.TEAM, policy("all public")).view.diagnosis == diagnosis
    assert release(item, Audience.TEAM, policy("notes with the teams")).view.diagnosis == diagnosis
    hidden = release(item, Audience.TEAM, policy("notes and gold hidden"))
    assert hidden.view.diagnosis == [
        Diagnosis("confidence-scale", "file", 500, 500, True), Diagnosis("labels", "file", 2, 500, False)
    ]  # fmt: skip
    silent = release(
        ProblemsItem(problems=PROBLEMS, counts={"text-mismatch": 412}), Audience.TEAM, policy("notes and gold hidden")
    )
    assert hidden.line.bits > silent.line.bits


def test_the_reason_on_hidden_notes_has_codes_about_how_often_and_no_missing_note() -> None:
    """37 is nearer to 50 than to 20; that notes are missed, and how often a text does not fit, is told of none."""
    counts = {"schema": 37, "text-mismatch": 5, "missing-note": 12}
    told = seen(ReasonItem(sentence="note n1: …", counts=counts), "notes and gold hidden")
    assert told == "the submission is not valid: does-not-fit-notes, schema 50"

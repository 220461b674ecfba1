"""challenge.toml: what it may say, and faults that name their line."""

from typing import Any

import pytest

from sandscore.base.bundled_content import example_gold
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.challenges.challenge_reading import parse_challenge, read_challenge, rules_for
from sandscore.measures.measure_registry import MEASURES
from sandscore.measures.measure_syntax import parse
from sandscore.task_table.task import TASKS

GOOD = """\
challenge = "our challenge"
headline = "instance_strict"
secondary = ["token"]
tie_rule = "dream_k3"
numbering = "dense"

[quota]
day = 5

[limits]
memory = "2g"
time_limit = 3600

[publication]
columns = ["rank", "team"]

[tasks.date]
headline = "date_format"

[[phases]]
name = "open"
feedback = "ladder"

[[phases]]
name = "final"
tie_rule = "holm"
ended = true

[phases.quota]
total = 1
"""


def test_a_whole_challenge() -> None:
    challenge = parse_challenge(GOOD.encode(), "challenge.toml")
    assert (challenge.quota.day, challenge.phases[1].quota and challenge.phases[1].quota.total) == (5, 1)
    assert challenge.limits.memory == "2g"


@pytest.mark.parametrize(
    ("task", "phase", "expected"),
    [
        ("date", "open", {"headline": "date_format", "feedback": "ladder", "tie_rule": "dream_k3", "ended": False}),
        ("address", "final", {"headline": "instance_strict", "feedback": "full", "tie_rule": "holm", "ended": True}),
    ],
)
def test_phase_beats_task_beats_challenge(task: str, phase: str, expected: dict[str, Any]) -> None:
    rules, name = rules_for(parse_challenge(GOOD.encode(), "challenge.toml"), task, phase)
    assert name == phase
    assert {key: getattr(rules, key) for key in expected} == expected
    assert (rules.challenge, rules.numbering, rules.secondary) == ("our challenge", "dense", ("token",))


def test_the_only_phase_need_not_be_named() -> None:
    challenge = parse_challenge(b'challenge = "c"\n[[phases]]\nname = "only"\n', "c.toml")
    assert rules_for(challenge, "date", None)[1] == "only"


@pytest.mark.parametrize("phase", [None, "third"])
def test_a_phase_must_be_chosen_among_several(phase: str | None) -> None:
    with pytest.raises(UsageFault, match="open, final"):
        rules_for(parse_challenge(GOOD.encode(), "challenge.toml"), "date", phase)


@pytest.mark.parametrize(
    ("found", "instead", "said"),
    [
        ('tie_rule = "dream_k3"', 'tie_rule = "coin"', "line 4: /tie_rule: .*'holm'.*found 'coin'"),
        ('numbering = "dense"', 'nubmering = "dense"', "line 5: /nubmering: unknown key"),
        ("day = 5", "day = -1", "line 8: /quota/day: .*found -1"),
        ("day = 5", 'day = "five"', "line 8: /quota/day: .*found 'five'"),
        ('memory = "2g"', 'memory = "lots"', "line 11: /limits/memory: "),
        ('feedback = "ladder"', 'feedback = "none"', "line 22: /phases/0/feedback: "),
        ("total = 1", "total = 1.5", "line 30: /phases/1/quota/total: "),
        ('name = "final"', 'title = "final"', "line 24: /phases/1/name: is missing"),
        ('name = "final"', 'name = "open"', "line 1: two phases are called 'open'"),
        ('headline = "date_format"', "headline = date_format", "line 18"),
        ('challenge = "our challenge"', "", "line 1: /challenge: is missing"),
        ("[tasks.date]", "[tasks.dates]", "line 17: unknown task 'dates'; the tasks are date, "),
        ('tie_rule = "dream_k3"', 'aggregation = "borda"', "needs the table 'measures'"),
    ],
    ids=lambda value: value[:30],
)
def test_faults_name_the_line(found: str, instead: str, said: str) -> None:
    assert found in GOOD
    with pytest.raises(OrganiserFault, match=said) as refused:
        parse_challenge(GOOD.replace(found, instead, 1).encode(), "challenge.toml")
    assert "challenge.toml" in str(refused.value)


def test_all_faults_at_once_in_the_order_of_the_file() -> None:
    broken = GOOD.replace("day = 5", "day = -5").replace('"dense"', '"odd"').replace("total = 1", "total = -1")
    with pytest.raises(OrganiserFault) as refused:
        parse_challenge(broken.encode(), "challenge.toml")
    lines = [int(line.split("line ")[1].split(":")[0]) for line in str(refused.value).splitlines()]
    assert lines == [5, 8, 30]


def test_not_utf_8() -> None:
    with pytest.raises(OrganiserFault, match="line 2: not UTF-8"):
        parse_challenge(b'challenge = "x"\ntitle = "\xff"', "challenge.toml")


def test_rules_that_contradict_only_together() -> None:
    text = 'challenge = "c"\n[[phases]]\nname = "p"\naggregation = "borda"\n'
    with pytest.raises(OrganiserFault, match=r"phase 'p'.*needs the table 'measures'"):
        rules_for(parse_challenge(text.encode(), "c.toml"), "date", "p")


@pytest.mark.parametrize("task", ["date", "person-name", "address"])
def test_the_example_challenge_can_be_ranked(task: str) -> None:
    """Its tie-breakers are measures of the task."""
    challenge = read_challenge(example_gold() / "challenge.toml")
    rules, phase = rules_for(challenge, task, None)
    assert phase == "final"
    assert set(rules.tie_break) <= set(TASKS[task].measures)


@pytest.mark.parametrize("name", sorted({name for task in TASKS.values() for name in task.measures}))
def test_whatever_a_task_is_measured_by_can_rank(name: str) -> None:
    """So reading a challenge need not look at the measure itself."""
    measure = parse(name, MEASURES.find)
    row = MEASURES.find(name)
    assert str(measure) == name
    assert row.formula_for(row.settle(measure)) is not None

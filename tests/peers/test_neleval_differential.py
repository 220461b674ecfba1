"""The profile ``neleval`` beside the installed neleval 3.1.1 on random corpora, in five groupings: every bit."""

import random
from typing import Any

import pytest
from peers.mentions import evaluate
from peers.originals import answers_of

from sandscore.profiles.neleval import neleval_profile

pytestmark = pytest.mark.peer

GROUPS = {
    "none": None,
    "doc": ["docid"],
    "type": ["type"],
    "doc+type": ["docid", "type"],
    "type+doc": ["type", "docid"],
}
THEIRS = {"precis": "precision"}
Mentions = list[dict[str, Any]]


def mention(rng: random.Random, room: int) -> dict[str, Any]:
    start = rng.randrange(room)
    return {"doc": f"d{rng.randrange(4)}", "start": start, "end_inclusive": start + rng.randrange(8)} | {
        "type": rng.choice("ABC")
    }


def tidy(mentions: Mentions) -> Mentions:
    """Without those that overlap one before them."""
    kept: Mentions = []
    for one in sorted(mentions, key=lambda m: (m["doc"], m["start"])):
        if not kept or kept[-1]["doc"] != one["doc"] or kept[-1]["end_inclusive"] < one["start"]:
            kept.append(one)
    return kept


def corpora() -> list[tuple[Mentions, Mentions]]:
    rng = random.Random(20261118)
    found = []
    for number in range(60):
        room = rng.choice((10, 40, 300))
        gold = [mention(rng, room) for _ in range(rng.randrange(25))]
        near = [one | {"start": max(0, one["start"] - rng.choice((0, 0, 1)))} for one in gold if rng.random() < 0.7]
        sides = gold, [*near, *(mention(rng, room) for _ in range(rng.randrange(8)))]
        found.append((tidy(sides[0]), tidy(sides[1])) if number % 2 else sides)
    return found


def ragged_corpora() -> list[tuple[Mentions, Mentions]]:
    """Some of a hundred documents on either side, in an order of its own; most mentions are found in part."""
    rng = random.Random(7)
    return [(ragged(rng), ragged(rng)) for _ in range(6)]


def ragged(rng: random.Random) -> Mentions:
    named = [f"d{number}" for number in range(100) if rng.random() < 0.8]
    rng.shuffle(named)
    return [mention(rng, 10) | {"doc": name} for name in named for _ in range(rng.randrange(1, 12))]


def lines(mentions: Mentions) -> list[str]:
    return [f"{m['doc']}\t{m['start']}\t{m['end_inclusive']}\tNIL\t1.0\t{m['type']}" for m in mentions]


CORPORA = [*corpora(), *ragged_corpora()]


@pytest.fixture(scope="module")
def answers() -> dict[str, list[dict[str, Any]]]:
    measures = list(evaluate(neleval_profile.NelevalScorer, [], []).details["rows"])
    sides: list[dict[str, Any]] = [{"gold": lines(gold), "predictions": lines(found)} for gold, found in CORPORA]
    cases = [case | {"measures": measures, "by": fields} for fields in GROUPS.values() for case in sides]
    found = answers_of("neleval", "neleval_original.py", cases)
    return {by: found[i * len(sides) : (i + 1) * len(sides)] for i, by in enumerate(GROUPS)}


@pytest.mark.parametrize("by", GROUPS)
def test_every_row_is_nelevals(by: str, answers: dict[str, list[dict[str, Any]]]) -> None:
    assert any(answer["rows"] for answer in answers[by])
    for (gold, predictions), answer in zip(CORPORA, answers[by], strict=True):
        rows = evaluate(neleval_profile.NelevalScorer, gold, predictions, by=by).details["rows"]
        ours = {name: as_answered(row) for name, row in rows.items()}
        assert ours == answer["rows"]


def by_name(side: Mentions) -> Mentions:
    return sorted(side, key=lambda m: str(m["doc"]))


def test_the_order_of_documents_is_in_the_last_bits() -> None:
    """So that the ragged corpora above can tell a wrong order from a right one."""
    differing = set()
    for gold, predictions in ragged_corpora():
        here = evaluate(neleval_profile.NelevalScorer, gold, predictions, by="type").details["rows"]
        there = evaluate(neleval_profile.NelevalScorer, by_name(gold), by_name(predictions), by="type").details["rows"]
        assert {name: pytest.approx(row) for name, row in there.items()} == here
        differing |= {name.partition("=")[2] for name in here if here[name] != there[name]}
    assert {"<macro>", "<micro>"} <= differing


def as_answered(row: dict[str, Any]) -> dict[str, Any]:
    """The average of no group is a row without columns."""
    return {THEIRS.get(column, column): value for column, value in row.items() if value is not None}

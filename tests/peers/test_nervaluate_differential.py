"""The profile ``semeval`` beside the installed nervaluate on random corpora: every number, index and report."""

import random
from typing import Any

import pytest
from nervaluate.evaluator import Evaluator
from peers.mentions import evaluate, spans

from sandscore.profiles.semeval import semeval_profile

pytestmark = pytest.mark.peer

KINDS = ("correct", "incorrect", "partial", "missed", "spurious")
NUMBERS = (*KINDS, "precision", "recall", "f1", "actual", "possible")
SCENARIOS = ("strict", "exact", "partial", "ent_type")

Corpus = tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("least", [1.0, 33.3, 100.0])
def test_every_number_is_nervaluates(seed: int, least: float) -> None:
    _same(*_corpus(seed), least)


@pytest.mark.parametrize(
    ("shift", "stretch"),
    [
        pytest.param(2**62, 1, id="offsets beyond machine integers"),
        pytest.param(-(2**59), 2**57, id="notes longer than machine integers laid end to end"),
        pytest.param(-500, 1, id="before the note"),
    ],
)
def test_odd_offsets_count_as_in_nervaluate(shift: int, stretch: int) -> None:
    gold, predictions, order = _corpus(7)
    for mention in (*gold, *predictions):
        mention["start"] = mention["start"] * stretch + shift
        mention["end_inclusive"] = mention["end_inclusive"] * stretch + shift
    _same(gold, predictions, order)


def test_a_note_where_everything_overlaps_counts_as_in_nervaluate() -> None:
    rng = random.Random(3)
    gold, predictions = ([_mention(rng, "n0", 200) for _ in range(150)] for _ in range(2))
    gold[0] |= {"start": 0, "end_inclusive": 300}
    _same(gold, predictions, ["n0"])


def test_mentions_that_end_before_they_start_count_as_in_nervaluate() -> None:
    gold = [*spans((5, 3, "A"), (9, 7, "B"), (20, 25, "A")), *spans((4, 2, "A"), doc="e")]
    predictions = [*spans((1, 10, "A"), (9, 7, "A"), (20, 25, "A")), *spans((4, 2, "A"), doc="e")]
    _same(gold, predictions, ["d", "e"])


def test_it_stops_where_nervaluate_stops() -> None:
    gold, predictions = spans((5, 4, "A")), spans((1, 10, "A"))
    with pytest.raises(ZeroDivisionError) as death:
        _original(gold, predictions, ["d"], 1.0).evaluate()
    result = evaluate(semeval_profile.NervaluateScorer, gold, predictions)
    assert result.details["error"] == f"ZeroDivisionError: {death.value}"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_reports_per_type_are_nervaluates(scenario: str) -> None:
    gold, predictions, order = _corpus(99)
    result = evaluate(semeval_profile.NervaluateScorer, gold, predictions, order, scenario=scenario)
    report = _original(gold, predictions, order, 1.0).summary_report(mode="entities", scenario=scenario)
    assert result.table == report


def _same(gold: list[dict[str, Any]], predictions: list[dict[str, Any]], order: list[str], least: float = 1.0) -> None:
    result = evaluate(semeval_profile.NervaluateScorer, gold, predictions, order, min_overlap_percentage=least)
    original = _original(gold, predictions, order, least)
    theirs = original.evaluate()
    for schema in SCENARIOS:
        assert {n: result.measures[schema][n] for n in NUMBERS} == _numbers(theirs["overall"][schema])
        assert result.details["overall_indices"][schema] == vars(theirs["overall_indices"][schema])
        for label, row in result.details["entities"].items():
            assert row[schema] == _numbers(theirs["entities"][label][schema])
    assert result.details["entities"].keys() == theirs["entities"].keys()
    assert result.table == original.summary_report()


def _numbers(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in NUMBERS}


def _corpus(seed: int) -> Corpus:
    """Fifty documents, from tidy to tangled: nested, crossing, repeated, touching and mislabelled mentions."""
    rng = random.Random(seed)
    order = [f"n{number}" for number in range(50)]
    gold, predictions = [], []
    for docid in order:
        room = rng.choice((6, 30, 300))
        true = [_mention(rng, docid, room) for _ in range(rng.randrange(9))]
        near = [_moved(rng, mention) for mention in true if rng.random() < 0.8]
        guessed = near + [_mention(rng, docid, room) for _ in range(rng.randrange(4))]
        rng.shuffle(guessed)
        gold += true
        predictions += guessed
    return gold, predictions, order


def _mention(rng: random.Random, docid: str, room: int) -> dict[str, Any]:
    start = rng.randrange(room)
    end = start + rng.randrange(1 + room // 3)
    return {"doc": docid, "start": start, "end_inclusive": end, "type": rng.choice("ABC")}


def _moved(rng: random.Random, mention: dict[str, Any]) -> dict[str, Any]:
    start = mention["start"] + rng.choice((0, 0, 0, 1, 2))
    end = max(start, mention["end_inclusive"] + rng.choice((0, 0, 0, -1, 3)))
    kind = mention["type"] if rng.random() < 0.7 else rng.choice("ABC")
    return {"doc": mention["doc"], "start": start, "end_inclusive": end, "type": kind}


def _original(
    gold: list[dict[str, Any]], predictions: list[dict[str, Any]], order: list[str], least: float
) -> Evaluator:
    true, found = (
        [
            [{"label": m["type"], "start": m["start"], "end": m["end_inclusive"]} for m in side if m["doc"] == docid]
            for docid in order
        ]
        for side in (gold, predictions)
    )
    return Evaluator(true, found, tags=["A", "B", "C"], loader="dict", min_overlap_percentage=least)

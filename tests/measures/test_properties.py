"""What must hold for every task, whatever the corpus."""

import random
from typing import Any

import pytest
from corpora import corpora
from example_numbers import up_to
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scoring_helpers import card_of, counts

from sandscore.records.scorecard import Scorecard
from sandscore.task_table.task import TASKS, Task

SLOWLY = settings(max_examples=up_to(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
EVERY_TASK = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def with_predictions(notes: list[dict[str, Any]], predictions: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [n | {"predictions": p} for n, p in zip(notes, predictions, strict=True)]


def comparable(card: Scorecard) -> dict[str, Any]:
    """All of a card but what names its files."""
    plain = card.model_dump(exclude={"signature", "per_note", "units", "problems"})
    return plain | {"per_note": dict(sorted(card.per_note.items()))}


@EVERY_TASK
@SLOWLY
@given(data=st.data())
def test_gold_against_itself_is_perfect(task: Task, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    card = card_of(task, with_predictions(notes, [n["gold"] for n in notes]))
    for score in card.measures.values():
        assert (score.fp, score.fn) == (0, 0)
        assert score.f1 in ((1.0,) if score.tp else (None,))
    assert card.note_leak in (None, 0.0)


@EVERY_TASK
@SLOWLY
@given(data=st.data())
def test_order_never_matters(task: Task, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    shuffle = random.Random(data.draw(st.integers(0, 99))).sample
    other = [
        n | {side: shuffle(n[side], len(n[side])) for side in ("gold", "predictions")}
        for n in shuffle(notes, len(notes))
    ]
    assert comparable(card_of(task, notes)) == comparable(card_of(task, other))


@EVERY_TASK
@SLOWLY
@given(data=st.data())
def test_counts_of_parts_add_up(task: Task, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    card = card_of(task, notes)
    for measure in task.measures:
        rows = [row[measure] for row in card.per_note.values()]
        assert counts(card, measure) == tuple(map(sum, zip(*rows, strict=True)))
    strict = card.measures["instance_strict"]
    assert strict.tp is not None
    assert strict.fp is not None
    assert strict.fn is not None
    assert strict.tp + strict.fp == card.predicted_annotations
    assert strict.tp + strict.fn == card.gold_annotations
    assert card.errors is not None
    assert card.errors.missed + card.errors.boundary == strict.fn
    assert card.errors.spurious + card.errors.boundary == strict.fp


@EVERY_TASK
@SLOWLY
@given(data=st.data())
def test_dropping_a_prediction_never_raises_recall(task: Task, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    assume(any(n["predictions"] for n in notes))
    fewer = [n["predictions"][1:] for n in notes]
    before, after = card_of(task, notes), card_of(task, with_predictions(notes, fewer))
    for measure in task.measures:
        assert (after.measures[measure].recall or 0) <= (before.measures[measure].recall or 0)


@EVERY_TASK
@SLOWLY
@given(data=st.data())
def test_a_copy_never_raises_precision_where_no_gold_is_left_for_it(task: Task, data: st.DataObject) -> None:
    """Predictions repeated once more than there is gold, so that a further copy finds nothing."""
    notes = data.draw(corpora(task))
    assume(any(n["predictions"] for n in notes))
    full = [n["predictions"] * (1 + len(n["gold"])) for n in notes]
    fuller = [p + n["predictions"][:1] for n, p in zip(notes, full, strict=True)]
    before, after = card_of(task, with_predictions(notes, full)), card_of(task, with_predictions(notes, fuller))
    for measure in task.measures:
        if measure != "instance_relax":
            assert after.measures[measure].tp == before.measures[measure].tp
        assert (after.measures[measure].precision or 0) <= (before.measures[measure].precision or 0)


@EVERY_TASK
def test_nothing_anywhere_is_undefined_not_zero(task: Task) -> None:
    card = card_of(task, [{"id": "n", "text": "x", "gold": [], "predictions": []}])
    for score in card.measures.values():
        assert (score.tp, score.fp, score.fn) == (0, 0, 0)
        assert (score.precision, score.recall, score.f1) == (None, None, None)
    assert card.note_leak is None

"""Every count of every task equals that of an independent scorer that only loops and tries (tests/slow_scorer.py)."""

import json
from typing import Any

import pytest
import slow_scorer as slow
from corpora import corpora
from example_numbers import up_to
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scoring_helpers import card_of, counts

from sandscore.base.bundled_content import hipaa_map
from sandscore.task_table.task import TASKS

PROTECTED: dict[str, bool] = json.loads(hipaa_map().read_text(encoding="utf-8"))["hipaa_phi"]
EXTRA = ("instance_relax(relax=0)", "instance_relax(relax=3)", "instance_relax(boundary=both)")
RULES = {
    "token": slow.token,
    "instance_strict": slow.strict,
    "instance_relax": slow.relax,
    "instance_relax(relax=0)": lambda g, p: slow.relax(g, p, 0),
    "instance_relax(relax=3)": lambda g, p: slow.relax(g, p, 3),
    "instance_relax(boundary=both)": slow.relax_both,
    "hipaa_phi": lambda g, p: slow.label_rule(g, p, PROTECTED.__getitem__),
    "hipaa_phi_only": lambda g, p: slow.hipaa_only(g, p, PROTECTED),
}
SLOWLY = settings(max_examples=up_to(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


def rule(measure: str) -> Any:
    return RULES.get(measure, slow.label_rule)


@pytest.mark.parametrize("with_notes", [True, False], ids=["with notes", "without notes"])
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@SLOWLY
@given(data=st.data())
def test_counts_per_note_and_in_all(task: Any, with_notes: bool, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    card = card_of(task, notes, EXTRA, with_notes=with_notes)
    for measure in (*task.measures, *EXTRA):
        expected = {n["id"]: rule(measure)(n["gold"], n["predictions"]) for n in notes}
        assert {note: row[measure] for note, row in card.per_note.items()} == expected
        assert counts(card, measure) == tuple(map(sum, zip(*expected.values(), strict=True)))


@pytest.mark.parametrize("task", [t for t in TASKS.values() if t.label], ids=lambda t: t.id)
@SLOWLY
@given(data=st.data())
def test_counts_per_label(task: Any, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    card = card_of(task, notes, EXTRA)
    used = {a["label"] for n in notes for side in ("gold", "predictions") for a in n[side]} - {None}
    assert set(card.per_label) == used
    for label in used:
        assert set(card.per_label[label]) == {*task.measures, *EXTRA} - {"hipaa_phi", "hipaa_phi_only"}
        for measure, found in card.per_label[label].items():
            rows = [rule(measure)(slow.only(n["gold"], label), slow.only(n["predictions"], label)) for n in notes]
            assert found == dict(zip(("tp", "fp", "fn"), map(sum, zip(*rows, strict=True)), strict=True))


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@SLOWLY
@given(data=st.data())
def test_kinds_of_error_and_leaks(task: Any, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    card = card_of(task, notes)
    boundary = sum(slow.boundary(n["gold"], n["predictions"]) for n in notes)
    rows = [slow.strict(n["gold"], n["predictions"]) for n in notes]
    wrong = sum(slow.differing(n["gold"], n["predictions"]) for n in notes) if task.label else 0
    assert card.errors is not None
    assert card.errors.model_dump() == {
        "missed": sum(r[2] for r in rows) - boundary,
        "spurious": sum(r[1] for r in rows) - boundary,
        "boundary": boundary,
        "wrong_label": wrong,
    }
    with_gold = [n for n in notes if n["gold"]]
    leaking = [n for n in with_gold if slow.leaks(n["gold"], n["predictions"])]
    assert card.note_leak == (len(leaking) / len(with_gold) if with_gold else None)


@pytest.mark.parametrize("task", [TASKS["date"], TASKS["person-name"]], ids=lambda t: t.id)
@SLOWLY
@given(data=st.data())
def test_confidence_curve(task: Any, data: st.DataObject) -> None:
    """Average precision by its definition: Σ (R(c) − R(previous)) P(c), c descending."""
    notes = data.draw(corpora(task))
    curve = card_of(task, notes).confidence
    gold = sum(len(n["gold"]) for n in notes)
    assert curve is not None
    if not gold:
        assert curve.average_precision is None
        return
    levels = sorted({a["confidence"] for n in notes for a in n["predictions"]}, reverse=True)
    rows, area, before = [], 0.0, 0.0
    for level in levels:
        kept = [slow.strict(n["gold"], [a for a in n["predictions"] if a["confidence"] >= level]) for n in notes]
        tp, fp, _ = map(sum, zip(*kept, strict=True))
        rows.append((level, tp / (tp + fp), tp / gold))
        area += (tp / gold - before) * tp / (tp + fp)
        before = tp / gold
    assert curve.curve == rows
    assert curve.average_precision == pytest.approx(area, abs=1e-12)
    f1 = [2 * p * r / (p + r) if p + r else 0.0 for _, p, r in rows]
    best = [level for level, value in zip(levels, f1, strict=True) if value == pytest.approx(max(f1), abs=1e-12)]
    assert curve.best_threshold == (best[0] if best else None)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@SLOWLY
@given(data=st.data())
def test_macro_means(task: Any, data: st.DataObject) -> None:
    notes = data.draw(corpora(task))
    card = card_of(task, notes)
    for measure in task.measures:
        if card.measures[measure].reason:
            continue
        rows = [row[measure] for row in card.per_note.values()]
        recalls = [tp / (tp + fn) for tp, _, fn in rows if tp + fn]
        macro = card.measures[measure].macro
        assert macro is not None
        assert macro.notes.recall == len(recalls)
        assert macro.recall == (pytest.approx(sum(recalls) / len(recalls)) if recalls else None)

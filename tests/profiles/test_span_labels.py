"""The profile on notes: measures, parameters, and the input the original has no answer for."""

from typing import Any

import pytest

from sandscore.base.errors import UsageFault
from sandscore.measures.measure_syntax import parse
from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.profiles.profile_registry import PROFILES
from sandscore.profiles.span_labels import span_labels_profile
from sandscore.task_table.task import TASKS


def scored(gold: list[Any], predictions: list[Any], written: str = "span-labels") -> ProfileResult:
    source = {"annotationSource": {"resourceSource": {"name": "a/Note/n1"}}}
    sides = [[source | {"textAnnotations": side}] for side in (gold, predictions)]
    settings = span_labels_profile.SpanLabelsScorer.settle(parse(written, PROFILES.find, "profile"))
    return span_labels_profile.evaluate(ProfileInput(TASKS["phi"], None, sides[0], sides[1]), settings)


def span(start: int, end: int, kind: str = "P") -> dict[str, Any]:
    return {"start": start, "length": end - start, "text": "x" * (end - start), "type": kind}


# gold        |0   10|P   |20  30|P  |40  50|P            |80 90|P
# predicted   |0   10|P   |20 26|P   |40 47|Q  |60 65|P
#              strict      exact      partial   spurious   miss
GOLD = [span(0, 10), span(20, 30), span(40, 50), span(80, 90)]
PREDICTED = [span(0, 10), span(20, 26), span(40, 47, "Q"), span(60, 65)]


def test_three_levels() -> None:
    measures = scored(GOLD, PREDICTED).measures
    assert measures["strict"] == {"tp": 1, "fp": 3, "fn": 3, "precision": 0.25, "recall": 0.25}
    assert measures["flexible"] == {"tp": 2, "fp": 2, "fn": 2, "precision": 0.5, "recall": 0.5}
    assert measures["partial"] == {"precision": 0.625, "recall": 0.625}


def test_counts_per_note_add_up() -> None:
    assert scored(GOLD, PREDICTED).per_note == {"n1": {"strict": (1, 3, 3), "flexible": (2, 2, 2)}}


def test_the_threshold_moves_the_border_to_incorrect() -> None:
    counts = scored(GOLD, PREDICTED, "span-labels(overlap_threshold=0.65)").details["global"]
    assert [counts[name] for name in ("exact", "partial", "incorrect")] == [0, 1, 1]


def test_types_that_are_not_picked_are_not_there() -> None:
    result = scored(GOLD, PREDICTED, "span-labels(entities=Q)")
    assert result.details["global"]["spurious"] == 1
    assert list(result.details["per_type"]) == ["Q"]


def test_nothing_is_zero_and_not_undefined() -> None:
    assert scored([], []).measures["partial"] == {"precision": 0, "recall": 0}


def test_no_answer_where_the_original_has_none() -> None:
    with pytest.raises(UsageFault, match="above 0"):
        scored([span(0, 5)], [span(6, 9)], "span-labels(overlap_threshold=0)")


def test_a_gold_span_counted_twice_is_named() -> None:
    result = scored([span(0, 10)], [span(0, 5), span(5, 10)])
    assert "divides by 2 where there are 1 gold annotations" in result.warnings[0]


def test_the_table_has_a_row_for_every_type() -> None:
    lines = scored(GOLD, PREDICTED).table.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["type", "global", "P", "Q"]

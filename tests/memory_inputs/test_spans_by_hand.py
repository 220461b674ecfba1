"""Spans of a dict each: what is read, and what is said about it."""

from collections.abc import Mapping
from typing import Any

import pytest
from struct_values import changeable

from sandscore.base.errors import ParticipantFault
from sandscore.memory_inputs.span_reading import SpanReader
from sandscore.task_table.task import find_task

TEXT = "Seen 3/14 by John Smith."
DATE = {"start": 5, "length": 4}


def read(*spans: Mapping[str, Any], task: str = "date") -> tuple[list[dict[str, Any]], list[str]]:
    reader = SpanReader.of(find_task(task), "predictions")
    return reader.annotations(spans, "n1", TEXT, texts=True), reader.remarks()


@pytest.mark.parametrize(
    "place", [DATE, {"start": 5, "length": 4, "end": 9}, {"start_char": 5, "end_char": 9, "start": 1}]
)
def test_a_place_in_any_of_three_ways(place: dict[str, int]) -> None:
    assert read(place) == ([{"start": 5, "length": 4, "text": "3/14"}], [])


def test_an_end_alone_is_exclusive_and_that_is_said() -> None:
    made, [said] = read({"start": 5, "end": 9})
    assert made == [{"start": 5, "length": 4, "text": "3/14"}]
    assert said == "predictions: 'length' is missing, so 'end' was taken as exclusive (1 spans)"


@pytest.mark.parametrize(
    ("place", "found"),
    [({"start": 5}, "neither 'length' nor 'end'"), ({"start": 5, "length": 4, "end": 8}, "and another end")],
)
def test_a_place_that_is_none(place: dict[str, int], found: str) -> None:
    with pytest.raises(ParticipantFault, match=found):
        read(place)


def test_fields_that_nothing_reads_are_named_and_no_others() -> None:
    told = {"word": "3/14", "index": 3, "dateFormat": "M/D", "score": 0.5, "colour": "red"}
    made, [said] = read(DATE | told)
    assert made[0]["confidence"] == 50
    assert said.startswith("predictions: fields that nothing reads: ")
    assert "colour" in said
    assert not any(
        f"{name!r}" in said or f" {name}" in said.partition("reads:")[2] for name in told.keys() - {"colour"}
    )


def test_types_that_a_task_does_not_know_are_left_out() -> None:
    made, [said] = read(DATE | {"entity_type": "DATE_TIME"}, DATE | {"entity_type": "PERSON"})
    assert len(made) == 1
    assert "1 spans of types that date does not know" in said
    with pytest.raises(ParticipantFault, match="no span has a type that date knows"):
        read(DATE | {"entity_type": "PERSON"})


def test_a_label_of_ones_own_is_kept_as_it_is() -> None:
    """``label`` is the last to be asked, and a task that has labels takes any; judging them comes later."""
    made, said = read(DATE | {"label": "M/D"}, DATE | {"label": "DATE"}, DATE | {"label": 7}, DATE | {"idType": "x"})
    assert [one.get("dateFormat") for one in made] == ["M/D", None, 7, None]
    assert said == ["predictions: fields that nothing reads: idType (1)"]
    made, [said_too] = read(DATE | {"label": "NAME"}, DATE | {"label": "M/D"}, task="person-name")
    assert len(made) == 1
    assert "M/D (1)" in said_too


@pytest.mark.parametrize(
    ("score", "told"),
    [(True, "True"), ("x", "a value of type str"), (1.1, "1.1"), (-0.5, "-0.5"), (2, "2")],
)
def test_a_score_that_is_none(score: Any, told: str) -> None:
    with pytest.raises(ParticipantFault, match=f"found {told} as 'score'; expected a number from 0 to 1"):
        read(DATE | {"score": score})


def test_scores_and_confidences() -> None:
    made, _ = read(
        *(DATE | {"score": score} for score in (0, 1, 1.0000005, 0.25)), DATE | {"score": 0.5, "confidence": 7}
    )
    assert [one["confidence"] for one in made] == [0, 100, 100, 25, 7]


def test_the_five_most_frequent_are_named() -> None:
    def fields(number: int) -> str:
        _, [said] = read(DATE | dict.fromkeys("fedcba"[-number:], 1))
        return said.partition("reads: ")[2]

    assert fields(5) == "a (1), b (1), c (1), d (1), e (1)"
    assert fields(6).endswith("(1), …")
    assert fields(6).count("(1)") == 5


def test_tokens_become_words() -> None:
    def token(kind: str, start: int, end: int, score: float, **more: Any) -> dict[str, Any]:
        return {"entity": kind, "start": start, "end": end, "score": score, "word": TEXT[start:end], **more}

    made, said = read(
        token("B-PERSON", 13, 17, 0.5, index=3), token("I-PERSON", 18, 23, 1.0, index=4),
        token("B-PERSON", 0, 4, 1.0, index=6), token("I-PERSON", 5, 9, 1.0, index=8), task="person-name",
    )  # fmt: skip
    assert [(one["start"], one["length"], one["confidence"]) for one in made] == [
        (13, 10, 75),
        (0, 4, 100),
        (5, 4, 100),
    ]
    assert "predictions: tokens marked I- or E- were joined to the token before (1 tokens)" in said
    near, _ = read(token("B-PERSON", 13, 17, 1.0), token("E-PERSON", 18, 23, 1.0), task="person-name")
    assert [one["length"] for one in near] == [10]
    far, _ = read(token("B-PERSON", 0, 4, 1.0), token("E-PERSON", 6, 9, 1.0), task="person-name")
    assert [one["length"] for one in far] == [4, 3]


def test_a_type_may_be_no_word() -> None:
    made, _ = read(DATE, DATE | {"entity_type": 7})
    assert len(made) == 1


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("memory_inputs") == {"SpanReader", "_AnnotationInput", "_Fields"}

"""Counts of a note or two, by hand: boundary errors, texts of annotations, and measures without labels."""

import json
from typing import Any

import pytest

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.base.byte_sources import NamedBytes
from sandscore.measures.challenge_measures import ChallengeMeasure, TokenMatch
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import find_task

TEXT = "abcdefghijklmnopqrstuvwxyz"


def loaded(gold: list[tuple[int, int]], predicted: list[tuple[int, int]], *, notes: bool = True) -> Loaded:
    """Spans from … up to … of the alphabet."""

    def side(spans: list[tuple[int, int]]) -> NamedBytes:
        marked = [{"start": a, "length": b - a, "text": TEXT[a:b], "confidence": 50} for a, b in spans]
        source = {"resourceSource": {"name": "x/Note/n1"}}
        record: dict[str, Any] = {"annotationSource": source, "textPersonNameAnnotations": marked}
        return NamedBytes("side", json.dumps([record]).encode())

    listed = NamedBytes("notes", json.dumps([{"identifier": "n1", "text": TEXT, "patientId": "p"}]).encode())
    return load_files(find_task("person-name"), Inputs(side(gold), side(predicted), listed if notes else None))


@pytest.mark.parametrize(
    ("gold", "predicted", "pairs"),
    [
        ([(0, 4)], [(2, 6)], 1),
        ([(0, 4)], [(4, 6)], 0),
        ([(0, 10)], [(1, 3), (4, 6)], 1),
        ([(1, 3), (4, 6)], [(0, 10)], 1),
        ([(0, 4), (5, 9)], [(3, 6), (8, 12)], 2),
        ([(0, 4), (6, 9), (20, 22)], [(3, 7), (8, 12), (20, 22)], 2),
        ([(0, 4)], [(0, 4)], 0),
        ([], [(0, 4)], 0),
    ],
)
def test_boundary_errors_are_pairs_that_overlap(
    gold: list[tuple[int, int]], predicted: list[tuple[int, int]], pairs: int
) -> None:
    errors = score(Question(find_task("person-name")), loaded(gold, predicted)).errors
    assert errors is not None
    assert errors.boundary == pairs


def test_a_measure_compares_labels_only_where_it_says_so() -> None:
    """Gold without labels leaves such a measure undefined, and no other."""
    assert not ChallengeMeasure.compares_labels
    assert not TokenMatch.compares_labels
    strict = score(Question(find_task("person-name")), loaded([(0, 4)], [(0, 4)])).measures["instance_strict"]
    assert (strict.reason, strict.f1) == (None, 1)

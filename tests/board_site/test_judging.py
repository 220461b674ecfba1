"""What became of each annotation: as the score card counts it, and as the text shows it."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.bundled_content import example_gold, submissions
from sandscore.documents.note_documents import documents_of
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.records.document import Annotation, Document
from sandscore.scoring.card_building import Question, score
from sandscore.site.submission_report import JudgedSpan, Piece, judge, pieces
from sandscore.task_table.task import find_task

ADDRESS = find_task("address")


def read(path: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["address-good", "address-weak", "date-weak", "person-name-good"])
def test_the_explorer_counts_what_the_card_counts(name: str) -> None:
    task = find_task(read(submissions() / name / "submission.json")["task"])
    gold, notes = example_gold() / f"{task.id}.json", example_gold() / "notes.json"
    predictions = submissions() / name / "predictions.json"
    loaded = load_files(task, Inputs(gold, predictions, notes))
    card = score(Question(task, (), load_hipaa_map()), loaded)
    found = Counter[str]()
    for document in documents_of(loaded):
        found += judge(document, task).errors
    assert card.errors is not None
    kinds = card.errors
    wanted = {
        "missed": kinds.missed,
        "spurious": kinds.spurious,
        "boundary": kinds.boundary,
        "label": kinds.wrong_label,
    }
    assert found == +Counter(wanted)


def test_each_kind_once() -> None:
    text = "aa bb cc dd ee"
    gold = [
        Annotation(0, 2, "aa", "city"),
        Annotation(3, 2, "bb", "zip"),
        Annotation(6, 2, "cc"),
        Annotation(9, 2, "dd"),
    ]
    predicted = [
        Annotation(0, 2, "aa", "City"),
        Annotation(3, 2, "bb", "state"),
        Annotation(6, 5, "cc dd", "room"),
        Annotation(12, 2, "ee", "zip"),
    ]
    sheet = judge(Document("n", text, tuple(gold), tuple(predicted)), ADDRESS)
    kinds = [one.kind for one in sheet.gold]
    assert kinds[:2] == ["right", "label"]
    assert sorted(kinds[2:]) == ["boundary", "missed"]
    assert [one.kind for one in sheet.predicted] == ["right", "label", "boundary", "spurious"]
    assert sheet.errors == {"label": 1, "boundary": 1, "missed": 1, "spurious": 1}
    assert [one.label for one in sheet.predicted] == ["city", "state", "room", "zip"]


def test_overlapping_annotations_show_the_one_that_begins_last() -> None:
    outer, inner = JudgedSpan(0, 6, "city", "missed"), JudgedSpan(2, 4, "zip", "right")
    assert pieces("abcdefgh", [outer, inner]) == [
        Piece("ab", "missed", None),
        Piece("cd", "right", "zip"),
        Piece("ef", "missed", "city"),
        Piece("gh", None, None),
    ]


@given(
    st.text(max_size=30),
    st.lists(st.builds(JudgedSpan, st.integers(0, 35), st.integers(0, 35), st.just("x"), st.just("right")), max_size=6),
)
def test_no_character_is_lost_or_added(text: str, annotations: list[JudgedSpan]) -> None:
    cut = pieces(text, annotations)
    assert "".join(piece.text for piece in cut) == text
    within = {i for a in annotations if a.end <= len(text) for i in range(a.start, a.end)}
    assert sum(len(piece.text) for piece in cut if piece.kind) == len(within)

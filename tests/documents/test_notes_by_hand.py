"""A note's annotations as a document and as columns, by hand: texts, labels, places, and which side is whose."""

import json

import numpy as np
import pytest

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.base.byte_sources import NamedBytes
from sandscore.documents.note_documents import annotations, documents_of, last_segment, resource_name
from sandscore.documents.note_spans import add_up, extents, named, spans_of
from sandscore.records.document import Annotation
from sandscore.task_table.task import find_task

PHI = find_task("phi")
TEXT = "abcdefghij"


def side(**spans: list[tuple[int, int]]) -> NamedBytes:
    """Entries in this order, their spans from … up to …."""
    entries = [
        {
            "annotationSource": {"resourceSource": {"name": f"x/Note/{note}"}},
            PHI.array: [{"start": a, "length": b - a, "text": TEXT[a:b], "type": "A"} for a, b in marked],
        }
        for note, marked in spans.items()
    ]
    return NamedBytes("side", json.dumps(entries).encode())


def loaded(gold: NamedBytes, predicted: NamedBytes, *, notes: bool = True) -> Loaded:
    listed = NamedBytes("notes", json.dumps([{"identifier": note, "text": TEXT} for note in "nm"]).encode())
    return load_files(PHI, Inputs(gold, predicted, listed if notes else None))


@pytest.mark.parametrize("notes", [True, False])
def test_annotations_have_their_texts_with_and_without_notes(notes: bool) -> None:
    document = documents_of(loaded(side(n=[(0, 4)]), side(n=[(2, 6), (7, 9)]), notes=notes))[0]
    assert document.text == (TEXT if notes else None)
    assert [one.text for one in document.gold] == ["abcd"]
    assert [one.text for one in document.predictions] == ["cdef", "hi"]


def test_documents_have_labels_and_confidences() -> None:
    rows = [
        {"start": 0, "length": 2, "text": "ab", "type": "A", "confidence": 7},
        {"start": 2, "length": 1, "text": "c"},
    ]
    source = {"resourceSource": {"name": "x/a"}}
    file = NamedBytes(
        "f", json.dumps([{"annotationSource": source, PHI.array: [rows[0], rows[1] | {"type": ""}]}]).encode()
    )
    notes = NamedBytes("n", json.dumps([{"identifier": "a", "text": "abc", "patientId": "p"}]).encode())
    for given in (Inputs(file, file), Inputs(file, file, notes)):
        (one,) = documents_of(load_files(PHI, given))
        assert [(a.start, a.length, a.text, a.label, a.confidence) for a in one.predictions] == [
            (0, 2, "ab", "A", 7), (2, 1, "c", None, None),
        ]  # fmt: skip
        assert one.gold == one.predictions
        assert (one.id, one.text, one.patient) == (("a", "abc", "p") if given.notes else ("a", None, None))
    record = {"annotationSource": source, PHI.array: rows}
    assert [(a.label, a.confidence) for a in annotations(record, PHI)] == [("A", 7), (None, None)]
    assert (resource_name(record), last_segment("x/y/a"), last_segment("a")) == ("x/a", "a", "a")


def test_columns_of_notes_in_order() -> None:
    """Note n has two annotations of gold and none predicted, note m one of gold and two predicted; m comes first."""
    spans = spans_of(loaded(side(m=[(3, 5)], n=[(0, 2), (6, 9)]), side(m=[(3, 5), (5, 6)])))
    assert spans.ids == ["n", "m"]
    assert spans.labels == ["A"]
    assert [spans.gold.note.tolist(), spans.gold.start.tolist(), spans.gold.end.tolist()] == [
        [0, 0, 1], [0, 6, 3], [2, 9, 5],
    ]  # fmt: skip
    assert [spans.gold.place.tolist(), spans.predictions.place.tolist()] == [[0, 1, 0], [0, 1]]
    assert [column.tolist() for column in spans.sizes] == [[2, 1], [0, 2]]
    only = np.array([False, True])
    assert spans.named(only) == ["m"]
    ((number, document),) = spans.documents(only)
    assert (number, document.id) == (1, "m")
    assert document.gold == (Annotation(3, 2, "", "A"),)
    assert extents(document.predictions) == [(3, 5), (5, 6)]


def test_components_of_several_notes() -> None:
    assert add_up([{"tp": 1, "fp": 2}, {"tp": 3}]) == {"tp": 4, "fp": 2}
    assert add_up([]) == {}


def test_notes_are_named_by_the_first() -> None:
    assert (named(["a"]), named(["a", "b"])) == ("note a", "2 notes (the first is a)")

"""Answers judged as they come, notes read, checks compared: the parts without a process."""

import json
from pathlib import Path

import pytest

from sandscore.base.errors import OrganiserFault
from sandscore.containers.annotation_run import compared, repeated, shuffled
from sandscore.containers.answers import Answers, RefusedAnswer
from sandscore.containers.batch_protocol import answers_in
from sandscore.containers.sent_notes import SentNote, read_notes
from sandscore.containers.service_protocol import Clock
from sandscore.records.run_record import RunFault, RunLimits
from sandscore.task_table.task import TASKS, find_task

#          0         1         2
#          012345678901234567890123456
NOTE = SentNote("n", "n", "Seen \U0001f637 on 10/26/2020 here.")
DATE = find_task("date")
LIMITS = RunLimits()
RIGHT = {"start": 10, "length": 10, "text": "10/26/2020"}


def judged(*annotations: object, limits: RunLimits = LIMITS) -> bytes:
    return Answers(DATE, limits).accepted(NOTE, json.dumps({"textDateAnnotations": annotations}).encode())


def test_offsets_count_characters() -> None:
    """The mask is one character, two UTF-16 units and four bytes: the date stands at 10."""
    assert json.loads(judged(RIGHT | {"confidence": 1.50, "other": None})) == [
        RIGHT | {"confidence": 1.5, "other": None}
    ]


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        pytest.param(
            RIGHT | {"start": 11}, r"/textDateAnnotations/1 .*at 11 to 21 .*text-mismatch", id="UTF-16 offset"
        ),
        pytest.param(RIGHT | {"length": 30}, r"ends at 40, past the end of the note, which has 26", id="past the end"),
        pytest.param(RIGHT | {"length": 9}, "text-mismatch", id="text longer than the span"),
        pytest.param(RIGHT | {"start": True}, "/textDateAnnotations/1/start is not", id="a truth value as offset"),
        pytest.param(RIGHT | {"length": 0}, "/textDateAnnotations/1/length is not", id="nothing long"),
        pytest.param({"start": 10}, "/textDateAnnotations/1 is not", id="keys missing"),
        pytest.param("10/26/2020", "/textDateAnnotations/1 is not", id="not an object"),
    ],
)
def test_refused(annotation: object, why: str) -> None:
    with pytest.raises(RefusedAnswer, match=why):
        judged(RIGHT, annotation)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not JSON we accept"),
        (b"[]", "not an object with the array textDateAnnotations"),
        (b'{"textPersonNameAnnotations": []}', "not an object with the array"),
        (b'{"textDateAnnotations": null}', "not an object with the array"),
        (b'{"textDateAnnotations": [], "textDateAnnotations": []}', "duplicate key"),
        (b'\xef\xbb\xbf{"textDateAnnotations": []}', "byte order mark"),
        (b'{"textDateAnnotations": [NaN]}', "NaN"),
    ],
)
def test_refused_as_a_whole(body: bytes, why: str) -> None:
    with pytest.raises(RefusedAnswer, match=why):
        Answers(DATE, LIMITS).accepted(NOTE, body)


def test_a_fault_far_down_a_long_answer_is_found() -> None:
    with pytest.raises(RefusedAnswer, match="/textDateAnnotations/1700/start"):
        judged(*[RIGHT] * 1700, RIGHT | {"start": -1}, limits=RunLimits(reply_parts=2000))


def test_more_annotations_than_any_note_has() -> None:
    """By hand: 1000 and one for each 8 of 26 characters are 1003; 1002 annotations, their list and object, 1004."""
    assert len(json.loads(judged(*[RIGHT] * 1001))) == 1001
    with pytest.raises(RefusedAnswer, match="holds 1,004 objects and lists, more than 1,003"):
        judged(*[RIGHT] * 1002)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.id)
def test_every_task_has_answers(task: object) -> None:
    answers = Answers(find_task(getattr(task, "id", "")), LIMITS)
    assert answers.accepted(NOTE, json.dumps({answers.task.array: []}).encode()) == b"[]"


def record(name: str) -> str:
    return json.dumps({"annotationSource": {"resourceSource": {"name": name}}, "textDateAnnotations": []})


A, B = SentNote("d/Note/a", "a", "x"), SentNote("d/Note/b", "b", "y")


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(f"[{record('d/Note/b')}, {record('d/Note/a')}]", id="whole names, another order"),
        pytest.param(f"[{record('a')}, {record('b')}]", id="last segments"),
        pytest.param(f"{record('a')}\n{record('b')}\n", id="JSON Lines"),
    ],
)
def test_batch_results(written: str) -> None:
    assert answers_in(written.encode(), [A, B], Answers(DATE, LIMITS)) == [b"[]", b"[]"]


def test_batch_result_of_one_note() -> None:
    assert answers_in(b'{"textDateAnnotations": []}', [A], Answers(DATE, LIMITS)) == [b"[]"]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (f"[{record('a')}, {record('d/Note/a')}]", "/1 is a second entry for d/Note/a"),
        (f"[{record('a')}]", "no entry for 1 of 2 notes, the first is d/Note/b"),
        ('[{"textDateAnnotations": []}]', "/0 does not name its note"),
        ("[1]", "/0 does not name its note"),
        (f"[{record('a')}", "predictions.json: line 1"),
        ("", "predictions.json: line 1"),
        pytest.param("[" + "1," * 30_000 + "1]", "holds 30,001 values, more than 20,000", id="very many values"),
        pytest.param(f"[{record('x' * (257 << 10))}]", "/0 is longer than any answer may be", id="an endless name"),
    ],
)
def test_batch_results_refused(written: str, why: str) -> None:
    with pytest.raises(RunFault, match=why):
        answers_in(written.encode(), [A, B], Answers(DATE, LIMITS))


@pytest.mark.parametrize(
    "written",
    [
        pytest.param('[{"identifier": "a", "text": "x"}, {"identifier": "b", "text": "y", "extra": 1}]', id="array"),
        pytest.param('{"identifier": "a", "text": "x"}\n\n{"identifier": "b", "text": "y"}\n', id="JSON Lines"),
    ],
)
def test_notes_are_read(tmp_path: Path, written: str) -> None:
    (tmp_path / "notes").write_text(written, encoding="utf-8")
    notes, digest = read_notes(tmp_path / "notes")
    assert [(note.name, note.text) for note in notes] == [("a", "x"), ("b", "y")]
    assert len(digest) == 64


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("[]", "there is no note"),
        ("nonsense", "line 1, column 1"),
        ('[{"identifier": "a"}]', "/0 is not as a note's must be"),
        ('[{"identifier": "a", "text": 1}]', "/0/text is not as a note's must be"),
        ('[{"identifier": "a", "text": ""}, {"identifier": "a", "text": ""}]', 'the note "a" is there twice'),
    ],
)
def test_notes_that_are_wrong_are_the_organisers(tmp_path: Path, written: str, why: str) -> None:
    (tmp_path / "notes").write_text(written, encoding="utf-8")
    with pytest.raises(OrganiserFault, match=why):
        read_notes(tmp_path / "notes")


def test_checks_compare_answers_whatever_their_order() -> None:
    notes = [SentNote(name, name, "") for name in "abc"]
    answers = [b'[{"x":1},{"y":2}]', b"[]", b"[]"]
    asked = shuffled(notes)
    assert sorted(n.name for n in asked) == ["a", "b", "c"]
    assert asked == shuffled(notes), "always the same other order"
    same = [b'[{"y":2},{"x":1}]' if note.name == "a" else b"[]" for note in asked]
    assert compared(notes, answers, asked, same).passed
    twice = repeated(notes, "service")
    assert [note.name for note in twice] == ["c", "c", "b", "b", "a", "a"]
    differing = compared(notes, answers, twice, [b"[1]", b"[]", b"[1]", b"[]", answers[0], answers[0]])
    assert (differing.passed, differing.note) == (False, "b"), "the first in the order of the notes"
    assert differing.detail == "2 of 3 notes were answered differently"


def test_time_that_is_up() -> None:
    with pytest.raises(RunFault, match=r"longer than the 0.5 s allowed"):
        Clock(0.5, begun=-10.0).left()

"""An input in memory scores as the same input in a file: for every task and in every form."""

import gzip
import io
import json
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from corpora import corpora, write
from example_numbers import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_inputs.memory_scoring import PresidioResult, SpacyDoc, SpacySpan, problems, scored
from profile_words import written

import sandscore
from sandscore.api.given_inputs import given as one_given
from sandscore.api.given_inputs import given_inputs
from sandscore.base.byte_sources import NamedBytes
from sandscore.base.errors import OrganiserFault, ParticipantFault, SandscoreError, UsageFault
from sandscore.profiles.profile_registry import CHALLENGE, PROFILES
from sandscore.task_table.task import TASKS, find_task

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "gold" / "example"
GOLD, NOTES = EXAMPLE / "date.json", EXAMPLE / "notes.json"
PREDICTIONS = ROOT / "submissions" / "date-good" / "predictions.json"
TEXT = "Seen 3/14 by John Smith."
NOTE = {"identifier": "n1", "text": TEXT}
TWO_NOTES = [NOTE, {"identifier": "n2", "text": "Back on 4/1."}]
DATE = {"start": 5, "length": 4, "text": "3/14", "dateFormat": "M/D"}


def rows_of(task: str, notes: list[dict[str, Any]], side: str) -> list[dict[str, Any]]:
    """Spans as rows of a table, without their texts."""
    row = find_task(task)
    made = []
    for note in notes:
        for span in note[side]:
            cells = {"note": note["id"], **{k: span[k] for k in ("start", "length", "confidence")}}
            if row.label:
                cells[row.label] = span["label"]
            if row.second_label:
                cells[row.second_label] = "positive"
            made.append(cells)
    return made


def by_note(task: str, notes: list[dict[str, Any]], side: str) -> dict[str, list[dict[str, Any]]]:
    made: dict[str, list[dict[str, Any]]] = {note["id"]: [] for note in notes}
    for row in rows_of(task, notes, side):
        made[row.pop("note")].append(row)
    return made


@pytest.mark.parametrize("task", TASKS)
@settings(max_examples=up_to(20))
@given(data=st.data())
def test_every_form_counts_as_the_file_does(task: str, data: st.DataObject) -> None:
    notes = data.draw(corpora(find_task(task)))
    forms: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), find_task(task), notes)
        told = scored(task, **dict[str, Any](files)).to_dict()
        decoded = {role: json.loads(path.read_bytes()) for role, path in files.items()}
        forms.append({role: path.read_bytes() for role, path in files.items()})
        forms.append(decoded)
        forms.append({"notes": files["notes"], **{s: by_note(task, notes, s) for s in ("gold", "predictions")}})
        texts = {note["id"]: note["text"] for note in notes}
        forms.append({"notes": texts, **{s: pd.DataFrame(rows_of(task, notes, s)) for s in ("gold", "predictions")}})
        for form in forms:
            made = scored(task, **form).to_dict()
            for name in ("measures", "per_label", "per_note", "errors", "confidence", "gold_annotations"):
                assert made[name] == told[name], (name, form)


def test_bytes_are_hashed_as_the_file_is() -> None:
    from_files = scored("date", gold=GOLD, predictions=str(PREDICTIONS), notes=NOTES)
    with PREDICTIONS.open("rb") as file:
        from_bytes = scored("date", gold=GOLD.read_bytes(), predictions=file, notes=io.BytesIO(NOTES.read_bytes()))
    assert from_bytes.card_bytes == from_files.card_bytes


def test_packed_bytes_are_unpacked() -> None:
    plain = scored("date", gold=GOLD, predictions=PREDICTIONS, notes=NOTES)
    packed = scored("date", gold=GOLD, predictions=gzip.compress(PREDICTIONS.read_bytes()), notes=NOTES)
    assert packed.card_bytes == plain.card_bytes
    broken = problems("date", predictions=gzip.compress(PREDICTIONS.read_bytes())[:-20], notes=NOTES)
    assert [problem.code for problem in broken.errors] == ["json"]
    assert "is not a whole gz file" in broken.errors[0].message


def test_canonical_lines_depend_on_content_alone() -> None:
    records = json.loads(PREDICTIONS.read_bytes())
    shuffled = [{key: record[key] for key in reversed(record)} for record in reversed(records)]
    one, two = (
        given_inputs(find_task("date"), predictions=r, notes=NOTES).inputs.predictions for r in (records, shuffled)
    )
    assert isinstance(one, NamedBytes)
    assert one == two
    lines = one.data.decode().splitlines()
    assert [json.loads(line) for line in lines] == records
    assert all(list(json.loads(line)) == sorted(json.loads(line)) for line in lines)


def test_canonical_lines_are_these() -> None:
    written = one_given(
        {"n2": [], "n1": [{"start": 5, "end": 9, "dateFormat": "M/D"}]}, "predictions", find_task("date"), TWO_NOTES
    )
    assert isinstance(written, NamedBytes)
    assert written.data.decode() == (
        '{"annotationSource":{"resourceSource":{"name":"n1"}},'
        '"textDateAnnotations":[{"dateFormat":"M/D","length":4,"start":5,"text":"3/14"}]}\n'
        '{"annotationSource":{"resourceSource":{"name":"n2"}},"textDateAnnotations":[]}\n'
    )


def test_predictions_follow_gold_where_there_are_no_notes() -> None:
    spans = {"b": [DATE], "a": [DATE]}
    written = given_inputs(find_task("date"), gold={"a": [DATE], "b": []}, predictions=spans).inputs.predictions
    assert isinstance(written, NamedBytes)
    assert [json.loads(line)["annotationSource"]["resourceSource"]["name"] for line in written.data.splitlines()] == [
        "a",
        "b",
    ]


def test_an_end_is_exclusive_and_the_result_says_so() -> None:
    gold = {"n1": [DATE]}
    with_end = scored(
        "date", gold=gold, predictions={"n1": [{"start": 5, "end": 9, "dateFormat": "M/D"}]}, notes=[NOTE]
    )
    assert with_end.f1 == 1
    assert with_end.remarks == ("predictions: 'length' is missing, so 'end' was taken as exclusive (1 spans)",)
    assert scored("date", gold=gold, predictions=gold, notes=[NOTE]).remarks == ()


def test_hugging_face_items() -> None:
    groups = [
        {"entity_group": "DATE", "score": np.float32(0.5), "word": "3 / 14", "start": 5, "end": 9},
        {"entity_group": "PERSON", "score": np.float32(0.9), "word": "john smith", "start": 13, "end": 23},
    ]
    result = scored("person-name", gold={"n1": [{"start": 13, "length": 10}]}, predictions={"n1": groups}, notes=[NOTE])
    assert (result["instance_strict"].tp, result["instance_strict"].fp) == (1, 0)
    assert "predictions: 1 spans of types that person-name does not know: DATE (1)" in result.remarks
    assert result.card.confidence is not None
    assert result.card.confidence.best_threshold == pytest.approx(90.0, abs=1e-4)


def test_the_word_of_an_item_is_held_against_the_note() -> None:
    """One character to the left of where it stands; by hand. What tokenizers change (case, blanks) is no difference."""
    item = {"entity_group": "PERSON", "score": 0.9, "word": "john smith", "start": 12, "end": 22}
    assert sandscore.validate("person-name", {"n1": [item | {"start": 13, "end": 23}]}, notes=[NOTE]).ok
    found = sandscore.validate("person-name", {"n1": [item]}, notes=[NOTE])
    assert [problem.code for problem in found.errors] == ["text-mismatch"]


def test_hugging_face_tokens_are_joined() -> None:
    tokens = [
        {"entity": "B-PERSON", "score": 0.8, "index": 5, "word": "John", "start": 13, "end": 17},
        {"entity": "I-PERSON", "score": 0.6, "index": 6, "word": "Smi", "start": 18, "end": 21},
        {"entity": "I-PERSON", "score": 1.0, "index": 7, "word": "##th", "start": 21, "end": 23},
        {"entity": "I-PERSON", "score": 1.0, "index": 9, "word": "Seen", "start": 0, "end": 4},
    ]
    gold = {"n1": [{"start": 13, "length": 10}, {"start": 0, "length": 4}]}
    result = scored("person-name", gold=gold, predictions=[tokens], notes=[NOTE])
    assert (result["instance_strict"].tp, result["instance_strict"].fp) == (2, 0)
    assert any("joined to the token before (2 tokens)" in remark for remark in result.remarks)


def test_presidio_results_in_the_order_of_the_notes() -> None:
    found = [[PresidioResult("DATE_TIME", 5, 9, 0.85), PresidioResult("PERSON", 13, 23, 0.85)], []]
    result = scored("date", gold={"n1": [DATE]}, predictions=found, notes=TWO_NOTES)
    assert (result["instance_strict"].tp, result["instance_strict"].fp) == (1, 0)
    assert result.card.confidence is not None
    assert result.card.confidence.curve == [(85.0, 1.0, 1.0)]


@pytest.mark.parametrize("named", [True, False])
def test_spacy_documents(named: bool) -> None:
    texts = {note["identifier"]: note["text"] for note in TWO_NOTES}
    spans = {"n1": [SpacySpan("3/14", 5, 9, "DATE")], "n2": [SpacySpan("4/1", 8, 11, "DATE")]}
    order = reversed(texts) if named else iter(texts)
    documents = (SpacyDoc(texts[n], spans[n], n) if named else SpacyDoc(texts[n], spans[n]) for n in order)
    result = scored("date", gold={"n1": [DATE]}, predictions=documents, notes=texts)
    assert (result["instance_strict"].tp, result["instance_strict"].fp) == (1, 1)


def test_documents_are_notes_too() -> None:
    document = SpacyDoc(TEXT, [SpacySpan("3/14", 5, 9, "DATE")], "n1")
    assert scored("date", gold=document, predictions=[document], notes=[document]).f1 == 1


def test_a_document_of_another_text_is_refused() -> None:
    with pytest.raises(ParticipantFault, match="another text than the note"):
        given_inputs(find_task("date"), predictions=[SpacyDoc("other", [])], notes=[NOTE])


def test_a_table_may_lack_cells_and_hold_numbers_as_names() -> None:
    table = pd.DataFrame(
        {"note": [7, 8], "start": [5, 0], "end": [9.0, np.nan], "length": [np.nan, 4], "label": ["M/D", pd.NA]}
    )
    notes = pd.DataFrame({"identifier": [7, 8], "text": [TEXT, TEXT], "patientId": [1, np.nan]})
    result = scored("date", gold={"7": [DATE]}, predictions=table, notes=notes)
    assert (result["date_format"].tp, result["instance_strict"].fp) == (1, 1)
    assert result.card.units == {"7": "1", "8": "8"}


def test_a_note_without_a_row_is_a_note_without_annotations() -> None:
    table = pd.DataFrame([{"note": "n1", "start": 5, "length": 4}])
    assert not problems("date", predictions=table, notes=TWO_NOTES).counts
    assert problems("date", predictions={"n1": [DATE]}, notes=TWO_NOTES).counts == {"missing-note": 1}


def test_no_predictions_at_all_is_an_answer() -> None:
    forms: list[Any] = [[], {}, pd.DataFrame()]
    for nothing in forms:
        result = scored("date", gold={"n1": [DATE]}, predictions=nothing, notes=[NOTE])
        assert (result["instance_strict"].tp, result["instance_strict"].fn) == (0, 1)


def test_what_the_loader_refuses_it_refuses_in_memory_too() -> None:
    wrong = {"n1": [{**DATE, "text": "4/14"}, {"start": 0, "length": 999, "dateFormat": "M/D"}], "n9": []}
    codes = {problem.code for problem in problems("date", predictions=wrong, notes=[NOTE]).errors}
    assert {"text-mismatch", "out-of-bounds", "unknown-note"} <= codes


SPAN_FAULTS: dict[str, tuple[Any, str]] = {
    "no place": ([{"start": 3}], "neither 'length' nor 'end'"),
    "no start": ([{"end": 3}], "found nothing as 'start'; expected a whole number"),
    "half a character": ([{"start": 3.5, "length": 2}], "found 3.5 as 'start'"),
    "a word": ([{"start": "three", "length": 2}], "a value of type str as 'start'"),
    "a truth": ([{"start": True, "length": 2}], "a value of type bool as 'start'"),
    "two ends": ([{"start": 3, "length": 2, "end": 9}], "another end"),
    "a tuple": ([(0, 3, "DATE")], "a value of type tuple; expected a dict or an object"),
    "percent": ([{"start": 0, "end": 3, "score": 97}], "97 as 'score'; expected a number from 0 to 1"),
    "only strangers": (
        [{"start": 0, "end": 3, "entity_group": "BEAST"}],
        "no span has a type that date knows: found BEAST",
    ),
    "an object": ([{"start": 0, "end": 3, "dateFormat": object()}], "cannot be written as JSON"),
}


@pytest.mark.parametrize("case", SPAN_FAULTS)
def test_a_wrong_span_is_a_sentence(case: str) -> None:
    spans, sentence = SPAN_FAULTS[case]
    with pytest.raises(ParticipantFault, match=sentence):
        given_inputs(find_task("date"), predictions={"n1": spans}, notes=[NOTE])
    with pytest.raises(OrganiserFault, match=r"^gold") as raised:
        given_inputs(find_task("date"), gold={"n1": spans}, notes=[NOTE])
    assert raised.value.exit_code == 78


USAGE_FAULTS: dict[str, tuple[Any, str]] = {
    "an array of no dimension": (np.array(3), "value of type ndarray; expected a path, bytes"),
    "an array of numbers": (np.arange(3), "whose first item is a value of type int64"),
    "a number": (3, "value of type int; expected a path, bytes"),
    "JSON as text": ('[{"a": 1}]', "taken as a path; give JSON as bytes"),
    "a text file": (io.StringIO("[]"), "open it for bytes"),
    "spans of nobody": ([DATE], "names no note"),
    "no column": (
        pd.DataFrame({"id": ["n1"], "start": [1]}),
        "no column note; .* given, dateFormat, confidence",
    ),
    "a column twice": (pd.DataFrame([["n1", 1, 1]], columns=["note", "start", "start"]), "stands twice"),
    "one list too many": ([[], [], []], "found 3 lists of spans; expected one for each note"),
    "a mapping of texts": ({"n1": "3/14"}, "note 'n1' holds a value of type str"),
}


@pytest.mark.parametrize("case", USAGE_FAULTS)
def test_a_strange_input_is_a_sentence(case: str) -> None:
    value, sentence = USAGE_FAULTS[case]
    with pytest.raises(UsageFault, match=sentence):
        given_inputs(find_task("date"), predictions=value, notes=TWO_NOTES)


def test_a_text_is_needed_where_there_are_no_notes() -> None:
    with pytest.raises(ParticipantFault, match="expected a text, or notes"):
        given_inputs(find_task("date"), predictions={"n1": [{"start": 1, "length": 2}]})


def test_gold_is_never_repeated_in_a_sentence() -> None:
    with pytest.raises(OrganiserFault) as raised:
        given_inputs(find_task("date"), gold={"n1": [{"start": "secret", "length": 2, "text": "secret"}]}, notes=[NOTE])
    assert "secret" not in str(raised.value)


class PolarsFrame:
    """A DataFrame of polars, whose ``to_dict`` takes no word."""

    columns = ("note", "start", "length", "dateFormat")

    def to_dict(self, *, as_series: bool = True) -> dict[str, Any]:
        raise AssertionError("a dict of columns is not wanted")

    def to_dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, ("n1", 5, 4, "M/D"), strict=True))]


def test_a_polars_frame_is_a_table() -> None:
    assert scored("date", gold={"n1": [DATE]}, predictions=PolarsFrame(), notes=[NOTE])["date_format"].f1 == 1


@pytest.mark.parametrize("profile", sorted((CHALLENGE, *PROFILES.names)))
def test_other_scorers_read_memory_too(profile: str, tmp_path: Path) -> None:
    profile = written(profile, tmp_path, json.loads(NOTES.read_bytes()))
    files: dict[str, Any] = {"gold": GOLD, "predictions": PREDICTIONS, "notes": NOTES}
    read: dict[str, Any] = {role: path.read_bytes() for role, path in files.items()}
    told = sandscore.score("date", profile=profile, **files)
    assert sandscore.score("date", profile=profile, **read).card_bytes == told.card_bytes
    decoded: dict[str, Any] = {role: json.loads(content) for role, content in read.items()}
    assert sandscore.score("date", profile=profile, **decoded).to_dict()["measures"] == told.to_dict()["measures"]


def test_two_processes_read_memory_as_one_does() -> None:
    inputs: dict[str, Any] = {"gold": GOLD.read_bytes(), "predictions": PREDICTIONS.read_bytes(), "notes": NOTES}
    one, two = (sandscore.score("date", jobs=jobs, **inputs) for jobs in (1, 2))
    assert one.card_bytes == two.card_bytes


def test_what_was_understood_is_said_by_score_and_validate() -> None:
    spans = {"n1": [{"start": 5, "end": 9}]}
    told = ("predictions: 'length' is missing, so 'end' was taken as exclusive (1 spans)",)
    assert sandscore.score("date", gold={"n1": [DATE]}, predictions=spans, notes=[NOTE]).remarks == told
    assert sandscore.validate("date", spans, notes=[NOTE]).remarks == told


def test_standard_input_is_read_once() -> None:
    program = """
import sandscore as ss
spans = {"n1": [{"start": 5, "length": 4}]}
print(ss.score("date", gold=spans, predictions=spans, notes="-").f1)
"""
    told = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps([NOTE]), capture_output=True, text=True, check=True
    )
    assert told.stdout == "1.0\n"


def test_no_foreign_package_is_imported() -> None:
    program = """
import sys, sandscore as ss
spans = {"n1": [{"start": 5, "length": 4}]}
result = ss.score("date", gold=spans, predictions=spans, notes={"n1": "Seen 3/14"})
assert result.interval == (1, 1)
print(*sys.modules)
"""
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"pandas", "spacy", "transformers", "presidio_analyzer", "polars"} & set(told.stdout.split())


KEYS = ["start", "end", "length", "text", "note", "textDateAnnotations", "n1", "x"]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text('ab{["é', max_size=4) | st.binary(max_size=3)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=up_to(300))
@given(value=JSON, role=st.sampled_from(["gold", "predictions", "notes"]))
def test_whatever_is_given_is_taken_or_refused_with_a_sentence(value: Any, role: str) -> None:
    with suppress(SandscoreError):
        inputs = given_inputs(find_task("date"), **({"notes": TWO_NOTES} | {role: value})).inputs
        assert set(inputs.given) <= {"notes", "gold", "predictions"}


@pytest.mark.parametrize(("named", "found"), [("n1", []), ("d/n1", []), ("elsewhere", ["unknown-note"])])
def test_a_row_is_of_the_note_that_it_names(named: str, found: list[str]) -> None:
    """With or without the data set's name before it; what is of no note here is a problem of that row."""
    rows = pd.DataFrame([{"note": named, "start": 5, "length": 4, "text": "3/14", "dateFormat": "M/D"}])
    told = problems("date", notes=TWO_NOTES, predictions=rows)
    assert [problem.code for problem in told.errors] == found

"""From our annotations to i2b2 tags, and from counts to what the script prints."""

from typing import Any

import pytest

from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.profiles.i2b2 import i2b2_profile
from sandscore.profiles.i2b2.i2b2_tags import I2b2Tag, read_tags
from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.task_table.task import TASKS

TEXT = "Ann Lee, 98110"


def record(task: str, *annotations: dict[str, Any], note: str = "n-1") -> dict[str, Any]:
    return {"annotationSource": {"resourceSource": {"name": f"x/{note}"}}, TASKS[task].array: list(annotations)}


def span(start: int, length: int, **more: Any) -> dict[str, Any]:
    return {"start": start, "length": length, "text": TEXT[start : start + length], **more}


def scored(task: str, gold: list[Any], predictions: list[Any], *notes: str) -> ProfileResult:
    texts = [{"identifier": note, "text": TEXT} for note in notes or ("n-1",)]
    return i2b2_profile.evaluate(ProfileInput(TASKS[task], texts, gold, predictions), {})


@pytest.mark.parametrize(
    ("task", "annotation", "category", "kind"),
    [
        ("date", {"dateFormat": "YYYY"}, "DATE", "DATE"),
        ("person-name", {}, "NAME", "PATIENT"),
        ("person-name", {"personType": "doctor"}, "NAME", "DOCTOR"),
        ("address", {"addressType": "zip"}, "LOCATION", "ZIP"),
        ("address", {"addressType": "other"}, "LOCATION", "LOCATION-OTHER"),
        ("address", {"addressType": "location-other"}, "LOCATION", "location-other"),
        ("address", {"addressType": "City"}, "LOCATION", "City"),
        ("address", {}, "LOCATION", ""),
        ("address", {"addressType": None}, "LOCATION", ""),
        ("id", {"idType": "bio_id"}, "ID", "BIOID"),
        ("id", {"idType": "id_number"}, "ID", "IDNUM"),
        ("contact", {"contactType": "ip_address"}, "CONTACT", "IPADDR"),
        ("phi", {"type": "NAME/DOCTOR"}, "NAME", "DOCTOR"),
        ("phi", {"type": "PHI/x"}, "PHI", "x"),
        ("phi", {"type": "PHONE"}, "CONTACT", "PHONE"),
        ("phi", {"type": "age"}, "AGE", "age"),
        ("phi", {"type": "LOCATION-OTHER"}, "LOCATION", "LOCATION-OTHER"),
    ],
)
def test_category_and_type(task: str, annotation: dict[str, Any], category: str, kind: str) -> None:
    tagged = read_tags([record(task, span(0, 3, **annotation))], TASKS[task], OrganiserFault)
    assert tagged.documents == {"n-1": [I2b2Tag(category, kind, 0, 3)]}


@pytest.mark.parametrize("label", ["PERSON", "name/PATIENT", ""])
def test_a_label_without_category_is_ignored_and_reported(label: str) -> None:
    result = scored("phi", [record("phi", span(0, 3, type="PATIENT"))], [record("phi", span(0, 3, type=label))])
    assert result.measures["strict"]["fn"] == 1
    assert result.measures["strict"]["fp"] == 0
    assert "1 annotations in the predictions have no i2b2 category and are ignored" in result.warnings


@pytest.mark.parametrize("wrong", [{"start": True}, {"start": 9.0}, {"length": "3"}, {"addressType": ["city"]}])
def test_what_xml_cannot_hold_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParticipantFault, match="no counterpart in the i2b2 format"):
        scored("address", [record("address")], [record("address", span(0, 3) | wrong)])


def test_what_cannot_be_tokenised_is_refused() -> None:
    given = ProfileInput(TASKS["date"], None, [record("date")], [record("date")])
    with pytest.raises(UsageFault, match="--notes"):
        i2b2_profile.evaluate(given, {})
    with pytest.raises(OrganiserFault, match="no text for note n-2"):
        scored("date", [record("date", note="n-2")], [record("date", note="n-2")])


def test_symptoms_are_tags_of_no_category_of_their_own() -> None:
    """As a mixture would have them whose labels say PHI, the element that the script's categories derive from."""
    spans = [(0, 3, "Cough"), (4, 3, "fever")], [(0, 3, "Cough"), (4, 3, "Cough")]
    own = [[record("covid-symptom", *(span(at, n, condition=kind) for at, n, kind in side))] for side in spans]
    mixed = [[record("phi", *(span(at, n, type=f"PHI/{kind}") for at, n, kind in side))] for side in spans]
    result, other = scored("covid-symptom", own[0], own[1]), scored("phi", mixed[0], mixed[1])
    assert (result.measures, result.details) == (other.measures, other.details)
    assert [result.measures["strict"][count] for count in ("tp", "fp", "fn")] == [1, 1, 1]
    assert result.measures["hipaa_strict"]["tp"] == 0


def test_notes_on_one_side_are_skipped_and_an_empty_note_halves_the_macro_f1() -> None:
    both = [record("date", span(9, 5)), record("date", note="n-2")]
    result = scored("date", [*both, record("date", span(9, 5), note="n-3")], both, "n-1", "n-2", "n-3")
    strict = result.measures["strict"]
    assert (strict["tp"], strict["fp"], strict["fn"], strict["f1"]) == (1, 0, 0, 1.0)
    assert strict["macro"]["f1"] == 0.5
    assert list(result.per_note) == ["n-1", "n-2", "n-3"]
    assert result.per_note["n-3"]["strict"] == (0, 0, 0)
    assert "1 notes only in gold are skipped: nothing in them counts" in result.warnings
    assert "1 notes are empty on both sides and count as 0 in every macro figure" in result.warnings


def test_the_summary_is_laid_out_as_the_script_prints_it() -> None:
    gold = [record("date", span(0, 3), span(4, 3), span(9, 5))]
    result = scored("date", gold, [record("date", span(0, 3), span(4, 4))])
    table = result.table.split("\n\n\n")
    assert len(table) == 42
    assert table[1].splitlines() == [
        "Strict (1)               Measure        Macro (SD)     Micro (Primary)     ",
        "-" * 75,
        "Total                    Precision      0.5 (0.0)      0.5                 ",
        "                         Recall         0.3333 (0.0)   0.3333              ",
        "                         F1             0.4            0.4                 ",
    ]
    assert table[10].splitlines()[-1].split() == ["F1", "nan", "0.0"]
    assert table[10].startswith("CONTACT Token (1)")

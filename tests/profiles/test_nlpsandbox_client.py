"""Known surprises of the NLP Sandbox client, each worked out on a minimal input, and what we warn of."""

from typing import Any

import pytest

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.profiles.nlpsandbox import nlpsandbox_profile
from sandscore.profiles.nlpsandbox.nlpsandbox_profile import ClientRatios, rounded
from sandscore.profiles.profile import ProfileInput, ProfileResult
from sandscore.records.counts import Counts
from sandscore.task_table.task import TASKS


def scored(gold: Any, predictions: Any, task: str = "date", release: str = "4.3.0") -> ProfileResult:
    array = TASKS[task].array
    first, second = (
        [{"annotationSource": {"resourceSource": {"name": "1"}}, array: annotations}]
        for annotations in (gold, predictions)
    )
    return nlpsandbox_profile.evaluate(ProfileInput(TASKS[task], None, first, second), {"release": release})


def span(start: Any, text: str, **more: Any) -> dict[str, Any]:
    return {"start": start, "length": len(text), "text": text, **more}


@pytest.mark.parametrize(
    ("counts", "printed"),
    [
        ((1, 2, 3), ClientRatios(0.28, 0.33, 0.25)),
        ((399, 1, 1), ClientRatios(1.0, 1.0, 1.0)),
        ((1, 250, 250), ClientRatios(0, 0.0, 0.0)),
        ((199, 1, 1), ClientRatios(0.99, 0.99, 0.99)),
        ((13, 224, 1), ClientRatios(0.09, 0.05, 0.93)),
        ((0, 0, 3), ClientRatios(0, 0, 0.0)),
        ((0, 0, 0), ClientRatios(0, 0, 0)),
    ],
)
def test_ratios_are_rounded_before_f1(counts: tuple[int, int, int], printed: ClientRatios) -> None:
    assert rounded(Counts(*counts)) == printed


def test_the_last_annotation_of_a_start_wins_and_a_flood_is_free() -> None:
    flood = [span(13, "2069-04-07"[:length]) for length in range(1, 11)]
    result = scored([span(13, "2069-04-07")], flood)
    assert result.measures["instance_strict"]["f1"] == 1.0
    assert scored([span(13, "2069-04-07")], flood[::-1]).measures["instance_strict"]["f1"] == 0
    assert any(line.startswith("9 annotations in the predictions are replaced") for line in result.warnings)


def test_the_text_is_never_compared() -> None:
    result = scored([span(9, "01/02/2003")], [span(9, "99/99/9999")])
    assert result.measures["token"]["f1"] == 1.0
    assert "1 predictions match in place and length but not in text; the text is never compared" in result.warnings


def test_a_quote_token_meets_a_two_letter_token() -> None:
    result = scored([span(0, 'J"')], [span(0, "Jo")], "person-name")
    assert (result.measures["token"]["tp"], result.measures["token"]["fn"]) == (1, 1)
    assert "1 texts in gold have tokens counted at a place that does not hold them" in result.warnings


def test_white_space_makes_the_offsets_of_the_old_release_drift() -> None:
    gold, predictions = [span(11, "Jon  Smith")], [span(11, "Jon"), span(16, "Smith")]
    old = scored(gold, predictions, "person-name", "3.1.0").measures["token"]
    assert (old["tp"], old["fp"], old["fn"]) == (1, 1, 1)
    assert scored(gold, predictions, "person-name").measures["token"]["f1"] == 1.0


def test_types_are_nan_for_dates_and_for_addresses_without_predicted_types() -> None:
    typed, bare = [span(1, "Rome", addressType="city")], [span(1, "Rome")]
    assert scored(typed, typed).measures["type"]["f1"] is None
    assert scored(typed, bare, "address", "3.1.0").measures["type"]["f1"] is None
    assert scored(typed, bare, "address").measures["type"]["f1"] == 0
    assert "date_type is printed as NaN (this release always does so); the counts stand" in scored([], []).warnings
    assert "nan            nan            nan" in scored(typed, typed).table


def test_nothing_against_nothing_is_zero() -> None:
    result = scored([], [])
    assert {measure["f1"] for name, measure in result.measures.items() if name != "type"} == {0}
    assert "nothing is annotated on either side: printed as 0, not as undefined" in result.warnings


def test_what_the_client_dies_of_in_each_file() -> None:
    message = r"the original stops here with TypeError: .* \(reading the gold\)"
    with pytest.raises(OrganiserFault, match=message):
        scored(None, [])
    with pytest.raises(ParticipantFault, match=r"KeyError: 'start' \(reading the predictions\)"):
        scored([], [{"length": 1, "text": "x"}])
    with pytest.raises(ParticipantFault, match=r"with TypeError: .* \(reading the lengths\)"):
        scored([span(1, "a")], [span(1, "a") | {"length": "1"}])
    with pytest.raises(OrganiserFault, match=r"with TypeError: .* \(reading the lengths\)"):
        scored([span(1, "a") | {"length": None}], [span(1, "a")])


def test_the_callers_objects_stay_as_they_are() -> None:
    annotation = span(1, "a")
    scored([annotation], [annotation])
    assert annotation == span(1, "a")

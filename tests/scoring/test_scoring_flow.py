"""The scoring flow on a challenge of eight small notes: what is scored, what is refused, and whose fault it is."""

import json
from pathlib import Path

import pytest
from task_samples import write_challenge

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.byte_sources import NamedBytes
from sandscore.base.errors import OrganiserFault
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.records.scorecard import MeasureScore, RatioScore
from sandscore.scoring.card_building import Identity, Question, dumped
from sandscore.scoring.scoring_flow import InvalidPredictions, Scored, score_files, score_loaded
from sandscore.task_table.task import find_task

WRONG = NamedBytes("wrong.json", b'[{"annotationSource": {}}]')


def given(folder: Path, task: str, **changes: Path | NamedBytes | str) -> Inputs:
    write_challenge(folder, find_task(task))
    parts = {"gold": f"{task}.json", "predictions": "predictions.json", "notes": "notes.json"}
    return Inputs(**{role: folder / name for role, name in parts.items()} | changes)


def scored(folder: Path, task: str = "date") -> Scored:
    identity = Identity(team="blue", submission="s1", dataset="d")
    hipaa = load_hipaa_map()
    return score_files(Question(find_task(task), (), hipaa, identity), given(folder, task))


def test_the_counts_are_those_written_down(tmp_path: Path) -> None:
    """Of two annotations a note the predictions have the first everywhere and the second in every other note."""
    card = scored(tmp_path).card
    strict = card.measures["instance_strict"]
    assert (strict.tp, strict.fp, strict.fn) == (12, 0, 4)
    assert strict.precision == 1
    assert strict.recall == 12 / 16
    assert dict(card.per_note)["10-00"]["instance_strict"] == (1, 0, 1)
    assert (card.notes, card.gold_annotations, card.predicted_annotations) == (8, 16, 12)
    assert (card.team, card.submission, card.dataset, card.profile) == ("blue", "s1", "d", "challenge")
    assert card.text_checked
    assert card.units["10-00"] == "10"


def test_what_nobody_asked_for_is_not_on_the_card(tmp_path: Path) -> None:
    """Fields that hold groups are empty, others are None; neither is written."""
    card = scored(tmp_path).card
    assert (card.slices, card.robustness, card.per_unit) == ({}, {}, {})
    assert (card.phase, card.definition, card.agreement, card.details) == (None, None, None, {})
    assert card.warnings == []
    assert not {"phase", "slices", "per_unit", "details"} & json.loads(dumped(card)).keys()


def test_leaks_of_one_task_say_that_others_leak_too(tmp_path: Path) -> None:
    """The second of two annotations is found in every other one of eight notes: 4 of 16 are open."""
    card = score_files(Question(find_task("date"), ("patient_leak", "mention_leak")), given(tmp_path, "date")).card
    leak, mentions = card.measures["patient_leak"], card.measures["mention_leak"]
    assert isinstance(leak, RatioScore)
    assert isinstance(mentions, RatioScore)
    assert (mentions.n, mentions.of) == (4, 16)
    assert leak.of == len({*card.units.values()})
    assert card.warnings == ["patient_leak: of the task date alone; what is open of other tasks leaks too (score all)"]


def test_labels_that_agree_among_matched_pairs(tmp_path: Path) -> None:
    """Three of eight first annotations carry the other label; the second ones are right wherever they are."""
    labelled = scored(tmp_path).card.measures["date_format"]
    assert isinstance(labelled, MeasureScore)
    assert labelled.conditional_accuracy == 9 / 12


def test_only_a_task_with_hipaa_is_signed_with_the_map(tmp_path: Path) -> None:
    assert "|map:" not in scored(tmp_path / "date").card.signature
    assert "|map:" in scored(tmp_path / "location", "location").card.signature


def test_labels_are_listed_in_alphabetical_order(tmp_path: Path) -> None:
    per_label = scored(tmp_path, "phi").card.per_label
    assert per_label
    assert list(per_label) == sorted(per_label)
    assert all(set(row) == {"tp", "fp", "fn"} for rows in per_label.values() for row in rows.values())


def test_faulty_predictions_are_the_participants_fault(tmp_path: Path) -> None:
    with pytest.raises(InvalidPredictions) as raised:
        score_files(Question(find_task("date")), given(tmp_path, "date", predictions=WRONG))
    assert raised.value.exit_code == 65
    assert raised.value.problems


def test_faulty_gold_comes_first(tmp_path: Path) -> None:
    with pytest.raises(OrganiserFault, match="gold or notes"):
        score_files(Question(find_task("date")), given(tmp_path, "date", gold=WRONG, predictions=WRONG))


def test_loaded_files_are_scored_as_files_are(tmp_path: Path) -> None:
    task = find_task("date")
    loaded = load_files(task, given(tmp_path, "date"))
    whole = score_loaded(Question(task), loaded)
    assert whole.card.measures["instance_strict"].tp == 12
    assert (whole.given, whole.table) == (None, None)

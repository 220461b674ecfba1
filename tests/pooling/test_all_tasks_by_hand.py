"""Gold of two tasks on two notes of one patient, by hand: what is open of either leaks, and people are one across both.

n1  Ann Berg came on 3/14.   names: [Ann Berg] e1   dates: [3/14] e2   masked: both
n2  Ann left on 4/1.         names: [Ann] e1        dates: [4/1] e3    masked: the date
"""

import json
from pathlib import Path
from typing import Any

import pytest

from sandscore.annotations.input_files import UNWATCHED
from sandscore.base.errors import OrganiserFault
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.pooling.all_tasks import score_all, task_files
from sandscore.records.scorecard import RatioScore, Scorecard
from sandscore.scoring.card_building import Question
from sandscore.task_table.task import ALL_TASKS, find_task

TEXTS = {"n1": "Ann Berg came on 3/14.", "n2": "Ann left on 4/1."}
NAMES = {"n1": [(0, 8, "e1")], "n2": [(0, 3, "e1")]}
DATES = {"n1": [(17, 21, "e2")], "n2": [(12, 15, "e3")]}
Spans = dict[str, list[tuple[int, int, str]]]


def written(path: Path, task: str, spans: Spans, *, entities: bool = True) -> None:
    def one(note: str, start: int, end: int, entity: str) -> dict[str, Any]:
        made: dict[str, Any] = {"start": start, "length": end - start, "text": TEXTS[note][start:end]}
        return made | ({"dateFormat": "M/D"} if task == "date" else {}) | ({"entityId": entity} if entities else {})

    content = [
        {
            "annotationSource": {"resourceSource": {"name": note}},
            find_task(task).array: [one(note, *span) for span in found],
        }
        for note, found in spans.items()
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def scored(folder: Path, *, names_known: bool = True, dates_known: bool = True) -> Scorecard:
    notes = [{"identifier": note, "text": text, "patientId": "p"} for note, text in TEXTS.items()]
    (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    written(folder / "gold/person-name.json", "person-name", NAMES, entities=names_known)
    written(folder / "gold/date.json", "date", DATES, entities=dates_known)
    written(folder / "masks/person-name.json", "person-name", NAMES | {"n2": []}, entities=False)
    written(folder / "masks/date.json", "date", DATES, entities=False)
    files = task_files(folder / "gold", folder / "masks", {})
    question = Question(ALL_TASKS, hipaa=load_hipaa_map())
    return score_all(question, files, folder / "notes.json", UNWATCHED).card


def share(card: Scorecard, measure: str) -> tuple[int, int]:
    found = card.measures[measure]
    assert isinstance(found, RatioScore)
    return found.n, found.of


def test_what_is_open_of_either_task_leaks(tmp_path: Path) -> None:
    """Ann is open in n2: one of four mentions, one of three entities, one of two notes, the only patient."""
    card = scored(tmp_path)
    assert share(card, "mention_leak") == (1, 4)
    assert share(card, "entity_leak") == (1, 3)
    assert share(card, "note_leak") == (1, 2)
    assert share(card, "patient_leak") == (1, 1)
    assert share(card, "char_leak") == (3, 8 + 3 + 4 + 3)
    assert (card.gold_annotations, card.predicted_annotations, card.notes) == (4, 3, 2)
    assert {*card.per_label} == {"person-name", "date/M/D"}


def test_without_ids_entities_are_by_their_text(tmp_path: Path) -> None:
    """Ann Berg and Ann are two then: one of four."""
    card = scored(tmp_path, names_known=False, dates_known=False)
    assert share(card, "entity_leak(by=text)") == (1, 4)
    assert "entity_leak" not in card.measures


def test_all_tasks_have_ids_or_none(tmp_path: Path) -> None:
    with pytest.raises(OrganiserFault, match="some annotations of gold have an entityId and some have none"):
        scored(tmp_path, dates_known=False)

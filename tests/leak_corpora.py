"""Small corpora for the measures of leaks: gold and masks of notes by extent, and their cards."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.base.byte_sources import NamedBytes
from sandscore.leaks.identifier_classes import ClassMap
from sandscore.records.scorecard import RatioScore, Scorecard
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import find_task

PHI = find_task("phi")
CLASSES = ClassMap("test", {"phi": {"NAME": "direct", "ID": "direct", "DATE": "quasi", "NOISE": "none"}})
Mention = tuple[int, int, str, str | None]
"""Start, end, label and entity."""
Mask = tuple[int, int]


class MaskedNote(Struct):
    """One note; its text may be any of that length."""

    id: str
    patient: str
    text: str
    gold: Sequence[Mention]
    masks: Sequence[Mask]


def of_length(length: int) -> str:
    return ("abcdefghij" * length)[:length]


def loaded(notes: Sequence[MaskedNote], *, jobs: int = 1, with_notes: bool = True) -> Loaded:
    """Read as files are."""

    def side(rows: dict[str, list[dict[str, Any]]], what: str) -> NamedBytes:
        records = [
            {"annotationSource": {"resourceSource": {"name": name}}, PHI.array: found} for name, found in rows.items()
        ]
        return NamedBytes(what, json.dumps(records).encode("utf-8", "surrogatepass"))

    gold: dict[str, list[dict[str, Any]]] = {}
    masks: dict[str, list[dict[str, Any]]] = {}
    for note in notes:
        gold[note.id] = [
            {
                "start": start,
                "length": end - start,
                "text": note.text[start:end],
                PHI.label or "": label,
                **({"entityId": entity} if entity is not None else {}),
            }
            for start, end, label, entity in note.gold
        ]
        masks[note.id] = [
            {"start": start, "length": end - start, "text": note.text[start:end], PHI.label or "": "MASK"}
            for start, end in note.masks
        ]
    listed = [{"identifier": note.id, "patientId": note.patient, "text": note.text} for note in notes]
    told = NamedBytes("notes", json.dumps(listed).encode()) if with_notes else None
    found = load_files(PHI, Inputs(side(gold, "gold"), side(masks, "masks"), told), jobs=jobs)
    assert not found.faulty("gold", "predictions"), [one.problems for one in found.findings.values()]
    return found


def card_of(
    notes: Sequence[MaskedNote], *measures: str, jobs: int = 1, classes: ClassMap | None = CLASSES
) -> Scorecard:
    return score(Question(PHI, measures, classes=classes), loaded(notes, jobs=jobs), jobs)


def share(card: Scorecard, measure: str) -> tuple[int, int]:
    """What of how much, which the rows of notes or patients add up to."""
    found = card.measures[measure]
    assert isinstance(found, RatioScore)
    rows = [row[measure] for table in (card.per_note, card.per_unit) for row in table.values() if measure in row]
    assert tuple(map(sum, zip(*rows, strict=True))) == (found.n, found.of)
    assert found.value == (found.n / found.of if found.of else None)
    return found.n, found.of


def weights_file(folder: Path, **weights: int) -> str:
    (folder / "weights.json").write_text(json.dumps(weights), encoding="utf-8")
    return str(folder / "weights.json")

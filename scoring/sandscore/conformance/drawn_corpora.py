"""Small corpora of any task, drawn with a fixed seed: short notes whose annotations collide, repeat and overlap."""

import json
from pathlib import Path
from random import Random
from typing import Any

from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.label_codes import allowed
from sandscore.task_table.task import Task

WORDS = ("Anna", "Lee", "St. John's", "12", "May", "é😀", "Bo")
FREE_LABELS = ("MM/DD/YYYY", "YYYY")

Rows = list[dict[str, Any]]


class DrawnCorpus:
    """Notes with both sides' annotations, as an organiser and a participant would write them."""

    def __init__(self, task: Task, seed: int, notes: int = 6) -> None:
        self.task, self._draw = task, Random(seed)  # noqa: S311
        self.notes = [self._note(number) for number in range(notes)]
        self.gold = {note["identifier"]: self._rows(note["text"]) for note in self.notes}
        self.predictions = {note["identifier"]: self._rows(note["text"]) for note in self.notes}
        for name, rows in self.predictions.items():
            rows.extend(self.gold[name][::2])

    def name_entities(self) -> None:
        """Gold says of each annotation whom or what it names: what begins alike."""
        for rows in self.gold.values():
            for row in rows:
                row["entityId"] = row["text"][:1]

    def loaded(self, folder: Path) -> Loaded:
        """The corpus read through files, as a user's is."""
        loaded = load_files(self.task, self.files(folder))
        assert not loaded.faulty("gold", "predictions", "notes")
        return loaded

    def files(self, folder: Path) -> Inputs:
        """Gold, predictions and notes as files."""
        for name, value in self.written().items():
            (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        return Inputs(*(folder / f"{name}.json" for name in ("gold", "predictions", "notes")))

    def written(self) -> dict[str, list[Any]]:
        """What stands in each of the three files."""
        sides = {"gold": self.gold, "predictions": self.predictions}
        found = {name: [self._record(*entry) for entry in side.items()] for name, side in sides.items()}
        return found | {"notes": self.notes}

    def _record(self, note: str, rows: Rows) -> dict[str, Any]:
        return {"annotationSource": {"resourceSource": {"name": f"dataset/d/Note/{note}"}}, self.task.array: rows}

    def _note(self, number: int) -> dict[str, Any]:
        text = " ".join(self._draw.choices(WORDS, k=6))
        return {"identifier": f"{number}-1", "type": "loinc:LP29684-5", "patientId": str(number // 2), "text": text}

    def _rows(self, text: str) -> Rows:
        return [self._row(text) for _ in range(self._draw.randint(1, 5))]

    def _row(self, text: str) -> dict[str, Any]:
        start = self._draw.randrange(len(text))
        length = self._draw.randint(1, min(8, len(text) - start))
        row: dict[str, Any] = {"start": start, "length": length, "text": text[start : start + length], "confidence": 50}
        for field in (self.task.label, self.task.second_label):
            if field:
                row[field] = self._draw.choice((allowed(self.task, field) or FREE_LABELS)[:3])
        return row

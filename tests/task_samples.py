"""A small challenge about any task, made from its row: notes, gold and predictions with an error of each kind."""

import json
from pathlib import Path
from typing import Any

from sandscore.task_table.task import Task

WORDS = ("aspirin", "saline")


def write_challenge(folder: Path, task: Task, notes: int = 8) -> Path:
    """``notes.json``, ``<task>.json`` (gold) and ``predictions.json``, which misses and mislabels some."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = [label_values(task, number) for number in (0, 1)]
    texts = [f"Day {number}: aspirin by mouth, saline by vein." for number in range(notes)]
    gold, predicted = [], []
    for number, text in enumerate(texts):
        pair = [annotation(task, text, word, given) for word, given in zip(WORDS, labels, strict=True)]
        gold.append(record(task, number, pair))
        told = [pair[0] | (labels[1] if number % 3 == 0 else {}), *pair[1 : 1 + number % 2]]
        predicted.append(record(task, number, told))
    listed = [
        {"identifier": identifier(number), "text": text, "patientId": f"1{number // 2}", "type": "t"}
        for number, text in enumerate(texts)
    ]
    for name, content in (("notes", listed), (task.id, gold), ("predictions", predicted)):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def label_values(task: Task, number: int) -> dict[str, str]:
    """A value for each label the task has: the first of the list, the second, …"""
    return {name: (values or ("A", "B"))[number] for name, values in task.label_fields.items()}


def identifier(number: int) -> str:
    return f"1{number // 2}-0{number % 2}"


def annotation(task: Task, text: str, word: str, labels: dict[str, str]) -> dict[str, Any]:
    return {"start": text.index(word), "length": len(word), "text": word, "confidence": 90} | labels


def record(task: Task, number: int, annotations: list[dict[str, Any]]) -> dict[str, Any]:
    name = f"dataset/d/fhirStores/s/fhir/Note/{identifier(number)}"
    return {"annotationSource": {"resourceSource": {"name": name}}, task.array: annotations}

"""Random corpora: small alphabets and short notes, so that spans collide, repeat and overlap all the time."""

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from sandscore.annotations.label_codes import allowed
from sandscore.task_table.task import Task

LETTERS = "ab \n\u00a0é😀\u3000"
FREE_LABELS = ("MM/DD/YYYY", "YYYY", "mm/dd/yyyy")


def labels_of(task: Task) -> tuple[str, ...]:
    """Labels a task may carry."""
    return (allowed(task, task.label) or FREE_LABELS) if task.label else ()


@st.composite
def annotations(draw: st.DrawFn, task: Task, text: str, most: int = 6) -> list[dict[str, Any]]:
    """Annotations of a text, as the slow scorer sees them."""
    found = []
    for _ in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, len(text) - 1))
        length = draw(st.integers(1, min(6, len(text) - start)))
        label = None
        if task.label:
            few = list(labels_of(task)[:3])
            label = draw(st.sampled_from(few if task.label_required else [*few, None]))
        confidence = draw(st.sampled_from([10, 50.5, 100]))
        found.append(
            {
                "start": start,
                "length": length,
                "text": text[start : start + length],
                "label": label,
                "confidence": confidence,
            }
        )
    return found


@st.composite
def corpora(draw: st.DrawFn, task: Task, most_notes: int = 4) -> list[dict[str, Any]]:
    """Notes with gold and predictions."""
    notes = []
    for number in range(draw(st.integers(1, most_notes))):
        text = draw(st.text(LETTERS, min_size=1, max_size=14))
        notes.append(
            {
                "id": f"n{number}",
                "text": text,
                "gold": draw(annotations(task, text)),
                "predictions": draw(annotations(task, text)),
            }
        )
    return notes


def record(task: Task, note: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """One entry of an annotation file."""
    written = []
    for a in found:
        row: dict[str, Any] = {"start": a["start"], "length": a["length"], "text": a["text"]}
        row["confidence"] = a["confidence"]
        if task.label and a["label"] is not None:
            row[task.label] = a["label"]
        if task.second_label:
            row[task.second_label] = "positive"
        written.append(row)
    return {
        "annotationSource": {"resourceSource": {"name": f"dataset/d/fhirStores/s/fhir/Note/{note}"}},
        task.array: written,
    }


def write(folder: Path, task: Task, notes: list[dict[str, Any]]) -> dict[str, Path]:
    """Gold, predictions and notes as files."""
    files = {role: folder / f"{role}.json" for role in ("notes", "gold", "predictions")}
    rows = [{"identifier": n["id"], "text": n["text"], "patientId": f"p{i // 2}"} for i, n in enumerate(notes)]
    files["notes"].write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    for role in ("gold", "predictions"):
        records = [record(task, n["id"], n[role]) for n in notes]
        files[role].write_text(json.dumps(records), encoding="utf-8")
    return files

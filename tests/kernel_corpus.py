"""Random notes and what is said of them, in every layout: mostly what the kernel takes, some of it wrong or odd."""

import json
import random
from collections.abc import Callable
from typing import Any

from corpora import labels_of

from sandscore.task_table.task import Task

PLAIN = "abcdefgh  ,.?:;"
ODD = PLAIN + '{}[]\n\t"\\/é“😀\u3000\u00a0\x1c\x1f\x7f\x85\u1680\u200a\u200b\u2028\u2029\u202f\u205f\u3001\ufeff'
SURE = (7, 100, 99.5, 50.0, 12.345678, 0, 99.99999999999999, 12.345678901234567, 0.1 + 0.2)
FORMS: dict[str, Callable[[list[Any], bool], str]] = {
    "compact": lambda rows, pure: json.dumps(rows, separators=(",", ":"), ensure_ascii=pure),
    "spaced": lambda rows, pure: json.dumps(rows, ensure_ascii=pure),
    "indented": lambda rows, pure: json.dumps(rows, ensure_ascii=pure, indent=1) + "\n",
    "lines": lambda rows, pure: "".join(json.dumps(row, ensure_ascii=pure) + "\n" for row in rows),
}


def corpus(task: Task, seed: int) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Notes and what is said of them: members in any one order, mostly right, some of it wrong or odd."""
    r = random.Random(seed)
    odd = r.choice((0, 0, 0.002, 0.02))
    signs = r.choice((PLAIN, PLAIN, ODD))
    longest = r.choice((120, 120, 3000))
    members = ["start", "length", "text", "confidence", *filter(None, (task.label, task.second_label))]
    r.shuffle(members)
    if members.index("length") > members.index("text") and r.random() < 0.9:
        members.sort(key="text".__eq__)
    if not task.confidence_required and r.random() < 0.3:
        members.remove("confidence")
    notes, records = [], []
    for number in range(r.randint(1, 12)):
        text = "".join(r.choice(ODD if r.random() < odd else signs) for _ in range(r.randint(1, longest)))
        patient = {"patientId": f"p{number // 2}"} if r.random() > odd else {}
        notes.append({"identifier": f"n{number}", **patient, "text": text, "type": "é"})
        rows = [annotation(task, r, text, odd) for _ in range(r.choice((0, 1, 2, 9, 30)))]
        source = {"resourceSource": {"name": f"a/Note/n{number}" if r.random() > odd else "a/Note/other"}}
        records.append(
            {"annotationSource": source, task.array: [{name: row[name] for name in members} for row in rows]}
        )
    return notes, records


def annotation(task: Task, r: random.Random, note: str, odd: float) -> dict[str, Any]:
    start = r.randrange(len(note))
    length = r.choice((17, 30, 70)) if r.random() < odd else r.randint(1, min(30, len(note) - start))
    text = note[start : start + length] if r.random() > odd else "other"
    sure = 1e-7 if r.random() < odd else r.choice((*SURE, r.random() * 100))
    row = {"start": start, "length": length if r.random() > odd else 3, "text": text, "confidence": sure}
    if task.label:
        row[task.label] = r.choice(labels_of(task)[:4])
    return row | ({task.second_label: "positive"} if task.second_label else {})

"""What large inputs ask for: memory that does not grow with them, several processes, and no corner that explodes."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore
from corpora import labels_of, record

from sandscore.tasks import TASKS, Task


def corpus(folder: Path, task: Task, notes: int, per_note: int, *, lines: bool = False) -> dict[str, Path]:
    """Notes with gold and shuffled predictions that hit, miss, repeat and overlap."""
    r = random.Random(f"{task.id}{notes}{per_note}")
    text = "".join(r.choices("abc é\n  xyz", k=4 * per_note))
    rows: dict[str, list[Any]] = {"notes": [], "gold": [], "predictions": []}
    for number in range(notes):
        rows["notes"].append({"identifier": f"n{number}", "text": text})
        gold = [annotation(r, task, text) for _ in range(per_note)]
        found = [a for a in gold if r.random() < 0.7] + [annotation(r, task, text) for _ in range(per_note // 3)]
        rows["gold"].append(record(task, f"n{number}", gold))
        rows["predictions"].append(record(task, f"n{number}", found))
    r.shuffle(rows["predictions"])
    files = {role: folder / f"{role}.{'jsonl' if lines else 'json'}" for role in rows}
    for role, path in files.items():
        path.write_text("\n".join(map(json.dumps, rows[role])) if lines else json.dumps(rows[role]), encoding="utf-8")
    return files


def annotation(r: random.Random, task: Task, text: str) -> dict[str, Any]:
    start = r.randrange(len(text) - 5)
    length = r.randint(1, 5)
    label = r.choice(labels_of(task)) if task.label else None
    confidence = r.choice([10, 50.5, 100])
    return {
        "start": start, "length": length, "text": text[start : start + length],
        "label": label, "confidence": confidence,
    }  # fmt: skip


def score(task: Task, files: dict[str, Path], *more: Any) -> Any:
    paths = ("--gold", files["gold"], "--predictions", files["predictions"], "--notes", files["notes"])
    return sandscore("score", task.id, *paths, "--format", "json", *more)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_several_processes_write_the_same_bytes(task: Task, tmp_path: Path) -> None:
    files = corpus(tmp_path, task, 12, 30)
    alone, together = score(task, files), score(task, files, "--jobs", 3)
    assert alone.code == 0
    assert (together.code, together.out, together.err) == (alone.code, alone.out, alone.err)


def test_a_fault_in_gold_is_told_whoever_read_it(tmp_path: Path) -> None:
    files = corpus(tmp_path, TASKS["date"], 2, 5)
    files["gold"].write_text(files["gold"].read_text(encoding="utf-8").replace('"start": ', '"start": 9'), "utf-8")
    alone, together = score(TASKS["date"], files), score(TASKS["date"], files, "--jobs", 2)
    assert alone.code == 78
    assert (together.code, together.err) == (alone.code, alone.err)

"""What large inputs ask for: memory that does not grow with them, several processes, and no corner that explodes."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore
from corpora import labels_of, record

from sandscore.task_table.task import TASKS, Task

MEASURE = """
import pathlib, sys
from sandscore.cli.main import run
assert run(sys.argv[1:]) == 0
print([line.split()[1] for line in pathlib.Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line][0])
"""


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


@pytest.mark.slow
@pytest.mark.parametrize("lines", [False, True], ids=["array", "lines"])
def test_memory_holds_columns_not_files(lines: bool, tmp_path: Path) -> None:
    """What further annotations leave in memory is less than they take in the files; objects take five times that."""
    task, peaks, sizes = TASKS["address"], [], []
    for times in (1, 5):
        folder = tmp_path / str(times)
        folder.mkdir()
        files = corpus(folder, task, 80 * times, 500, lines=lines)
        paths = ["--gold", files["gold"], "--predictions", files["predictions"], "--notes", files["notes"]]
        words = [sys.executable, "-c", MEASURE, "score", task.id, *map(str, paths), "-o", str(folder / "card")]
        told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
        peaks.append(int(told[-1]) * 1024)
        sizes.append(sum(files[role].stat().st_size for role in ("gold", "predictions")))
    assert 0 < peaks[1] - peaks[0] < sizes[1] - sizes[0]

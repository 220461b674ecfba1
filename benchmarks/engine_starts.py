"""Fifty notes from the start of a run to their score, on each engine that is ready here, in one process.

``python benchmarks/engine_starts.py IMAGE`` with an image of Docker's that answers for dates, such as
``sandscore-example/date-good``. Other engines are given it as an archive, and have unpacked it before they are timed.
The engines take turns; each turn is compared with Docker's of the same turn.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import docker

import sandscore as ss
from sandscore.containers.annotation_run import RunJob, predictions, run
from sandscore.containers.engines.engine_registry import ENGINES
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import read_notes
from sandscore.task_table.task import find_task

EXAMPLE = Path(__file__).resolve().parents[1] / "gold" / "example"
NOTES = 50
TIMES = 7
LIMITED, LIMIT = ("podman", "bubblewrap"), 1.5


def first_notes(name: str) -> list[dict[str, Any]]:
    """Of a file of the example, what is about the notes that are sent."""
    found: list[dict[str, Any]] = json.loads((EXAMPLE / name).read_text(encoding="utf-8"))[:NOTES]
    return found


def main(image: str) -> int:
    sent, digest = read_notes(EXAMPLE / "notes.json")
    gold, notes, task = first_notes("date.json"), first_notes("notes.json"), find_task("date")
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "image.tar"
        found = docker.from_env().images.get(image)
        with archive.open("wb") as file:
            file.writelines(found.save(named=True))
        seconds: dict[str, list[float]] = {row.name: [] for row in ENGINES if row().is_ready()}
        outcomes = set()
        for turn in range(TIMES + 1):
            for engine, taken in seconds.items():
                reference = found.id if engine == "docker" else f"oci-archive:{archive}"
                begun = time.monotonic()
                done = run(RunJob(task, Annotator("image", reference), sent[:NOTES], digest, engine=engine))
                if done.answers is None:
                    raise SystemExit(f"{engine}: {done.record.reason}")
                said = b"".join(predictions(task, sent[:NOTES], done.answers))
                score = ss.score(task, gold=gold, predictions=json.loads(said), notes=notes).f1
                if turn:
                    taken.append(time.monotonic() - begun)
                outcomes.add((said, score))
    beyond = []
    for engine, taken in seconds.items():
        ratios = [one / usual for one, usual in zip(taken, seconds["docker"], strict=True)]
        ratio = statistics.median(ratios)
        beyond += [engine] if engine in LIMITED and ratio > LIMIT else []
        print(f"{engine:12} {ratio:.2f} of Docker's time ({min(ratios):.2f} to {max(ratios):.2f})")
    print(f"{len(outcomes)} different predictions and scores; limit {LIMIT} of Docker's time")
    return int(bool(beyond) or len(outcomes) != 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

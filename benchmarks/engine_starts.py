"""Fifty notes from the start of a run to their answers, on each engine that is ready here, in one process.

``python benchmarks/engine_starts.py IMAGE`` with an image of Docker's that answers for dates, such as
``sandscore-example/date-good``. Other engines are given it as an archive, and have unpacked it before they are timed.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import docker

from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.engines.engine_registry import ENGINES
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import read_notes
from sandscore.task_table.task import find_task

NOTES = Path(__file__).resolve().parents[1] / "gold" / "example" / "notes.json"
TIMES = 7


def main(image: str) -> None:
    notes, digest = read_notes(NOTES)
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder) / "image.tar"
        found = docker.from_env().images.get(image)
        with archive.open("wb") as file:
            file.writelines(found.save(named=True))
        seconds: dict[str, list[float]] = {row.name: [] for row in ENGINES if row().is_ready()}
        answers = set()
        for turn in range(TIMES + 1):
            for engine, taken in seconds.items():
                reference = found.id if engine == "docker" else f"oci-archive:{archive}"
                begun = time.monotonic()
                done = run(RunJob(find_task("date"), Annotator("image", reference), notes[:50], digest, engine=engine))
                if turn:
                    taken.append(time.monotonic() - begun)
                answers.add(b"".join(done.answers or ()))
    usual = statistics.median(seconds["docker"])
    for engine, taken in seconds.items():
        print(f"{engine:12} {statistics.median(taken) / usual:.2f} of Docker's time")
    print(f"{len(answers)} different sets of predictions")


if __name__ == "__main__":
    main(sys.argv[1])

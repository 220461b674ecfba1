"""What the queue costs beside the scoring it is for: python benchmarks/queue_overhead.py [SUBMISSIONS] [WORKERS]

10,000 prediction files for the example challenge's date task are submitted and drained by two workers. The same jobs
are scored (files read, checked and counted, card written) without a queue around it, in as many processes at the same
time, before the drain and after it. What is printed are ratios: times of one machine say nothing about another.

Scored alone, each job reads gold and notes as any caller of the library does. A worker's scorer keeps them for as long
as their files stay as they are, and so saves a good third. What the queue adds is paid out of that: claims, leases,
notices, commits, files brought to disk, boards and site.
"""

import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sandscore.base.bundled_content import example_gold, submissions
from sandscore.queue.homes.sqlite.sqlite_admin import submit
from sandscore.queue.homes.sqlite.sqlite_database import Database, create
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.new_submission import NewSubmission
from sandscore.queue.queue_setup import found
from sandscore.queue.settings import QueueSettings
from sandscore.queue.workspace import Workspace

TEAMS = 40
ENOUGH = 10_000
"""With fewer, starting the processes and making the last boards weigh more than the queue does."""
MOST_CLOCK, MOST_CPU = 2.0, 1.5
"""Times scoring alone; measured 1.3 and 1.3. The clock has more air: others may want the disk."""
CHALLENGE = """
challenge = "queue-overhead"
headline = "instance_strict"
resamples = 1000
[data]
notes = "public"
gold = "public"
"""
SCORE_ALONE = """
import sys, time
from pathlib import Path
from sandscore.scoring.card_building import Question, dumped, score
from sandscore.annotations.input_files import Inputs, load_files
from sandscore.task_table.task import find_task
gold, predictions, notes, card = map(Path, sys.argv[1:5])
def once():
    loaded = load_files(find_task("date"), Inputs(gold, predictions, notes))
    card.write_bytes(dumped(score(Question(find_task("date")), loaded)))
once()
begun, used = time.perf_counter(), time.process_time()
for number in range(int(sys.argv[5])):
    once()
print((time.perf_counter() - begun) / int(sys.argv[5]), (time.process_time() - used) / int(sys.argv[5]))
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one submission: seconds on the clock for each worker, and seconds of CPU."""

    clock: float
    cpu: float

    def beside(self, other: "Cost") -> str:
        return f"{self.clock / other.clock:8.2f} {self.cpu / other.cpu:8.2f}"


def main(count: int, workers: int) -> None:
    """Fill, drain, score alone, compare."""
    with tempfile.TemporaryDirectory(prefix="sandscore-queue-") as folder:
        workspace = made(Path(folder))
        filling = filled(workspace, count)
        before = score_alone(workspace, max(200, count // 20), workers)
        draining = drained(workspace.root, count, workers)
        after = score_alone(workspace, max(200, count // 20), workers)
        alone = Cost((before.clock + after.clock) / 2, (before.cpu + after.cpu) / 2)
        scored = sum(1 for _ in workspace.attempts.glob("*/*/card.v1.json"))
    if scored != count:
        sys.exit(f"{count - scored} of {count} submissions have no card")
    print(f"{count:,} submissions, {workers} workers, each scored once; scoring one alone is 1.00")
    print(f"({1000 * alone.clock:.1f} ms and {1000 * alone.cpu:.1f} ms of CPU here, {workers} at a time)")
    print("                                      clock      CPU")
    print(f"through the queue, boards and all  {draining.beside(alone)}")
    print(f"handing in                         {filling.beside(alone)}")
    if count >= ENOUGH and (draining.clock > MOST_CLOCK * alone.clock or draining.cpu > MOST_CPU * alone.cpu):
        sys.exit(f"a submission may cost {MOST_CLOCK} times the time and {MOST_CPU} times the CPU of scoring it")


def made(root: Path) -> Workspace:
    (root / "challenge.toml").write_text(CHALLENGE, encoding="utf-8")
    return found(root / "queue", root / "challenge.toml", QueueSettings(data={"": str(example_gold())}), create)


def filled(workspace: Workspace, count: int) -> Cost:
    database, journal = Database(workspace.root), SubmissionJournal(workspace.root)
    files = [submissions() / f"date-{name}" / "predictions.json" for name in ("good", "weak")]
    begun, used = time.perf_counter(), time.process_time()
    for number in range(count):
        entry = NewSubmission("date", f"team {number % TEAMS}", predictions=files[number % 2])
        submit(database, journal, workspace, entry)
    database.close()
    return Cost((time.perf_counter() - begun) / count, (time.process_time() - used) / count)


def drained(root: Path, count: int, workers: int) -> Cost:
    """What the workers and all their children cost, from their start to their end."""
    command = [
        sys.executable,
        "-c",
        "from sandscore.cli.main import main; main()",
        "queue",
        "work",
        str(root),
        "--once",
    ]
    begun, used = time.perf_counter(), children()
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(workers)]
    if max(process.wait() for process in running):
        sys.exit("a worker failed")
    return Cost((time.perf_counter() - begun) * workers / count, (children() - used) / count)


def children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def score_alone(workspace: Workspace, count: int, workers: int) -> Cost:
    """The same scoring without a queue, while as many others are scored at the same time."""
    files = list(workspace.files.iterdir())

    def one(number: int) -> list[float]:
        card = workspace.root / f"alone-{number}.json"
        named = (workspace.gold("date", None), files[number % len(files)], workspace.notes(None), card, count)
        printed = subprocess.check_output([sys.executable, "-c", SCORE_ALONE, *map(str, named)], text=True)
        return [float(word) for word in printed.split()]

    with ThreadPoolExecutor(workers) as pool:
        clocks, cpus = zip(*pool.map(one, range(workers)), strict=True)
    return Cost(sum(clocks) / workers, sum(cpus) / workers)


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] + ["10000", "2"][len(sys.argv) - 1 :])))

"""What the queue costs beside the scoring it is for: python benchmarks/queue_overhead.py [SUBMISSIONS] [WORKERS]

10,000 prediction files for the example challenge's date task are submitted and drained by two workers. The same jobs
are then scored (files read, checked and counted, card written) without a queue around it, in as many processes at the
same time. What is printed are ratios: times of one machine say nothing about another.
"""

import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sandscore.content import example_gold, submissions
from sandscore.queueing.embedded.database import Database, create
from sandscore.queueing.embedded.journal import Journal
from sandscore.queueing.embedded.submitting import Entry, submit
from sandscore.queueing.founding import found
from sandscore.queueing.settings import Settings
from sandscore.queueing.workspace import Workspace

TEAMS = 40
CHALLENGE = 'challenge = "queue-overhead"\nheadline = "instance_strict"\nresamples = 1000\n'
SCORE_ALONE = """
import sys, time
from pathlib import Path
from sandscore.measuring.cards import Question, dumped, score
from sandscore.reading.files import Inputs, load_files
from sandscore.tasks import find_task
gold, predictions, notes, card = map(Path, sys.argv[1:5])
def once():
    loaded = load_files(find_task("date"), Inputs(gold, predictions, notes))
    card.write_bytes(dumped(score(Question(find_task("date")), loaded)))
once()
begun = time.perf_counter()
for number in range(int(sys.argv[5])):
    once()
print((time.perf_counter() - begun) / int(sys.argv[5]))
"""


def main(count: int, workers: int) -> None:
    """Fill, drain, score alone, compare."""
    with tempfile.TemporaryDirectory(prefix="sandscore-queue-") as folder:
        root = Path(folder)
        workspace = made(root)
        begun = time.perf_counter()
        filled(workspace, count)
        submitting = (time.perf_counter() - begun) / count
        begun = time.perf_counter()
        drain(workspace.root, workers)
        draining = time.perf_counter() - begun
        scored = sum(1 for _ in (workspace.root / "attempts").glob("*/*/card.v1.json"))
        alone = score_alone(workspace, max(200, count // 20), workers)
    if scored != count:
        sys.exit(f"{count - scored} of {count} submissions have no card")
    each = draining * workers / count
    print(f"{count:,} submissions, {workers} workers, every one scored once")
    print(f"scoring one alone            1.00  ({1000 * alone:.2f} ms here, {workers} processes at a time)")
    print(f"one through the queue        {each / alone:.2f}")
    print(f"the queue's own part         {each / alone - 1:.2f} of scoring one, boards and site included")
    print(f"handing one in               {submitting / alone:.2f}")


def made(root: Path) -> Workspace:
    (root / "challenge.toml").write_text(CHALLENGE, encoding="utf-8")
    workspace = found(root / "queue", root / "challenge.toml", Settings(data={"": str(example_gold())}))
    create(workspace.root)
    return workspace


def filled(workspace: Workspace, count: int) -> None:
    database, journal = Database(workspace.root), Journal(workspace.root)
    files = [submissions() / f"date-{name}" / "predictions.json" for name in ("good", "weak")]
    for number in range(count):
        submit(
            database,
            journal,
            workspace,
            Entry("date", f"team {number % TEAMS}", predictions=files[number % 2]),
        )
    database.close()


def drain(root: Path, workers: int) -> None:
    command = [
        sys.executable,
        "-c",
        "from sandscore.cli.main import main; main()",
        "queue",
        "work",
        str(root),
        "--once",
    ]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(workers)]
    if any(process.wait() for process in running):
        sys.exit("a worker failed")


def score_alone(workspace: Workspace, count: int, workers: int) -> float:
    """Seconds for one, while as many others are scored at the same time."""
    files = list(workspace.files.iterdir())

    def one(number: int) -> float:
        card = workspace.root / f"alone-{number}.json"
        named = (workspace.gold("date", None), files[number % len(files)], workspace.notes(None), card, count)
        return float(subprocess.check_output([sys.executable, "-c", SCORE_ALONE, *map(str, named)]))

    with ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(one, range(workers))) / workers


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] + ["10000", "2"][len(sys.argv) - 1 :])))

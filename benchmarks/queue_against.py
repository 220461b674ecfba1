"""The queue of another checkout beside this one's: what a submission costs from the claim to the board.

    python benchmarks/queue_against.py CHECKOUT [--submissions 300] [--notes 10000] [--rounds 5]

Each checkout makes a queue of its own, is handed the same valid files and drains it with one worker, turn by turn: 300
files of the bundled example (72 notes), and a fiftieth as many of 10,000 notes with 20 annotations each. What draining
a queue of one file takes is subtracted: starting, and reading gold. CPU time of the worker and of all its children, and
time on the clock; ratios of minima, which other programs disturb least, and of medians. The checkout's kernel must be
compiled: ``python hatch_build.py`` there. fe835320 is the last commit before teams' files were read in a cell.
"""

import argparse
import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from against import checkout_at
from corpus import write

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1.15
MANY = 50
_ADOPT = 36
"""PR_SET_CHILD_SUBREAPER: who makes cells outlives the process that reads gold, and is to be counted too."""
FILL = """
import sys
from pathlib import Path
from sandscore.queue.homes.sqlite.sqlite_admin import submit
from sandscore.queue.homes.sqlite.sqlite_database import Database, create
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.new_submission import NewSubmission
from sandscore.queue.queue_setup import found
from sandscore.queue.settings import QueueSettings
queue, data, task, given, count = *map(Path, sys.argv[1:3]), sys.argv[3], Path(sys.argv[4]), int(sys.argv[5])
said = 'challenge = "against"\\nheadline = "instance_strict"\\nresamples = 100\\n'
queue.parent.mkdir()
challenge = queue.parent / "challenge.toml"
try:
    challenge.write_text(said + '[data]\\nnotes = "public"\\ngold = "public"\\n')
    workspace = found(queue, challenge, QueueSettings(data={"": str(data)}), create)
except Exception:
    challenge.write_text(said)
    workspace = found(queue, challenge, QueueSettings(data={"": str(data)}), create)
database, journal = Database(workspace.root), SubmissionJournal(workspace.root)
for number in range(count):
    submit(database, journal, workspace, NewSubmission(task, f"team {number % 10}", predictions=given))
database.close()
"""
MAIN = "from sandscore.cli.main import main; main()"


def run(checkout: Path, *words: object) -> tuple[float, float]:
    """A process in the checkout: seconds of CPU, its children's among them, and on the clock."""
    quiet = {"PYTHONPATH": str(checkout / "scoring"), "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", *map(str, words)], env=os.environ | quiet, cwd=checkout, check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - begun


def each(checkout: Path, folder: Path, data: Path, task: str, given: Path, count: int) -> tuple[float, float]:
    """What a submission costs a worker that has begun."""
    folder.mkdir()
    one, all_of_them = (drained(checkout, folder / str(n), data, task, given, n) for n in (1, count + 1))
    cpu, clock = ((whole - begun) / count for begun, whole in zip(one, all_of_them, strict=True))
    return cpu, clock


def drained(checkout: Path, folder: Path, data: Path, task: str, given: Path, count: int) -> tuple[float, float]:
    """What so many cost together."""
    run(checkout, FILL, folder / "queue", data, task, given, count)
    cpu, clock = run(checkout, MAIN, "queue", "work", folder / "queue", "--once")
    cards = sum(1 for _ in (folder / "queue").glob("**/attempts/*/*/card.v1.json"))
    if cards != count:
        sys.exit(f"{checkout}: {cards} of {count} submissions have a card")
    return cpu, clock


def compared(name: str, before: list[float], now: list[float]) -> float:
    least, middle = min(now) / min(before), statistics.median(now) / statistics.median(before)
    print(
        f"{name:<28} {1e3 * min(before):8.1f} {1e3 * min(now):8.1f} ms {least:6.2f} (medians {middle:.2f})", flush=True
    )
    return least


def main() -> int:
    ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=checkout_at)
    parser.add_argument("--submissions", type=int, default=300)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="sandscore-against-") as made:
        folder = Path(made)
        example = ROOT / "gold" / "example", "date", ROOT / "submissions" / "date-good" / "predictions.json"
        files = write(folder / "data", options.notes)
        files["gold"].rename(folder / "data" / "address.json")
        large = folder / "data", "address", files["predictions"].rename(folder / "given.json")
        few = max(2, options.submissions // MANY)
        cases = (("72 notes", *example, options.submissions), (f"{options.notes:,} notes", *large, few))
        for name, data, task, given, count in cases:
            found: list[list[tuple[float, float]]] = [[], []]
            for turn in range(options.rounds):
                for which, checkout in enumerate((options.checkout, ROOT)):
                    place = folder / f"{count}-{turn}-{which}"
                    found[which].append(each(checkout, place, data, task, given, count))
            for at, what in enumerate(("CPU", "clock")):
                ratio = compared(f"{name}, {what}", *[[one[at] for one in side] for side in found])
                worst = max(worst, ratio if what == "CPU" else 0.0)
    return int(worst > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())

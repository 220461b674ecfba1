"""What the cell costs in which files of teams are read: python benchmarks/cell_cost.py [--rounds 9] [--notes N]

The scorer of a queue scores the same valid file by turns: read in a cell, as a worker does, and read by the scorer
itself, as no worker may. From the file to the card on disk; gold and notes are known already, as they are to a worker
that is under way. CPU time of the scorer and of all its cells, and time on the clock; ratios of medians over rounds in
turns. Two corpora: the bundled example (72 notes), and notes with 20 annotations each, 10,000 of them unless said
otherwise. It exits 1 where the cell costs more than is written down here.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import msgspec
from corpus import write

from sandscore.annotations.annotation_loader import AnnotationLoader
from sandscore.annotations.label_codes import vocabulary
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.bundled_content import example_gold, submissions
from sandscore.base.byte_sources import opened
from sandscore.base.whole_files import Drafts
from sandscore.queue.attempt_files import PREDICTIONS, card_name
from sandscore.queue.attempt_scoring import Scorer
from sandscore.queue.cell.reading_cell import ReadingCells
from sandscore.queue.children.child_messages import SubmissionScoreRequest
from sandscore.queue.gold_reference import ReadPredictions, Reference
from sandscore.queue.homes.sqlite.sqlite_database import create
from sandscore.queue.queue_setup import found
from sandscore.queue.settings import QueueSettings

MOST = {"small": 1.5, "large": 1.5}
"""Times; measured 1.1 and, on 1,000 notes, 1.0 on two cores. Of the whole queue
1.15 is wanted: ``queue_against.py`` looks at that."""
CHALLENGE = 'challenge = "cost"\nheadline = "{}"\nresamples = 100\n[data]\nnotes = "public"\ngold = "public"\n'
LEVELS = 3
TICK = 1 / os.sysconf("SC_CLK_TCK")


class Unguarded(ReadingCells):
    """Reads what a team handed in where gold is: what was done before there were cells."""

    def read(self, reference: Reference, predictions: Path, *, complete: bool) -> ReadPredictions:
        task = reference.task
        labels = vocabulary(task, task.label)
        found = ProblemCollector("predictions", task.array)
        own = msgspec.structs.replace(reference.loaded.dataset, vocabulary=labels)
        with opened(predictions) as source:
            sha256 = source.sha256()
            loader = AnnotationLoader(task, own, found)
            columns = loader.load(memoryview(source.data), missing="error" if complete else "warning")
        return ReadPredictions(columns, labels, found, sha256)


def used(cells: ReadingCells) -> float:
    """Seconds of this process, and of those that make cells with all cells that ended."""
    told = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in cells.processes]
    return time.process_time() + sum(int(field) for fields in told for field in fields[11:15]) * TICK


def measured(name: str, folder: Path, task: str, data: Path, given: Path, rounds: int, times: int) -> float:
    """The ratio of CPU time."""
    folder.mkdir()
    (folder / "challenge.toml").write_text(CHALLENGE.format("instance_strict"), encoding="utf-8")
    workspace = found(folder / "queue", folder / "challenge.toml", QueueSettings(data={"": str(data)}), create)
    kinds = {"cell": ReadingCells(), "scorer": Unguarded()}
    scorers = {kind: Scorer(workspace, cells) for kind, cells in kinds.items()}
    attempt = folder / "attempt"
    attempt.mkdir()
    (attempt / PREDICTIONS).symlink_to(given)
    job = SubmissionScoreRequest(
        submission="0" * 12, task=task, phase=None, team="A", image=None, created="2026-01-01T00:00:00Z", name=None,
        folder=str(attempt), version=1,
    )  # fmt: skip
    cpu: dict[str, list[float]] = {kind: [] for kind in kinds}
    clock: dict[str, list[float]] = {kind: [] for kind in kinds}
    cards = set()
    for number in range(rounds + 1):
        for kind in sorted(kinds, reverse=bool(number % 2)):
            before, begun = used(kinds[kind]), time.perf_counter()
            for _ in range(times):
                drafts = Drafts()
                scorers[kind].score(job, drafts)
                drafts.settle(LEVELS)
            clock[kind].append((time.perf_counter() - begun) / times)
            cpu[kind].append((used(kinds[kind]) - before) / times)
            cards.add((attempt / card_name(1)).read_bytes())
    for cells in kinds.values():
        cells.close()
    if len(cards) != 1:
        sys.exit("a cell makes another card")
    middle = {kind: (statistics.median(cpu[kind][1:]), statistics.median(clock[kind][1:])) for kind in kinds}
    ratios = [a / b for a, b in zip(middle["cell"], middle["scorer"], strict=True)]
    inside, outside = (1e3 * middle[kind][0] for kind in kinds)
    print(
        f"{name:<28} CPU {inside:8.2f} ms, {outside:8.2f} without: {ratios[0]:.2f} times; clock {ratios[1]:.2f} times"
    )
    return ratios[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--notes", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sandscore-cell-") as made:
        folder = Path(made)
        small = submissions() / "date-good" / "predictions.json"
        ratios = [measured("72 notes", folder / "small", "date", example_gold(), small, options.rounds, 100)]
        files = write(folder / "data", options.notes)
        files["gold"].rename(folder / "data" / "address.json")
        name, given = f"{options.notes:,} notes", files["predictions"].rename(folder / "given.json")
        ratios.append(measured(name, folder / "large", "address", folder / "data", given, options.rounds, 1))
    return int(any(ratio > most for ratio, most in zip(ratios, MOST.values(), strict=True)))


if __name__ == "__main__":
    raise SystemExit(main())

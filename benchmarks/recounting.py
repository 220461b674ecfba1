"""One note of gold changes: counting it anew for every submission, beside scoring all of them again.

    python benchmarks/recounting.py [--notes 1000] [--submissions 10000] [--rounds 5]

Of each submission's file of counts the head and the changed note's block are read, checked and brought up to date:
totals and rows of the board, without writing cards; reading both golds is part of it. Scoring again reads notes, gold
and each submission's predictions, or an index and the predictions, and counts everything, without cards too. CPU time,
turn by turn; some submissions are scored in full, all are recounted; totals must agree. Exits 1 where the ratio of
medians to scoring again is above the limit.
"""

import argparse
import gc
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from corpus import write

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.api import make_index
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.queue.kept_counts import RecountedNotes, kept_content, recounted
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Question, score
from sandscore.task_table.task import TASKS

Result = TypeVar("Result")
LIMIT = 0.005
TASK, ARRAY = TASKS["address"], "textPhysicalAddressAnnotations"
QUESTION = Question(TASK, hipaa=load_hipaa_map())
KINDS, SCORED = 10, 10
"""So many different submissions, each of them as often as it takes; so many are scored in full in a round."""


class Entered:
    """Submissions with counts that were kept, a gold, and another one in which a note has an annotation less."""

    def __init__(self, folder: Path, notes: int, submissions: int) -> None:
        files = write(folder, notes)
        self.notes, self.gold, self.other = files["notes"], files["gold"], folder / "other.json"
        records = json.loads(self.gold.read_text(encoding="utf-8"))
        records[notes // 2][ARRAY].pop()
        self.other.write_text(json.dumps(records), encoding="utf-8")
        self.index = folder / "other.index"
        make_index(self.other, self.notes, self.index, task=TASK.id)
        kinds = [self._drawn(folder / f"p{kind}.json", files["predictions"], kind) for kind in range(KINDS)]
        content = [self._content(path) for path in kinds]
        self.predictions = [kinds[number % KINDS] for number in range(submissions)]
        self.kept = {str(number): folder / f"{number}.counts" for number in range(submissions)}
        for number, path in enumerate(self.kept.values()):
            if number < KINDS:
                path.write_bytes(content[number])
            else:
                os.link(self.kept[str(number % KINDS)], path)

    @staticmethod
    def _drawn(path: Path, predictions: Path, kind: int) -> Path:
        records = json.loads(predictions.read_text(encoding="utf-8"))
        for number, record in enumerate(records):
            if number % KINDS == kind:
                record[ARRAY].clear()
        path.write_text(json.dumps(records), encoding="utf-8")
        return path

    def _content(self, path: Path) -> bytes:
        loaded = load_files(TASK, Inputs(self.gold, path, self.notes))
        content = kept_content(QUESTION, loaded, score(QUESTION, loaded), "notes")
        if content is None:
            raise SystemExit("these measures do not add up over notes")
        return content

    def first_again(self, *, indexed: bool) -> list[Scorecard]:
        """The first submissions scored in full."""
        given = (
            Inputs(predictions=one, index=self.index) if indexed else Inputs(self.other, one, self.notes)
            for one in self.predictions[:SCORED]
        )
        return [score(QUESTION, load_files(TASK, files)) for files in given]

    def recounted(self) -> RecountedNotes:
        """Every submission by its counts; both golds are read for it."""
        before, now = (load_files(TASK, Inputs(gold, None, self.notes)) for gold in (self.gold, self.other))
        [found] = recounted(QUESTION, "notes", now, self.kept, {before.sha256["gold"]: before}.get)
        if len(found.totals) < len(self.kept):
            raise SystemExit("some of the counts were not taken")
        return found


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What it returns, and its CPU seconds."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    gc.disable()
    with tempfile.TemporaryDirectory() as folder:
        entered = Entered(Path(folder), options.notes, options.submissions)
        spent: dict[str, list[float]] = {"scored again": [], "with an index": [], "recounted": []}
        for _ in range(options.rounds):
            for indexed, name in ((False, "scored again"), (True, "with an index")):
                cards, seconds = timed(partial(entered.first_again, indexed=indexed))
                spent[name].append(seconds / SCORED)
            found, seconds = timed(entered.recounted)
            spent["recounted"].append(seconds / options.submissions)
            for card, totals in zip(cards, found.totals, strict=False):
                full = [(one.tp, one.fp, one.fn) for one in card.measures.values()]
                if not np.array_equal(np.array(full), totals):
                    raise SystemExit("recounting and scoring disagree")
    print(f"{options.submissions:,} submissions of {options.notes:,} notes, one note changed: {options.rounds} rounds")
    middle = {name: statistics.median(seconds) for name, seconds in spent.items()}
    for name, seconds in middle.items():
        beside = seconds / middle["scored again"]
        print(f"{name:<14} {seconds * 1e3:8.3f} ms CPU a submission, {beside:.4f} of scoring again")
    ratio = middle["recounted"] / middle["scored again"]
    print(f"recounted: {ratio:.4f} of scoring again (limit {LIMIT})")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())

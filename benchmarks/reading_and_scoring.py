"""Validate and score against ``orjson.loads`` of the same gold and predictions: CPU time, one process, one run.

    python benchmarks/reading_and_scoring.py [--notes 10000] [--rounds 5]

Rounds are interleaved and the median ratio is printed. The cyclic collector is off for both sides.
"""

import argparse
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import orjson
from corpus import write

from sandscore.measuring.cards import Question, dumped, score
from sandscore.measuring.hipaa import load_hipaa_map
from sandscore.reading.files import Inputs, load_files
from sandscore.tasks import TASKS

LIMIT = 4.0


def cpu(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    began = time.process_time()
    work()
    spent = time.process_time() - began
    gc.enable()
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), options.notes)
        inputs = Inputs(files["gold"], files["predictions"], files["notes"])
        task, hipaa = TASKS["address"], load_hipaa_map()

        def decode() -> None:
            for role in ("gold", "predictions"):
                orjson.loads(files[role].read_bytes())

        def ours() -> None:
            loaded = load_files(task, inputs)
            dumped(score(Question(task, (), hipaa), loaded))

        cpu(decode), cpu(ours)
        rounds = [(cpu(decode), cpu(ours)) for _ in range(options.rounds)]
    ratios = [mine / base for base, mine in rounds]
    median = statistics.median(ratios)
    base, mine = (statistics.median(side) for side in zip(*rounds, strict=True))
    print(f"{options.notes:,} notes: orjson.loads {base:.3f} s, validate + score + card {mine:.3f} s CPU")
    print(f"ratio {median:.2f} (rounds {min(ratios):.2f} to {max(ratios):.2f}), limit {LIMIT}")
    return 0 if median < LIMIT else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""One piece of work on gold.json, predictions.json and notes.json of a folder, and what it took, as JSON.

python benchmarks/decode_or_score.py orjson|msgspec|api|warm|resampled|cli|no-intervals|two FOLDER
"""

import contextlib
import gc
import io
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec
import numpy as np
import orjson

import sandscore.api.scoring_calls  # what a command imports is not what is measured
import sandscore.api.validation_calls
import sandscore.cli.card_text
import sandscore.cli.problem_text
import sandscore.cli.score
import sandscore.gold_index.index_file
import sandscore.gold_index.indexed_inputs
import sandscore.kernel.block_readers
import sandscore.kernel.compiled_calls
import sandscore.kernel.kernel_counts  # noqa: F401
from sandscore.annotations.decoder import record_type
from sandscore.annotations.input_files import Inputs, load_files
from sandscore.cli.main import run
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.ranking.confidence_intervals import percentile_intervals
from sandscore.ranking.resampling import f1_replicates
from sandscore.ranking.score_table import ScoreTable
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import NoteCounts, Question, score
from sandscore.task_table.task import TASKS

TASK = TASKS["address"]
INDEX = "gold.index"
"""Made by whoever asks for ``warm``."""


def works(folder: Path) -> dict[str, Callable[[], object]]:
    """By name: what can be measured."""
    gold, predictions, notes = (folder / f"{role}.json" for role in ("gold", "predictions", "notes"))
    hipaa, decoder = load_hipaa_map(), msgspec.json.Decoder(list[record_type(TASK)])  # type: ignore[misc]
    files = Inputs(gold, predictions, notes)
    words = ["--gold", gold, "--predictions", predictions, "--notes", notes, "-o", folder / "card.json"]

    def api(given: Inputs = files) -> Scorecard:
        loaded = load_files(TASK, given, want_hashes=False, want_texts=False)
        loaded.sha256.update(gold="", predictions="")
        return score(Question(TASK, (), hipaa), loaded)

    def resampled() -> object:
        return percentile_intervals(f1_replicates(table_of(api()), [*range(5)], 1, 10_000)[0])

    def cli(*more: str) -> object:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return run(["score", TASK.id, *map(str, words), *more])

    return {
        "orjson": lambda: [orjson.loads(path.read_bytes()) for path in (gold, predictions)],
        "msgspec": lambda: [decoder.decode(path.read_bytes()) for path in (gold, predictions)],
        "api": api,
        "warm": lambda: api(Inputs(predictions=predictions, index=folder / INDEX)),
        "resampled": resampled,
        "cli": cli,
        "no-intervals": lambda: cli("--no-intervals"),
        "two": lambda: cli("--jobs", "2"),
    }


def table_of(card: Scorecard) -> ScoreTable:
    """One system's counts of five measures, every note by itself."""
    names = tuple(card.measures)
    counts = cast("NoteCounts", card.per_note).table(names)[None]
    scored = np.ones((1, 1, counts.shape[2]), np.bool_)
    return ScoreTable(("s",), ("",), names, counts, (slice(0, counts.shape[1]),), scored, {})


def in_the_page_cache(folder: Path) -> None:
    """Whoever reads a file first would wait for the disk."""
    for path in (*folder.glob("*.json"), *folder.glob(INDEX)):
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def cpu() -> float:
    """Seconds of this process and of its children that are done."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def held(what: str) -> int:
    """Bytes of memory: VmRSS now, VmHWM at the peak."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(what))


def main() -> None:
    folder = Path(sys.argv[2])
    work = works(folder)[sys.argv[1]]
    in_the_page_cache(folder)
    gc.collect()
    gc.disable()
    before, began, wall = held("VmRSS"), cpu(), time.perf_counter()
    kept = work()
    spent, passed = cpu() - began, time.perf_counter() - wall
    print(json.dumps({"cpu": spent, "wall": passed, "peak": held("VmHWM") - before}))
    del kept


if __name__ == "__main__":
    main()

"""Validate and score against decoding alone: CPU time, wall time and peak memory as ratios, for several sizes.

    python benchmarks/reading_and_scoring.py [--notes 1000 --notes 10000] [--rounds 5] [--json FILE] [--folder DATA]

Every measurement has a process of its own, so that none inherits another's memory; time begins when everything is
imported. Rounds are interleaved, ratios are taken within a round, and medians are printed. The cyclic collector is
off for everybody. Peak memory is the process's without what it held before the work began.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from corpus import write
from decode_or_score import INDEX

from sandscore.api import make_index

RATIOS = {
    "api / orjson": ("api", "orjson", "cpu"),
    "warm / orjson": ("warm", "orjson", "cpu"),
    "simdjson, all three / orjson": ("simdjson", "orjson", "cpu"),
    "every byte once / orjson": ("scan", "orjson", "cpu"),
    "cli / orjson": ("cli", "orjson", "cpu"),
    "cli, no intervals / orjson": ("no-intervals", "orjson", "cpu"),
    "api / msgspec": ("api", "msgspec", "cpu"),
    "two processes / msgspec, wall": ("two", "msgspec", "wall"),
    "api + 10,000 resamples / msgspec": ("resampled", "msgspec", "cpu"),
    "memory, api / orjson": ("api", "orjson", "peak"),
}
LIMITS: dict[str, tuple[float | None, float | None, float | None]] = {
    "api / orjson": (0.9, 0.45, 0.45),
    "warm / orjson": (None, 0.2, 0.2),
    "cli, no intervals / orjson": (None, 0.6, 0.6),
    "api / msgspec": (1.5, 0.9, 0.9),
    "two processes / msgspec, wall": (None, 2.0, 2.0),
    "api + 10,000 resamples / msgspec": (3.5, 2.5, 2.5),
    "memory, api / orjson": (0.5, 0.25, 0.25),
}
"""For 1,000, 10,000 and 100,000 notes."""
LIMITS_OTHERWISE = {"api / orjson": (0.9, 0.6, 0.6), "api / msgspec": (1.5, 1.2, 1.2)}
"""Where another program wrote the files."""
GROWTH = 11
"""Ten times the notes, and a tenth of it."""
OTHER = ", written otherwise"
SIZES = (1_000, 10_000, 100_000)
LIMIT_WORKS = ("simdjson", "scan")
WORKS = (*LIMIT_WORKS, "orjson", "msgspec", "api", "warm", "resampled", "cli", "no-intervals", "two")
WORKER = Path(__file__).with_name("decode_or_score.py")
LIMITER = Path(__file__).with_name("reading_limits.py")


def measure(work: str, folder: Path) -> dict[str, float]:
    """CPU and wall seconds, and bytes at the peak, of one work in a process of its own."""
    threads = {"OPENBLAS_NUM_THREADS": "1"}
    words = [_python_with_simdjson(), str(LIMITER)] if work in LIMIT_WORKS else [sys.executable, str(WORKER)]
    told = subprocess.run(
        [*words, work, str(folder)],
        capture_output=True, text=True, check=True, env=os.environ | threads,
    )  # fmt: skip
    found: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return found


@cache
def _python_with_simdjson() -> str:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    return str(import_module("tools.peer_env").ready("simdjson"))


def compare(folder: Path, notes: int, rounds: int) -> dict[str, Any]:
    """Medians and ratios for one size."""
    make_index(folder / "gold.json", folder / "notes.json", folder / INDEX, task="address")
    found = [{work: measure(work, folder) for work in WORKS} for _ in range(rounds)]
    medians = {
        work: {what: statistics.median(row[work][what] for row in found) for what in ("cpu", "wall", "peak")}
        for work in WORKS
    }
    ratios = {
        name: statistics.median(row[ours][what] / row[base][what] for row in found)
        for name, (ours, base, what) in RATIOS.items()
    }
    return {"notes": notes, "rounds": rounds, "medians": medians, "ratios": ratios}


def machine() -> dict[str, Any]:
    """What the numbers were taken on."""
    model = [
        line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")
    ]
    return {
        "cpu": model[0].partition(": ")[2] if model else platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }


def limit_of(ratio: str, result: dict[str, Any]) -> float | None:
    """What a ratio may be at most, for sizes that have a limit."""
    limits = LIMITS | LIMITS_OTHERWISE if result["corpus"] else LIMITS
    return limits[ratio][SIZES.index(result["notes"])] if ratio in limits and result["notes"] in SIZES else None


def told(result: dict[str, Any]) -> str:
    """A table row a ratio, with its limit where there is one."""
    lines = [f"{result['notes']:,} notes{result['corpus']}, {result['rounds']} rounds"]
    for work, row in result["medians"].items():
        lines.append(f"  {work:<34} {row['cpu']:7.3f} s CPU {row['wall']:7.3f} s {row['peak'] / 1e6:7.0f} MB")
    for name, ratio in result["ratios"].items():
        limit = limit_of(name, result)
        lines.append(f"  {name:<34} {ratio:7.2f}" + (f"   (limit {limit})" if limit else ""))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--folder", type=Path, help="gold.json, predictions.json and notes.json made by someone else")
    options = parser.parse_args()
    given = [options.folder / f"{role}.json" for role in ("gold", "predictions", "notes")] if options.folder else []
    if missing := [str(path) for path in given if not path.is_file()]:
        parser.error(f"there is no {', no '.join(missing)}")
    results = []
    for notes in options.notes or SIZES[:2]:
        for corpus in (f" of {options.folder}",) if options.folder else ("", OTHER):
            with tempfile.TemporaryDirectory() as made:
                folder = options.folder or Path(made)
                if options.folder is None:
                    write(folder, notes, other=corpus == OTHER)
                results.append({"corpus": corpus} | compare(folder, notes, options.rounds))
                print(told(results[-1]), flush=True)
    grown = growth(results)
    for name, times in grown.items():
        print(f"{name:<44} {times:5.2f}   (limit {GROWTH})")
    if options.json:
        text = json.dumps({"machine": machine(), "results": results}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 1 if any(map(beyond, results)) or max(grown.values(), default=0) > GROWTH else 0


def growth(results: list[dict[str, Any]]) -> dict[str, float]:
    """How many times what 10,000 notes take ten times as many take."""
    by_size = {(row["corpus"], row["notes"]): row["medians"]["api"] for row in results}
    corpora = [corpus for corpus, notes in by_size if notes == SIZES[2] and (corpus, SIZES[1]) in by_size]
    return {
        f"{what} of ten times the notes{corpus}": by_size[corpus, SIZES[2]][what] / by_size[corpus, SIZES[1]][what]
        for corpus in corpora
        for what in ("cpu", "peak")
    }


def beyond(result: dict[str, Any]) -> list[str]:
    """The ratios that are above their limits."""
    return [name for name, ratio in result["ratios"].items() if ratio > (limit_of(name, result) or ratio)]


if __name__ == "__main__":
    raise SystemExit(main())

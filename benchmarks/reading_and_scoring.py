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
from pathlib import Path
from typing import Any

from corpus import write

LIMITS = {"api / orjson": {1_000: 1.7, 10_000: 1.45, 100_000: 1.45}, "cli / orjson": {10_000: 1.7, 100_000: 1.7}}
RATIOS = {
    "api / orjson": ("api", "orjson", "cpu"),
    "cli / orjson": ("cli", "orjson", "cpu"),
    "api / msgspec": ("api", "msgspec", "cpu"),
    "two processes / msgspec, wall": ("two", "msgspec", "wall"),
    "memory, api / orjson": ("api", "orjson", "peak"),
}
WORKS = ("orjson", "msgspec", "api", "cli", "two")
WORKER = Path(__file__).with_name("decode_or_score.py")


def measure(work: str, folder: Path) -> dict[str, float]:
    """CPU and wall seconds, and bytes at the peak, of one work in a process of its own."""
    threads = {"OPENBLAS_NUM_THREADS": "1"}
    told = subprocess.run(
        [sys.executable, str(WORKER), work, str(folder)],
        capture_output=True, text=True, check=True, env=os.environ | threads,
    )  # fmt: skip
    found: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return found


def compare(folder: Path, notes: int, rounds: int) -> dict[str, Any]:
    """Medians and ratios for one size."""
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


def told(result: dict[str, Any]) -> str:
    """A table row a ratio, with its limit where there is one."""
    lines = [f"{result['notes']:,} notes, {result['rounds']} rounds"]
    for work, row in result["medians"].items():
        lines.append(f"  {work:<30} {row['cpu']:7.3f} s CPU {row['wall']:7.3f} s {row['peak'] / 1e6:7.0f} MB")
    for name, ratio in result["ratios"].items():
        limit = LIMITS.get(name, {}).get(result["notes"])
        lines.append(f"  {name:<30} {ratio:7.2f}" + (f"   (limit {limit})" if limit else ""))
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--folder", type=Path, help="gold.json, predictions.json and notes.json made by someone else")
    options = parser.parse_args()
    results = []
    for notes in options.notes or [1_000, 10_000]:
        with tempfile.TemporaryDirectory() as made:
            folder = options.folder or Path(made)
            if options.folder is None:
                write(folder, notes)
            results.append(compare(folder, notes, options.rounds))
            print(told(results[-1]), flush=True)
    if options.json:
        text = json.dumps({"machine": machine(), "results": results}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    beyond = [
        name for row in results for name in LIMITS if row["ratios"][name] > LIMITS[name].get(row["notes"], float("inf"))
    ]
    return 1 if beyond else 0


if __name__ == "__main__":
    raise SystemExit(main())

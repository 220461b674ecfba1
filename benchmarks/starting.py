"""Whole processes, from the start of Python to its end, beside one that only decodes and one that imports numpy.

    python benchmarks/starting.py [--notes 1000] [--rounds 9]

CPU time, medians of interleaved rounds; ratios are taken within a round. Bytecode is written by a first round that
does not count, into a folder that goes away.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import write

ROOT = Path(__file__).resolve().parents[1]
LIMITS = {("score", "decode"): 1.5, ("score and resample", "decode"): 3.3, ("sandscore tasks", "import numpy"): 3.0}
SHOWN = (*LIMITS, ("sandscore score", "decode"), ("sandscore --help", "import numpy"))
MAIN = "from sandscore.cli.main import main; main()"


def programs(folder: Path) -> dict[str, list[str]]:
    """By name: what follows ``python -c``."""
    files = [f"--{role}={folder / role}.json" for role in ("gold", "predictions", "notes")]
    return {
        "decode": [f"from whole_processes import decode; kept = decode({str(folder)!r})"],
        "score": [f"from whole_processes import score; kept = score({str(folder)!r})"],
        "score and resample": [f"from whole_processes import score; kept = score({str(folder)!r}, 10_000)"],
        "sandscore score": [MAIN, "score", "address", *files, f"--output={folder / 'card.json'}"],
        "sandscore tasks": [MAIN, "tasks"],
        "sandscore --help": [MAIN, "--help"],
        "import numpy": ["import numpy"],
    }


def environment(folder: Path) -> dict[str, str]:
    """One thread for everybody, and bytecode in a folder of its own."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    modules = os.pathsep.join((str(ROOT / "scoring"), str(ROOT / "benchmarks")))
    return kept | {"PYTHONPATH": modules, "PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "OPENBLAS_NUM_THREADS": "1"}


def cpu(program: list[str], variables: dict[str, str]) -> float:
    """Seconds of a process, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", *program], check=True, capture_output=True, env=variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder, options.notes)
        works, variables = programs(folder), environment(folder)
        rounds = [{name: cpu(work, variables) for name, work in works.items()} for _ in range(options.rounds + 1)][1:]
    print(f"{options.notes:,} notes, {options.rounds} rounds")
    for name in works:
        print(f"  {name:<36} {statistics.median(row[name] for row in rounds) * 1e3:6.0f} ms CPU")
    ratios = {(ours, base): statistics.median(row[ours] / row[base] for row in rounds) for ours, base in SHOWN}
    for (ours, base), ratio in ratios.items():
        limit = LIMITS.get((ours, base))
        print(f"  {f'{ours} / {base}':<36} {ratio:6.2f}" + (f"      (limit {limit})" if limit else ""))
    return 1 if any(ratios[pair] > limit for pair, limit in LIMITS.items()) else 0


if __name__ == "__main__":
    raise SystemExit(main())

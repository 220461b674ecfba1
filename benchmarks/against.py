"""Another checkout of sandscore beside this one: whether a change made it slower.

    python benchmarks/against.py CHECKOUT [--notes 10000] [--rounds 11] [--only WORD] [--instructions]

Each checkout runs its own code (its kernel must be compiled: ``python hatch_build.py`` there) on the same corpus, turn
by turn. CPU time of whole processes and of the work in them alone; ratios of minima, which other programs disturb
least, and of medians. ``--instructions`` counts instructions by valgrind instead, which nothing disturbs. Exits 1
where a ratio of minima, or of instructions, is above the limit.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import write

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1.03
COUNTING = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
COUNTED = re.compile(r"I *refs: +([\d,]+)")
WORKS = {"api": "api", "cli": "cli", "api and resamples": "resampled", "two processes": "two"}


def checkout_at(place: str) -> Path:
    """What a command line names, where it is a checkout."""
    there = Path(place).resolve()
    if not (there / "scoring" / "sandscore").is_dir():
        raise argparse.ArgumentTypeError(f"{place} is no checkout of sandscore")
    return there


def programs(sizes: dict[int, Path], word: str) -> dict[str, list[str]]:
    """By name, what follows ``python`` in a checkout."""
    works = {
        f"{name}, {notes:,} notes": ["benchmarks/decode_or_score.py", work, str(folder)]
        for notes, folder in sizes.items()
        for name, work in WORKS.items()
    }
    return {name: words for name, words in works.items() if word in name}


def run(
    checkout: Path, words: list[str], bytecode: Path, around: list[str], *, check: bool = True
) -> "subprocess.CompletedProcess[str]":
    """One process in the checkout, whose bytecode is kept aside, so that nothing is written there."""
    variables = {"PYTHONPATH": str(checkout / "scoring"), "PYTHONPYCACHEPREFIX": str(bytecode / checkout.name)}
    quiet = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    return subprocess.run(
        [*around, sys.executable, *words], capture_output=True, text=True, check=check, cwd=checkout,
        env=os.environ | variables | quiet,
    )  # fmt: skip


def instructions(checkout: Path, words: list[str], bytecode: Path) -> dict[str, float]:
    """How many the process and its children executed, from start to end."""
    told = run(checkout, words, bytecode, COUNTING).stderr
    return {"instructions": sum(int(number.replace(",", "")) for number in COUNTED.findall(told))}


def seconds(checkout: Path, words: list[str], bytecode: Path) -> dict[str, float]:
    """CPU of the process and its children, from start to end, and of the work where it says so itself."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(checkout, words, bytecode, [])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    within = {"work": json.loads(done.stdout.splitlines()[-1])["cpu"]} if words[0] != "-c" else {}
    return {"process": whole} | within


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=checkout_at)
    parser.add_argument("--notes", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", metavar="WORD", default="", help="what the name of a case must hold")
    parser.add_argument("--instructions", action="store_true")
    options = parser.parse_args()
    there, beyond = options.checkout, False
    measure, rounds = (instructions, 1) if options.instructions else (seconds, options.rounds)
    with tempfile.TemporaryDirectory() as made:
        sizes = {notes: Path(made) / str(notes) for notes in options.notes or (1_000, 10_000)}
        for notes, folder in sizes.items():
            write(folder, notes)
        bytecode = Path(made) / "bytecode"
        for name, words in programs(sizes, options.only).items():
            for checkout in (there, ROOT):
                run(checkout, words, bytecode, [])
            found = [[measure(checkout, words, bytecode) for checkout in (there, ROOT)] for _ in range(rounds)]
            for what in found[0][0]:
                before, now = ([pair[at][what] for pair in found] for at in (0, 1))
                print(told(f"{name} ({what})", before, now), flush=True)
                beyond |= min(now) / min(before) > LIMIT
    return int(beyond)


def told(name: str, before: list[float], now: list[float]) -> str:
    """A line a case: the least milliseconds, or millions of instructions, there and here, and the ratios."""
    unit = 1e-6 if before[0] > 1e4 else 1e3
    least, middle = min(now) / min(before), statistics.median(now) / statistics.median(before)
    said = f"{name:<44} {min(before) * unit:9.1f} {min(now) * unit:9.1f} {least:6.3f} (medians {middle:.3f})"
    return said + f"   (limit {LIMIT})" * (least > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())

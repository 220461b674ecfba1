"""Predictions of many gigabytes scored within one: the peak of memory, beside the file's size and one a tenth of it.

python benchmarks/bigger_than_memory.py [--gigabytes 10] [--jobs 1]

Takes about 1.5 times the gigabytes of disk, below TMPDIR, and some seconds a gigabyte.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from corpus import TYPES, compact, word

LIMIT = 1e9
NOTES_A_GIGABYTE = 20_000
_KINDS_OF_NOTES = 40
_PART = 10
SCORE = """
import contextlib, io, json, resource, sys, time
from pathlib import Path
from sandscore.cli.main import run
with contextlib.redirect_stdout(io.StringIO()):
    code = run(sys.argv[1:])
lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) << 10
usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
cpu = sum(one.ru_utime + one.ru_stime for one in usage)
print(json.dumps({"code": code, "cpu": cpu, "peak": peak, "other": usage[1].ru_maxrss << 10}))
"""


def a_note(r: random.Random, size: float) -> tuple[str, list[str], list[str]]:
    """A text with a predicted annotation at every word, ``size`` bytes of them in all, and some gold."""
    text, gold, predicted, filled = " ", list[str](), list[str](), 0
    while filled < size:
        said, kind = word(r), r.choice(TYPES)
        row = {"start": len(text), "length": len(said), "text": said, "addressType": kind}
        predicted.append(compact(row | {"confidence": r.randint(1, 100)}))
        if r.random() < 0.05:
            gold.append(compact(row | {"addressType": r.choice((kind, "zip")), "confidence": 100}))
        filled += len(predicted[-1]) + 1
        text += f"{said} "
    return text, gold, predicted


def write(folder: Path, size: float, notes: int) -> int:
    """Notes, gold and ``size`` bytes of predictions; how many annotations those are."""
    r = random.Random(1)
    kinds = [a_note(r, size / notes) for _ in range(_KINDS_OF_NOTES)]
    joined = [(text, ",".join(gold), ",".join(predicted)) for text, gold, predicted in kinds]
    with (
        (folder / "notes.json").open("w", encoding="utf-8") as texts,
        (folder / "gold.json").open("w", encoding="utf-8") as gold,
        (folder / "predictions.json").open("w", encoding="utf-8") as predictions,
    ):
        for number in range(notes):
            before = "," if number else "["
            name = f"dataset/bench/fhirStores/evaluation/fhir/Note/n{number:07d}"
            head = f'{before}{{"annotationSource":{{"resourceSource":{{"name":"{name}"}}}},'
            text, right, found = joined[number % _KINDS_OF_NOTES]
            texts.write(before + compact({"identifier": f"n{number:07d}", "text": text}))
            gold.write(f'{head}"textPhysicalAddressAnnotations":[{right}]}}')
            predictions.write(f'{head}"textPhysicalAddressAnnotations":[{found}]}}')
        for file in (texts, gold, predictions):
            file.write("]")
    return sum(len(kinds[number % _KINDS_OF_NOTES][2]) for number in range(notes))


def measure(gigabytes: float, jobs: int) -> tuple[float, float]:
    """The peak in bytes and the CPU microseconds an annotation."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        annotations = write(folder, gigabytes * 1e9, round(gigabytes * NOTES_A_GIGABYTE))
        size = (folder / "predictions.json").stat().st_size
        words = ["score", "address", "--jobs", str(jobs), "-o", str(folder / "card.json")]
        for role in ("gold", "predictions", "notes"):
            words += [f"--{role}", str(folder / f"{role}.json")]
        run = [sys.executable, "-c", SCORE, *words]
        alone = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        told = json.loads(subprocess.run(run, stdout=subprocess.PIPE, check=True, env=alone).stdout)
    if told["code"]:
        raise SystemExit(f"sandscore ended with {told['code']}")
    peak, each = told["peak"], 1e6 * told["cpu"] / annotations
    print(
        f"{size / 1e9:6.2f} GB, {annotations:,} annotations: peak {peak / 1e6:.0f} MB, {peak / size:.3f} of the file"
        + (f" (another process {told['other'] / 1e6:.0f} MB)" if jobs > 1 else "")
        + f"; {each:.2f} µs of CPU an annotation",
        flush=True,
    )
    return max(peak, told["other"] if jobs > 1 else 0), each


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    _, before = measure(options.gigabytes / _PART, options.jobs)
    peak, each = measure(options.gigabytes, options.jobs)
    print(f"peak {peak / 1e6:.0f} MB (limit {LIMIT / 1e6:.0f}); an annotation takes {each / before:.2f} times as long")
    return 1 if peak > LIMIT else 0


if __name__ == "__main__":
    raise SystemExit(main())

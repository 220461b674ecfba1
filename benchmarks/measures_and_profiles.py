"""General measures and profiles in another checkout and in this one: CPU time from files to a card.

    python benchmarks/measures_and_profiles.py CHECKOUT [--notes 10000] [--rounds 3] [--only WORD]

Each checkout runs its own code (its kernel must be compiled: ``python hatch_build.py`` there) on the same corpus, turn
by turn, and both must make the same card, their release and the order of keys aside; a profile that the other
checkout does not know is left out. Ratios are of the least user time of the rounds, there by here: what the system
spends on giving out memory depends on what else the machine does. There is no limit.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from against import checkout_at
from corpus import write

ROOT = Path(__file__).resolve().parents[1]
MEASURES = ("iou", "iou(unit=token)", "overlap", "semeval")
PROFILES = ("nlpsandbox-client", "neleval", "semeval", "span-labels", "i2b2", "presidio", "tab-2022")
WORK = """
import gc, hashlib, json, resource, sys
import sandscore
from pathlib import Path
from sandscore.annotations.input_files import Inputs
from sandscore.base.errors import UsageFault
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.profiles.profile_registry import find_profile
from sandscore.scoring.card_building import Question, dumped
from sandscore.original_scores.original_flow import score_files_as
from sandscore.scoring.scoring_flow import score_files
from sandscore.task_table.task import TASKS
kind, name, *folders = sys.argv[1:]
question = Question(TASKS["address"], (name,) if kind == "measure" else (), load_hipaa_map())
try:
    profile = find_profile(name) if kind == "profile" else None
except UsageFault:
    sys.exit(print("null"))
for folder in folders:  # the first one is small: what is imported is not what is measured
    inputs = Inputs(*(Path(folder) / f"{role}.json" for role in ("gold", "predictions", "notes")))
    gc.collect()
    gc.disable()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    card = (score_files_as(profile, question, inputs) if profile else score_files(question, inputs)).card
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
said = json.dumps(json.loads(dumped(card).replace(sandscore.__version__.encode(), b"")), sort_keys=True)
print(json.dumps([spent, hashlib.sha256(said.encode()).hexdigest()]))
"""


def seconds(checkout: Path, kind: str, name: str, folders: list[str]) -> tuple[float, str] | None:
    """User CPU of one scoring in that checkout, and the card's hash; None where it does not know that profile."""
    done = subprocess.run(
        [sys.executable, "-c", WORK, kind, name, *folders],
        capture_output=True, text=True, check=True, cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout / "scoring"), "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return found and (found[0], found[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=checkout_at)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="what the name of a case must hold")
    options = parser.parse_args()
    cases = [("measure", name) for name in MEASURES] + [("profile", name) for name in PROFILES]
    with tempfile.TemporaryDirectory() as made:
        folders = [f"{made}/small", f"{made}/whole"]
        for folder, notes in zip(folders, (50, options.notes), strict=True):
            write(Path(folder), notes)
        for kind, name in cases:
            if options.only not in f"{kind} {name}":
                continue
            rounds = [
                [seconds(checkout, kind, name, folders) for checkout in (options.checkout, ROOT)]
                for _ in range(options.rounds)
            ]
            found = [(there, here) for there, here in rounds if there and here]
            if not found:
                continue
            if len({card for pair in found for _, card in pair}) > 1:
                raise SystemExit(f"the two disagree on {kind} {name}")
            there, here = (min(pair[at][0] for pair in found) for at in (0, 1))
            print(f"{kind + ' ' + name:<30} {there:8.3f} {here:8.3f} {there / here:7.1f}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

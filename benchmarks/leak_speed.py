"""What measures of leaks cost beside scoring without them: ``python benchmarks/leak_speed.py [NOTES] [ROUNDS]``.

CPU time of loading and scoring the same files in one process, turn by turn; ratios of minima. Code points may cost at
most a tenth more, content and graphemes at most as much again.
"""

import sys
import tempfile
import time
from pathlib import Path

from corpus import write

from sandscore.annotations.input_files import Inputs
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.scoring.card_building import Question
from sandscore.scoring.scoring_flow import score_files
from sandscore.task_table.task import find_task

ASKED = {
    "without": (),
    "char_leak": ("char_leak",),
    "code points, seven measures": (
        "char_leak", "mention_leak", "note_leak", "patient_leak", "char_precision", "over_mask", "char_f",
    ),
    "content": ("char_leak(unit=content)",),
    "graphemes": ("char_leak(unit=graphemes)",),
    "words": ("over_mask_words",),
}  # fmt: skip
LIMITS = {"char_leak": 1.1, "content": 2.0, "graphemes": 2.0}


def main(notes: int = 10_000, rounds: int = 7) -> int:
    """1 where a limit is broken."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = write(Path(folder), notes)
        task, hipaa = find_task("address"), load_hipaa_map()
        inputs = Inputs(files["gold"], files["predictions"], files["notes"])
        for _ in range(rounds):
            for name, measures in ASKED.items():
                begun = time.process_time()
                score_files(Question(task, measures, hipaa), inputs)
                best[name] = min(best.get(name, 1e9), time.process_time() - begun)
    ratios = {name: spent / best["without"] for name, spent in best.items()}
    for name, ratio in ratios.items():
        print(f"{name:30}{ratio:8.3f}")
    return int(any(ratios[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

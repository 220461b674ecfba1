"""The crash suite at length: python benchmarks/queue_crashes.py [KILLS] [SEED]

At least 500 workers die by force over a queue that goes on being filled: at random moments, two at once among them, at
a random touch of a file, with wall clocks that jump by days, disks that are full for a while, and databases that are
set back to a backup. In the end every submission must have ended exactly once, with the right score.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from queue_siege import Siege


def main(kills: int, seed: int) -> None:
    """Lay siege, drain, check, and say what was survived."""
    with tempfile.TemporaryDirectory(prefix="sandscore-siege-") as folder:
        siege = Siege(Path(folder), seed, submissions=100)
        siege.attack(kills)
        siege.drain()
        ended = siege.check()
        lost = siege.lost()
    print(f"seed {seed}: {siege.kills} kills, {siege.doubles} of them two at once, {siege.restores} restored backups")
    print(f"{len(siege.handed_in)} submissions: {dict(sorted(ended.items()))}, each exactly once")
    print(f"{lost} attempts were lost with their worker and made again by another")


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] + ["500", "1"][len(sys.argv) - 1 :])))

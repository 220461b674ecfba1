"""The crash suite at length: python benchmarks/queue_crashes.py [KILLS] [SEED]

At least 500 workers die by force over queues that go on being filled: at random moments, two at once among them; in the
embedded queue at a random touch of a file as well, with wall clocks that jump by days, files that cannot grow, and
databases that are set back to a backup; while a folder that an older version made is moved; over images that rehearse
and wait for ticks; over a year of phases that close, broken edits, restores elsewhere and an
upgrade that is killed as well; on Synapse (a stand-in) while it throttles and loses answers; on a Dask cluster whose
workers and scheduler die too. In the end every submission must have ended exactly once, with the right score.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from queue_band import Band
from queue_samples import as_older_versions
from queue_siege import DaskSiege, ImageSiege, Siege
from submission_queue.synapse_standin import synapse
from synapse_siege import SynapseSiege
from year_siege import YearSiege

SHARES = {"embedded": 0.46, "older": 0.06, "images": 0.06, "year": 0.1, "Synapse": 0.16, "Dask": 0.16}


def embedded(folder: Path, seed: int, kills: int) -> tuple[Band, Counter[str]]:
    siege = Siege(folder, seed, submissions=100)
    siege.attack(kills)
    siege.drain()
    ended = siege.check()
    print(f"{siege.restores} restored backups; {siege.lost()} attempts lost with their worker and made again")
    return siege.band, ended


def older(folder: Path, seed: int, kills: int) -> tuple[Band, Counter[str]]:
    siege = Siege(folder, seed, submissions=30)
    as_older_versions(siege.workspace.root)
    siege.attack(kills)
    siege.drain()
    return siege.band, siege.check()


def images(folder: Path, seed: int, kills: int) -> tuple[Band, Counter[str]]:
    siege = ImageSiege(folder, seed, submissions=20)
    siege.besiege(kills)
    siege.drain()
    return siege.band, siege.check()


def year(folder: Path, seed: int, kills: int) -> tuple[Band, Counter[str]]:
    siege = YearSiege(folder, seed, submissions=40)
    siege.besiege(kills)
    siege.drain()
    ended = siege.check()
    print(f"{siege.edits} edits of the challenge, {siege.moves} restores elsewhere, {siege.refused} refused")
    assert siege.upgrade(max(1, kills // 5)) == ended
    return siege.band, ended


def on_synapse(folder: Path, seed: int, kills: int) -> tuple[Band, Counter[str]]:
    with synapse(folder) as queue:
        siege = SynapseSiege(queue, seed, submissions=20)
        siege.attack(kills)
        siege.drain()
        return siege.band, siege.check()


def on_dask(folder: Path, seed: int, kills: int) -> tuple[Band, Counter[str]]:
    siege = DaskSiege(folder, seed, submissions=60)
    siege.attack(kills)
    siege.drain()
    return siege.band, siege.check()


SIEGES: dict[str, Callable[[Path, int, int], tuple[Band, Counter[str]]]] = {
    "embedded": embedded,
    "older": older,
    "images": images,
    "year": year,
    "Synapse": on_synapse,
    "Dask": on_dask,
}


def main(kills: int, seed: int) -> None:
    """Lay siege, drain, check, and say what was survived."""
    total = 0
    for name, siege in SIEGES.items():
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="sandscore-siege-") as folder:
            band, ended = siege(Path(folder), seed, round(SHARES[name] * kills))
        total += band.kills
        took = time.monotonic() - begun
        print(f"{name}: {band.kills} kills, {band.doubles} times two at once, in {took:.0f} s")
        print(f"  {sum(ended.values())} submissions: {dict(sorted(ended.items()))}, each exactly once", flush=True)
    print(f"seed {seed}: {total} kills in all")


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] + ["500", "1"][len(sys.argv) - 1 :])))

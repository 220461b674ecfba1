"""The servers of a queue under load: python benchmarks/intake_load.py [SUBMISSIONS] [CONNECTIONS] [KILLS] [SEED]

200 teams, 5,000 submissions and 1,000 open connections unless said otherwise, among slow senders and half requests, on
two servers of which one after the other dies by force, as does a worker. In the end every submission that was
answered 201 is listed once, there was no answer of the 500s but 503, and no server took more than 200 MB. Then, with
nobody else there, how long an accepted submission of 1 MB takes beside writing and syncing as much.
"""

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from intake.served import serving
from intake_siege import IntakeSiege
from queue_samples import RIGHT, annotations, queue

from sandscore.intake.team_registry import TeamRegistry

MEGABYTE = 1 << 20
TIMES = 60
MOST_TIMES = 3.0
"""An accepted submission of 1 MB beside writing and syncing it, both at the 95th of a hundred; measured 2.0."""


def besieged(folder: Path, submissions: int, connections: int, kills: int, seed: int) -> None:
    siege = IntakeSiege(folder, teams=200, servers=2, seed=seed)
    begun = time.monotonic()
    try:
        siege.attack(submissions, connections, kills, hands=24)
        found = siege.check()
    finally:
        siege.stop()
    print(f"{len(found)} submissions, each listed once, in {time.monotonic() - begun:.0f} s; {siege.kills} kills")
    print(f"answers: {dict(siege.statuses)}; at most {siege.most_memory / MEGABYTE:.0f} MB a server")
    assert siege.most_memory <= 200 * MEGABYTE


def timed(folder: Path) -> float:
    """The 95th of a hundred, in turns with writing and syncing the same bytes."""
    workspace = queue(folder)
    registry = TeamRegistry(workspace)
    registry.add("A", None, "load")
    token = registry.issue("A", "somebody", "load")
    plain, taken = [], []
    with serving(workspace.root) as server:
        for number in range(TIMES):
            content = annotations(RIGHT) + b" " * MEGABYTE + str(number).encode()
            plain.append(synced(folder / f"plain-{number}", content))
            begun = time.perf_counter()
            status, told = server.hand_in(token, content)
            taken.append(time.perf_counter() - begun)
            assert status == 201, told
    first, second = (statistics.quantiles(times[10:], n=20)[18] for times in (plain, taken))
    told = f"{1000 * second:.1f} ms accepted, {1000 * first:.1f} ms written and synced"
    print(f"1 MB: p95 {told}: {second / first:.1f} times")
    return second / first


def synced(path: Path, content: bytes) -> float:
    begun = time.perf_counter()
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return time.perf_counter() - begun


def main() -> None:
    submissions, connections, kills, seed = [*map(int, sys.argv[1:]), *(5000, 1000, 20, 1)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory(prefix="sandscore-load-") as folder:
        besieged(Path(folder) / "siege", submissions, connections, kills, seed)
        if timed(Path(folder) / "timed") > MOST_TIMES:
            sys.exit(f"an accepted submission may take {MOST_TIMES} times as long as writing and syncing it")


if __name__ == "__main__":
    main()

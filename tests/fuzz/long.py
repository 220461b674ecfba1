"""The long form: 200,000 damaged files in both verbs, then a coverage-guided search on the reader."""

import contextlib
import io
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.hostile import attack
from tqdm import tqdm

SHARDS, ROUNDS = 200, 1000
GUIDED = 100_000


def shard(seed: int) -> str | None:
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with TemporaryDirectory() as folder, quiet[0], quiet[1]:
        try:
            attack(Path(folder), 10_000 + seed, ROUNDS)
        except AssertionError as found:
            return f"seed {10_000 + seed}: {found}"
    return None


def main() -> int:
    with ProcessPoolExecutor(2) as pool:
        found = [bad for bad in tqdm(pool.map(shard, range(SHARDS)), total=SHARDS, unit="k inputs") if bad]
    print("\n".join(found) or f"{SHARDS * ROUNDS:,} hostile inputs, each ended in an exit code of the contract")
    guided = subprocess.run([sys.executable, "-m", "fuzz.guided", f"-atheris_runs={GUIDED}"], check=False)
    return 1 if found or guided.returncode else 0


if __name__ == "__main__":
    sys.exit(main())

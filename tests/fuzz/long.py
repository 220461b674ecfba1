"""The long form: hostile files in both verbs, the kernel among sanitizers and beside the decoder, a guided search."""

import contextlib
import io
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from bounds.pathological import PATHOLOGICAL
from bounds.test_bounds import ENDINGS, Bench
from fuzz.agreement import compare
from fuzz.counting import compare as compare_counts
from fuzz.counting import compared, sanitized
from fuzz.hostile import attack
from fuzz.kernel import UNSET, any_cases, compiled, lanes, told
from fuzz.kernel_edges import cut_off, labelled, long, numbered, taken_apart, turning
from tqdm import tqdm

SHARDS, ROUNDS = 200, 1000
BOUNDS, IN_BOUNDS = 100, 5000
AGREEMENTS, COMPARED = 30, 1000
COUNTS, DATA_SETS, CHECKED, NOTES = 100, 110, 10, 50
FULL_SIZE = 4_500_000
LARGE = {"a string of one escape": 20 << 20, "arrays in annotations": 112 << 20, "blanks": 700 << 20}
FIRST = 10_000
GUIDED = 100_000
ALL_RIGHT = f"""{SHARDS * ROUNDS:,} hostile inputs, each ended in an exit code of the contract
{BOUNDS * IN_BOUNDS:,} blocks that each variant of the kernel read its share of within its bounds
{AGREEMENTS * COMPARED:,} files that the kernel and the decoder read alike
{COUNTS * DATA_SETS * NOTES:,} notes that the kernel and the columns count alike, some of them within bounds"""


def attacked(seed: int) -> None:
    with TemporaryDirectory() as folder:
        attack(Path(folder), seed, ROUNDS)


def bounded(program: Path, some: int, seed: int) -> None:
    told(program, (case.written() for case in chain(any_cases(seed, IN_BOUNDS), labelled(seed))), some)


def agreed(seed: int) -> None:
    with TemporaryDirectory() as folder:
        compare(Path(folder), any_cases(seed, COMPARED), seed)


def agreed_at_edges(_: int) -> None:
    with TemporaryDirectory() as folder:
        compare(Path(folder), chain(turning(), long(), numbered(), cut_off(), taken_apart()))


def counted(library: Path, seed: int) -> None:
    first = seed * DATA_SETS
    compared(library, first, CHECKED)
    for number in range(first + CHECKED, first + DATA_SETS):
        compare_counts(number)


def filed(library: Path, seed: int) -> None:
    first = seed * DATA_SETS
    compared(library, first, DATA_SETS, module="fuzz.tab_files")


def judged(work: Callable[[int], None], seed: int) -> str | None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            work(seed)
        except AssertionError as found:
            return f"{work}, seed {seed}: {found}"
    return None


def dear() -> list[str]:
    """Files that were dear to read once, as large as they were then, in every packing: which are dear again."""
    found = []
    with TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        for one, size in ((one, LARGE.get(one.name, FULL_SIZE)) for one in PATHOLOGICAL):
            for ending in ENDINGS:
                try:
                    bench.hold("predictions", one.made(size, lines=".jsonl" in ending), ending)
                except AssertionError as wrong:
                    found.append(f"{one.name}{ending}, {size:,} bytes: {wrong}")
        bench.close()
    return found


def main() -> int:
    with ProcessPoolExecutor(2) as pool, TemporaryDirectory() as folder:
        program, library, variants = compiled(Path(folder)), sanitized(Path(folder)), lanes()
        looked: list[Callable[[int], None]] = [partial(bounded, program, some) for some in variants]
        if shutil.which("clang"):
            unset = compiled(Path(folder), UNSET, "clang")
            looked += [partial(bounded, unset, some) for some in variants]
        else:
            print("no clang, so nobody looks for memory that was read before it was written")
        parts: tuple[tuple[Callable[[int], None], int], ...] = (
            *((attacked, SHARDS), (agreed, AGREEMENTS), (agreed_at_edges, 1), (partial(counted, library), COUNTS)),
            (partial(filed, library), COUNTS),
            *((work, -(-BOUNDS // len(looked))) for work in looked),
        )
        waiting = [pool.submit(judged, work, FIRST + seed) for work, seeds in parts for seed in range(seeds)]
        found = [bad for one in tqdm(waiting, unit="thousands") if (bad := one.result())]
    found += dear()
    print("\n".join(found) or ALL_RIGHT)
    guided = subprocess.run([sys.executable, "-m", "fuzz.guided", f"-atheris_runs={GUIDED}"], check=False)
    return 1 if found or guided.returncode else 0


if __name__ == "__main__":
    sys.exit(main())

"""What no reader of these files can do without, and what the quickest parser takes for it: CPU seconds, as JSON.

python benchmarks/reading_limits.py simdjson|scan FOLDER

``simdjson`` makes the tape of gold, predictions and notes, into memory that is there already, and looks at nothing in
it; ``scan`` looks at every byte of the three once. It runs in an environment of its own, which has pysimdjson and
nothing of ours.
"""

import gc
import json
import mmap
import sys
import time
from collections.abc import Callable
from pathlib import Path

FILES = ("gold.json", "predictions.json", "notes.json")


def tape(folder: Path) -> Callable[[], object]:
    import simdjson

    parsers, contents = [simdjson.Parser() for _ in FILES], [(folder / name).read_bytes() for name in FILES]

    def work() -> None:
        for parser, content in zip(parsers, contents, strict=True):
            parser.parse(content)

    work()  # makes room
    return work


def scan(folder: Path) -> Callable[[], object]:
    """Looks for a byte that UTF-8 does not have, by the C library's quickest loop."""

    def work() -> bool:
        found = False
        for name in FILES:
            with (folder / name).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                found |= data.find(b"\xff") >= 0
        return found

    work()  # the files are in the page cache then
    return work


def main() -> None:
    work = {"simdjson": tape, "scan": scan}[sys.argv[1]](Path(sys.argv[2]))
    gc.collect()
    gc.disable()
    began, wall = time.process_time(), time.perf_counter()
    work()
    print(json.dumps({"cpu": time.process_time() - began, "wall": time.perf_counter() - wall, "peak": 0}))


if __name__ == "__main__":
    main()

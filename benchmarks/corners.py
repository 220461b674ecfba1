"""Annotations placed to hurt: each shape's CPU time an annotation, as a multiple of the ordinary corpus's.

python benchmarks/corners.py [--annotations 100000] [--rounds 3]
"""

import argparse
import json
import random
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from corpus import TYPES, write
from reading_and_scoring import measure

LIMIT = 2.0
Row = tuple[int, int, str]


def one_note(n: int, r: random.Random) -> list[Row]:
    """One note holds them all, side by side."""
    return [(12 * i, 8, r.choice(TYPES)) for i in range(n)]


def giant_text(n: int, r: random.Random) -> list[Row]:
    """One note as long as all the ordinary ones together."""
    return [(140 * i, 8, r.choice(TYPES)) for i in range(n)]


def equal_starts(n: int, r: random.Random) -> list[Row]:
    """Twenty annotations at each start."""
    return [(12 * (i // 20), 1 + i % 20, r.choice(TYPES)) for i in range(n)]


def overlapping(n: int, r: random.Random) -> list[Row]:
    """Long annotations that all overlap their neighbours."""
    return [(i, 30, r.choice(TYPES)) for i in range(n)]


def nested(n: int, r: random.Random) -> list[Row]:
    """Each inside the one before, by two characters at a time, in towers of twenty."""
    return [(50 * (i // 20) + i % 20, 42 - 2 * (i % 20), r.choice(TYPES)) for i in range(n)]


def copies(n: int, r: random.Random) -> list[Row]:
    """The same few spans again and again."""
    return [(12 * (i % 10), 8, r.choice(TYPES)) for i in range(n)]


SHAPES: tuple[Callable[[int, random.Random], list[Row]], ...] = (
    one_note,
    giant_text,
    equal_starts,
    overlapping,
    nested,
    copies,
)


def write_shape(folder: Path, rows: list[Row], r: random.Random) -> None:
    """One note with the rows as gold; predictions move every tenth by a character, in any order."""
    size = max(start + length for start, length, _ in rows) + 1
    text = "".join(r.choices("abcdefgh ", k=size))
    moved = [(start + (r.random() < 0.1), length, kind) for start, length, kind in rows]
    r.shuffle(moved)
    (folder / "notes.json").write_text(json.dumps([{"identifier": "n", "text": text}]), encoding="utf-8")
    for role, found in (("gold", rows), ("predictions", moved)):
        record = {
            "annotationSource": {"resourceSource": {"name": "a/b/n"}},
            "textPhysicalAddressAnnotations": [entry(text, row) for row in found],
        }
        (folder / f"{role}.json").write_text(json.dumps([record], separators=(",", ":")), encoding="utf-8")


def entry(text: str, row: Row) -> dict[str, Any]:
    start, length, kind = row
    said = text[start : start + length]
    return {"start": start, "length": length, "text": said, "addressType": kind, "confidence": 100}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotations", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    names = ["ordinary", *(shape.__name__ for shape in SHAPES)]
    with tempfile.TemporaryDirectory() as made:
        folders = {name: Path(made) / name for name in names}
        write(folders["ordinary"], options.annotations // 20)
        for shape in SHAPES:
            r = random.Random(1)
            folders[shape.__name__].mkdir()
            write_shape(folders[shape.__name__], shape(options.annotations, r), r)
        rounds = [{name: measure("api", folders[name])["cpu"] for name in names} for _ in range(options.rounds)]
    ratios = {name: statistics.median(row[name] / row["ordinary"] for row in rounds) for name in names}
    for name, ratio in ratios.items():
        print(f"{name:<14} {ratio:6.2f} times the ordinary corpus (limit {LIMIT})")
    return 1 if max(ratios.values()) > LIMIT else 0


if __name__ == "__main__":
    raise SystemExit(main())

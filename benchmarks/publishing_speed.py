"""How long a large board takes to publish, and how large its main page is.

500 submissions, 8 measures, every pair compared, a score card of 72 notes and a
confidence curve of 30 points behind each row. Prints CPU seconds of
the whole command, start of Python included, and exits 1 where the limits are passed.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

SUBMISSIONS, MEASURES, NOTES = 500, 8, 72
CPU_SECONDS, PAGE_BYTES = 5.0, 1_500_000


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "board.json").write_text(json.dumps(board(root / "cards")), encoding="utf-8")
        first, again = publish(root), publish(root)
        page = (root / "site" / "date" / "index.html").stat().st_size
    print(f"first time {first:.2f} s of CPU, again {again:.2f} s (limit {CPU_SECONDS:.0f} s)")
    print(f"main page {page / 1e6:.2f} MB (limit {PAGE_BYTES / 1e6:.1f} MB)")
    return int(max(first, again) > CPU_SECONDS or page > PAGE_BYTES)


def publish(root: Path) -> float:
    """CPU seconds of the command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["sandscore.cli.main", "publish", str(root / "board.json"), "-o", str(root / "site")]
    run = f"from {command[0]} import main; main({command[1:]!r})"
    subprocess.run([sys.executable, "-c", run], check=True, stdout=subprocess.DEVNULL, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def board(cards: Path) -> dict[str, Any]:
    """A board as ``rank`` writes it, with numbers that only look like scores."""
    dice = random.Random(6)
    cards.mkdir()
    rows = [row(place, dice, cards) for place in range(1, SUBMISSIONS + 1)]
    names = [one["submission"] for one in rows]
    return {
        "sandscore": "0.1.0",
        "task": "date",
        "profile": "challenge",
        "phase": None,
        "headline": "measure_0",
        "config": {},
        "seed": "0x0123456789abcdef",
        "gold": {"large": "0123456789ab"},
        "units": 300,
        "rows": rows,
        "pairwise": [
            {"a": a, "b": b, "delta": dice.random(), "p": dice.random(), "p_holm": 1.0, "wins": dice.random()}
            for a, b in combinations(names, 2)
        ],
        "stability": {
            "kendall_tau": {"mean": 0.9, "q": [0.8, 0.9, 0.95]},
            "p_top": {name: {"1": dice.random(), "3": dice.random()} for name in names},
        },
    }


def row(place: int, dice: random.Random, cards: Path) -> dict[str, Any]:
    measures = {f"measure_{number}": measure(dice.random()) for number in range(MEASURES)}
    name = f"submission-{place:03}"
    content = json.dumps(card(name, measures, dice)).encode()
    (cards / f"{place}.json").write_bytes(content)
    return {
        "rank": place,
        "rank_set": [max(1, place - 9), min(SUBMISSIONS, place + 9)],
        "group": 1 + place // 7,
        "team": f"The team of submission {place}",
        "submission": name,
        "image": None,
        "measures": measures,
        "k": 1.0 + place,
        "p_vs_leader": 0.5 / place,
        "p_first": 0.5 / place,
        "created": f"2026-{1 + place % 12:02}-{1 + place % 28:02}",
        "run": {"seconds": {"total": 100.0 + place}, "peak_memory_bytes": 1 << 28},
        "signature": f"date|challenge|gold:0123456789ab|predictions:{place:012x}|v0.1.0",
        "card": {"path": f"cards/{place}.json", "sha256": sha256(content).hexdigest()},
    }


def measure(f1: float) -> dict[str, Any]:
    counts = {"tp": 900, "fp": 40, "fn": 60}
    return {**counts, "precision": 0.957, "recall": 0.9375, "f1": f1, "f1_ci": [0.97 * f1, min(1.0, 1.03 * f1)]}


def card(name: str, measures: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    notes = [f"{note:016x}" for note in range(NOTES)]
    return {
        "sandscore": "0.1.0",
        "submission": name,
        "notes": NOTES,
        "gold_annotations": 960,
        "predicted_annotations": 940,
        "measures": measures,
        "per_label": {f"LABEL-{n}": {"measure_0": {"tp": 90, "fp": dice.randrange(9), "fn": 6}} for n in range(20)},
        "errors": {kind: dice.randrange(60) for kind in ("missed", "spurious", "boundary", "wrong_label")},
        "confidence": {
            "average_precision": 0.9,
            "best_threshold": 15.0,
            "curve": [[float(30 - n), 1 - n * dice.random() / 90, n / 30] for n in range(30)],
        },
        "note_leak": 0.4,
        "per_note": {note: {key: [13, 1, 1] for key in measures} for note in notes},
        "units": {note: note for note in notes},
    }


if __name__ == "__main__":
    sys.exit(main())

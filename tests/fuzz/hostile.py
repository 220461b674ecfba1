"""Hostile files: right ones, damaged in all the ways that a careless or a clever participant could."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

from sandscore.cli.main import run
from sandscore.task_table.task import TASKS

CASES = Path(__file__).resolve().parents[1] / "cases"
ALLOWED = {0, 2, 65, 66, 78}
WORDS = [
    b"null", b"true", b"-1", b"1.0", b"1e999", b"NaN", b"9" * 400, b'"\\ud800"', b"[" * 200, b"{}", b"[]", b'""',
    b"\xff",
    b"\xef\xbb\xbf", b"\x00", b'{"a":1,"a":2}', b"2147483648", b'"\\u0000"', b"\xed\xa0\x80", b"\n", b",", b"}", b"]",
    b":",
    b'"start":1,', b'"annotationSource":', b'"text":"x",', b"\r\n", b"\xe2\x80\xa8", b"1E2", b"-0", b"01", b"'", b"//",
]  # fmt: skip

Damage = Callable[[random.Random, bytes], bytes]


def flip(r: random.Random, data: bytes) -> bytes:
    at = r.randrange(len(data))
    return data[:at] + bytes([r.randrange(256)]) + data[at + 1 :]


def insert(r: random.Random, data: bytes) -> bytes:
    at = r.randrange(len(data))
    return data[:at] + r.choice(WORDS) + data[at:]


def replace_value(r: random.Random, data: bytes) -> bytes:
    places = [i for i, c in enumerate(data) if c == 58]
    if not places:
        return data
    at = r.choice(places) + 1
    ends = [end for end in (data.find(c, at) for c in (b",", b"}", b"]")) if end > 0]
    return data[:at] + r.choice(WORDS) + data[min(ends, default=len(data)) :]


def cut(r: random.Random, data: bytes) -> bytes:
    return data[: r.randrange(len(data))]


def drop(r: random.Random, data: bytes) -> bytes:
    at = r.randrange(len(data))
    return data[:at] + data[at + r.randrange(1, 20) :]


def repeat(r: random.Random, data: bytes) -> bytes:
    at, size = r.randrange(len(data)), r.randrange(1, 200)
    return data[: at + size] + data[at:]


def noise(r: random.Random, _: bytes) -> bytes:
    return r.randbytes(r.randrange(1, 60))


DAMAGES: list[Damage] = [flip, insert, insert, replace_value, replace_value, replace_value, cut, drop, repeat, noise]


def seeds() -> list[tuple[str, bytes]]:
    """Right files of every task, with its name, as one line or many."""
    found = []
    for task in TASKS:
        for path in sorted((CASES / task / "valid").iterdir()):
            data = path.read_bytes()
            found.append((task, data))
            if path.suffix == ".json":
                found.append((task, json.dumps(json.loads(data)).encode()))
    return found


def damaged(r: random.Random, data: bytes) -> bytes:
    for _ in range(r.choice((1, 1, 2, 3))):
        data = r.choice(DAMAGES)(r, data) or b" "
    return data


def attack(folder: Path, seed: int, rounds: int) -> None:
    """Feed damaged gold, predictions or notes to both verbs; every end must be a code of the contract."""
    r, right = random.Random(seed), seeds()
    notes = CASES / "notes.json"
    for number in range(rounds):
        task, data = r.choice(right)
        path = folder / ("x.json.gz" if number % 50 == 0 else "x.json")
        hostile = damaged(r, notes.read_bytes() if number % 7 == 0 else data)
        path.unlink(missing_ok=True)  # written over, it would be on disk before the next step: milliseconds each time
        path.write_bytes(damaged(r, gzip.compress(hostile)) if path.suffix == ".gz" else hostile)
        good = CASES / task / "valid" / "many-notes.json"
        command = {
            0: ["validate", task, good, "--notes", path],
            1: ["validate", task, path, "--notes", notes],
            2: ["score", task, "--gold", good, "--predictions", path, "--notes", notes],
            3: ["score", task, "--gold", path, "--predictions", good],
            4: ["validate", task, path, "--format", "json"],
        }[0 if number % 7 == 0 else r.randrange(1, 5)]
        code = run([str(word) for word in command])
        if code not in ALLOWED:
            kept = folder / f"failed-{seed}-{number}"
            kept.write_bytes(path.read_bytes())
            raise AssertionError(f"exit code {code} of {command}; the file is kept as {kept}")

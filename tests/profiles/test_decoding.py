"""Whatever is decoded quickly is what Python's own reader makes of it, and what that refuses is refused alike."""

import json
import random
from typing import Any

import pytest

from sandscore.original_scores.profile_cards import decoded

NUMBERS = """0 -0 -0.0 1 1.0 1. 01 -1 1e5 1E+5 1e400 -1e400 1e-400 2.2250738585072011e-308 9007199254740993 0.1 1e22
9007199254740993.0 18446744073709551615 18446744073709551616 -9223372036854775809 1180591620717411303424 NaN Infinity
-Infinity null true True 123456789012345678901234567890e-10 + - 0x1""".split()
TEXTS = [
    rb"a\nb",
    b"a\nb",
    b"\x01",
    b"\x7f",
    rb"\ud800",
    rb"\ud83d\ude00",
    b"\xff",
    b"\xed\xa0\x80",
    rb"\/",
    rb"\x",
    b"\xc3\xa9",
]
WHOLE = [
    b"",
    b" ",
    b"[1]x",
    b"[1] ",
    b"\xef\xbb\xbf[]",
    b"[",
    b'{"a": 1, "a": 2}',
    b"{1: 2}",
    b"[1,]",
    "[]".encode("utf-16"),
]
WHOLE += [b"[" * 2_000 + b"]" * 2_000, b"[" * 100_000, b"9" * 4_300, b"9" * 4_301, b"1" * 400 + b".5"]
CASES = [f"[{number}]".encode() for number in NUMBERS] + [b'["%s"]' % text for text in TEXTS] + WHOLE


def outcome(reader: Any, data: bytes) -> str:
    """Its value with types, or the name of what it raises."""
    try:
        return repr(reader(data))
    except (ValueError, RecursionError) as refused:
        return f"{type(refused).__name__}: {refused}"


@pytest.mark.parametrize("data", CASES, ids=lambda data: repr(data[:24]))
def test_as_pythons_own_reader(data: bytes) -> None:
    assert outcome(decoded, data) == outcome(json.loads, data)


def test_random_numbers() -> None:
    rng = random.Random(20261118)
    digits = ["".join(rng.choices("0123456789", k=rng.randint(1, 24))) for _ in range(3_000)]
    for number in digits:
        written = f"{rng.choice(('', '-'))}{number}{rng.choice(('', '.', 'e', 'e-', '.0e'))}{rng.choice(digits)[:3]}"
        data = f"[{written}]".encode()
        assert outcome(decoded, data) == outcome(json.loads, data), written

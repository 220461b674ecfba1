"""The chain of the journal's lines, read by hand: which line is wrong, by its number in the file, and how."""

import hashlib
from collections.abc import Callable

import msgspec
import pytest
from msgspec import Struct

from sandscore.queue.homes.sqlite.journal_chain import ChainEnd, ChainReader, chained


class Said(Struct):
    """Of an entry."""

    what: str


ENTRIES = msgspec.json.Decoder(Said)
OLDER = b'{"what":"old"}\n'


def lines(*said: str, after: bytes = b"") -> list[bytes]:
    """As they are written after older lines, which had no checksum."""
    end = ChainEnd(after.count(b"\n"), hashlib.sha256(after).hexdigest()[:32] if after else "")
    found = []
    for what in said:
        line, end = chained(b'{"what":"%s"}' % what.encode(), end)
        found.append(line)
    return found


def read(*given: bytes) -> tuple[list[str], list[str], int]:
    """What is believed, what is wrong, and the number of the newest line."""
    reader = ChainReader()
    entries = [one.what for data in given for one in reader.read(data, ENTRIES)]
    return entries, [str(fault) for fault in reader.faults], reader.end.number


def test_whole_chains() -> None:
    one, two, three = lines("a", "b", "c")
    assert read(one + two + three) == (["a", "b", "c"], [], 3)
    assert read(one, two + three) == (["a", "b", "c"], [], 3), "in pieces"
    assert read(OLDER * 2, *lines("a", after=OLDER * 2)) == (["old", "old", "a"], [], 3)


@pytest.mark.parametrize(
    ("change", "believed", "wrong"),
    [
        (lambda a, b, c: a + c, ["a", "c"], ["line 2 follows a gap: number 2 is gone"]),
        (lambda a, b, c: b + c, ["b", "c"], ["line 1 follows a gap: number 1 is gone"]),
        (lambda a, b, c: c, ["c"], ["line 1 follows a gap: numbers 1 to 2 are gone"]),
        (lambda a, b, c: a + b + b + c, ["a", "b", "c"], ["line 3 is number 2, moved or repeated"]),
        (lambda a, b, c: a + b[:-2], ["a"], ["line 2 is cut short"]),
        (lambda a, b, c: a + b[:-1], ["a"], ["line 2 is cut short"]),
        (lambda a, b, c: a.replace(b'"a"', b'"x"') + b + c, ["b", "c"], ["line 1 is not as it was written"]),
        (lambda a, b, c: a + OLDER + c, ["a", "c"], ["line 2 is not as it was written"]),
        (lambda a, b, c: a + lines("x", "y")[1] + c, ["a", "y", "c"], [
            "line 2 follows another line than the one before it", "line 3 follows another line than the one before it",
        ]),
    ],
)  # fmt: skip
def test_what_is_wrong_and_where(change: Callable[..., bytes], believed: list[str], wrong: list[str]) -> None:
    assert read(change(*lines("a", "b", "c")))[:2] == (believed, wrong)


def test_a_turned_bit_of_an_older_line_shows_in_the_first_that_has_a_checksum() -> None:
    entries, wrong, _ = read(OLDER.replace(b"old", b"new"), *lines("a", after=OLDER))
    assert (entries, wrong) == (["new", "a"], ["line 2 follows another line than the one before it"])

"""Blocks that end, or turn odd, at every place where the kernel looks at several bytes at once."""

import json
import random
import re
from collections.abc import Iterable, Iterator
from itertools import product

from fuzz.kernel import Case
from kernel_corpus import FORMS, corpus

from sandscore.task_table.task import TASKS

_TURNS = (
    *("é", "“", "😀", "\u3000", "\x7f", '\\"', "\\\\", "\\n", "\\u0000", "\\u00e9", "\\ud83d\\ude00", "\\u3000"),
    *(
        "\\",
        "\\u",
        "\\u12",
        "\\ud83d",
        "\\ud83d\\u",
        "\\ud83d\\udc",
        "\\ude00",
        "\\ude00\\ude00",
        "\\ud83d\\ud83d",
        "\\x",
        '"',
        "\x1f",
        "\n",
        "\r",
    ),
)
_BROKEN = (b"\x80", b"\xc3", b"\xe2\x80", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xff")
TURNS = (*(turn.encode() for turn in _TURNS), *_BROKEN)
DATES = TASKS["date"].array.encode()
NUMERIC = (b"start", b"length", b"confidence")
NUMBERS = (
    b"0",
    b"100",
    b"100.5",
    b"0.1",
    b"9007199254740993",
    b"0.12345678901234567",
    b"1e2",
    b"1.5E-3",
    b"00",
    b"1.",
    b"1e+",
)
NOTE = b'[{"identifier":"n","text":"aa"}]'
_SIGN = re.compile(rb'["{}\[\]:,]|[^"{}\[\]:,]+')
SMALL, LARGE = 18, (255, 256, 257, 4095, 70_000)


def labelled_with(labels: Iterable[str]) -> bytes:
    """An annotation for each label."""
    rows = [{"start": i, "length": 1, "text": "a", "dateFormat": label} for i, label in enumerate(labels)]
    return json.dumps([{"annotationSource": {"resourceSource": {"name": "n"}}, DATES.decode(): rows}]).encode()


def one(text: bytes, label: bytes = b"YYYY", name: bytes = b"n") -> Case:
    """A text that is a note, and annotated."""
    row = b'{"start":0,"length":1,"text":"%b","dateFormat":"%b"}' % (text, label)
    record = b'{"annotationSource":{"resourceSource":{"name":"%b"}},"%b":[%b]}' % (name, DATES, row)
    note = b'{"identifier":"%b","text":"%b","patientId":"%b","type":"%b"}' % (name, text, name, text)
    return Case(b"[%b]" % note, b"[%b]" % record)


def cut_off() -> Iterator[Case]:
    """Blocks of every task and layout, ending at every byte."""
    for number, task in enumerate(TASKS.values()):
        for form, write in FORMS.items():
            notes, records = min((corpus(task, seed) for seed in range(40)), key=lambda made: len(json.dumps(made)))
            said, found = (write(part, False).encode() for part in (notes, records))
            for end in range(max(len(said), len(found)) + 1):
                yield Case(said[:end], found[:end], number, form == "lines", True, end)


def taken_apart() -> Iterator[Case]:
    """Records that say one thing twice, without any one stretch of their signs and words; the same as lines."""
    source = b'"annotationSource":{"resourceSource":{"name":"n"}}'
    listed = b'"%b":[{"start":0,"length":1,"text":"a","dateFormat":"Y","confidence":1}]' % DATES
    for members in ((source, listed, source), (listed, source, listed)):
        signs = _SIGN.findall(b"{%b}" % b",".join(members))
        for begin in range(len(signs)):
            for end in range(begin + 1, len(signs) + 1):
                left = b"".join(signs[:begin] + signs[end:])
                yield Case(NOTE, b"[%b]" % left)
                yield Case(NOTE[1:-1], left + b"\n" + left, lines=True)


def turning() -> Iterator[Case]:
    """Texts, labels and names with something odd after any few bytes and before any few, some cut off right there."""
    for turn in TURNS:
        for before in range(SMALL):
            for after in range(SMALL):
                odd = b"a" * before + turn + b"b" * after
                case = (one(odd), one(b"a", label=odd), one(b"a", name=odd))[(before + after) % 3]
                yield case
                if turn in case.block:
                    end = case.block.index(turn) + len(turn) + after % 3
                    yield Case(case.notes[: case.notes.find(turn) + len(turn)], case.block[:end])


def long() -> Iterator[Case]:
    """Texts longer than any step, of one character each, at every alignment."""
    for sign in ("a", " ", "a ", "é", "é ", "\u3000😀", "\\n", "\\ud83d\\ude00", '\\"'):
        for size in LARGE:
            for more in range(8):
                yield one(sign.encode() * size + b"a" * more, label=sign.encode() * 20)


def numbered() -> Iterator[Case]:
    """Numbers with more and more digits, and nothing behind some of them."""
    row = b'[{"annotationSource":{"resourceSource":{"name":"n"}},"%b":[{"text":"a","%b":%b'
    for name in NUMERIC:
        for number in NUMBERS:
            for noughts in range(80):
                for written in (number + b"0" * noughts, b"0" * noughts + number, b"0." + b"0" * noughts + number):
                    begun = row % (DATES, name, written)
                    others = b"".join(b',"%b":1' % other for other in NUMERIC if other != name)
                    yield from (Case(NOTE, begun), Case(NOTE, begun + others + b"}]}]"))


def colliding() -> Case:
    """Labels that all hash alike."""
    return Case(NOTE, labelled_with(map("".join, product(("a" * 8,), *[("Aa", "BB")] * 5, ("z" * 8,)))))


def labelled(seed: int) -> Iterator[Case]:
    """More spellings than the kernel holds, of more bytes than it holds, or one longer than it takes."""
    r = random.Random(seed)
    for number in range(160):
        few, longest = r.choice((3, 50)), 300 if number % 8 == 0 else r.choice((6, 256))
        labels = [r.choice("YM") * r.randint(longest // 3, longest) for _ in range(few)]
        yield Case(NOTE, labelled_with(labels), seed=r.getrandbits(40))

"""Generators of files that are dear to read: each makes about so many bytes, as an array or as lines of JSON.

``{note}`` stands for the name of a note that there is, ``NOTE_TEXT`` for how each of them begins.
"""

import random
from collections.abc import Callable, Iterator
from itertools import count

from msgspec import Struct

NOTE_TEXT = "seen 01/02/2020 by Ba Ce, a b c d e f g h. "
"""A note is this text, repeated."""
Record = Callable[[int], bytes]
SOURCE = b'{"annotationSource":{"resourceSource":{"name":"%s"}},"textDateAnnotations":[%s]}'
RIGHT = b'{"start":5,"length":10,"text":"01/02/2020","confidence":50.5,"dateFormat":"MM/DD/YYYY"}'


class Pathological(Struct, frozen=True):
    """A generator by name: ``record`` makes the records one after the other, or ``whole`` the whole file."""

    name: str
    record: Record | None = None
    whole: Callable[[int], bytes] | None = None

    def made(self, size: int, *, lines: bool) -> bytes:
        """A file of about ``size`` bytes."""
        if self.whole is not None:
            return self.whole(size)
        joint = b"\n" if lines else b","
        joined = joint.join(_up_to(self.record or _empty, size))
        return joined + b"\n" if lines else b"[" + joined + b"]"


def _empty(_: int) -> bytes:
    return b"{}"


def _up_to(record: Record, size: int) -> Iterator[bytes]:
    made = 0
    for number in count():
        one = record(number)
        yield one
        made += len(one) + 1
        if made >= size:
            return


def name_of(number: int) -> bytes:
    """The names of notes."""
    return b"n%d" % number


def _about(name: bytes, annotations: bytes) -> bytes:
    return SOURCE % (name, annotations)


def _annotated(annotation: Callable[[int], bytes], each: int = 1000) -> Record:
    """Records of so many annotations, numbered through."""

    def record(number: int) -> bytes:
        first = number * each
        return _about(name_of(number), b",".join(annotation(first + i) for i in range(each)))

    return record


def _filled(unit: bytes, before: bytes = b"", after: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: before + unit * (max(1, size - len(before) - len(after)) // len(unit)) + after


def _noise(size: int) -> bytes:
    return random.Random(1).randbytes(size)


def _keys(size: int) -> bytes:
    """One object of many keys."""
    return b"{" + b",".join(b'"k%d":%d' % (i, i) for i in range(size // 16)) + b"}"


def _same_keys(size: int) -> bytes:
    return b"[{" + _filled(b'"a":1,')(size) + b'"a":1}]'


def _property(value: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """A right record but for one more property of about the size."""

    def made(size: int) -> bytes:
        return b"[" + _about(b"n0", RIGHT)[:-1] + b',"more":' + value(size) + b"}]"

    return made


def _valued(**values: bytes) -> Callable[[int], bytes]:
    """The right annotation with other values; ``#`` in them is the annotation's number."""
    right = {
        "start": b"5", "length": b"10", "text": b'"01/02/2020"', "confidence": b"50.5", "dateFormat": b'"MM/DD/YYYY"',
    }  # fmt: skip
    wanted = {name: value for name, value in (right | values).items() if value}
    pattern = b"{" + b",".join(b'"%s":%s' % (name.encode(), value) for name, value in wanted.items()) + b"}"
    return lambda number: pattern.replace(b"#", b"%d" % number)


def _tokens(size: int) -> bytes:
    """A note's text, whole, again and again: as many white-space tokens as there can be."""
    text = (NOTE_TEXT * 20).strip()
    one = b'{"start":0,"length":%d,"text":"%s"}' % (len(text), text.encode())
    return b"[" + _about(b"n0", b",".join([one] * (size // len(one) + 1))) + b"]"


PATHOLOGICAL = [
    Pathological("empty objects", _empty),
    Pathological("numbers", lambda _: b"1"),
    Pathological("numbered", lambda n: b"%d" % n),
    Pathological("strings", lambda _: b'"a"'),
    Pathological("nulls", lambda _: b"null"),
    Pathological("empty arrays", lambda _: b"[]"),
    Pathological("arrays of arrays", lambda _: b"[[]]"),
    Pathological("different objects", lambda n: b'{"a":%d}' % n),
    Pathological("different keys", lambda n: b'{"a%d":1}' % n),
    Pathological("hundred levels", lambda _: b"[" * 98 + b"]" * 98),
    Pathological("levels in annotations", _annotated(lambda _: b'{"x":' + b"[" * 40 + b"]" * 40 + b"}", 50)),
    Pathological("arrays in annotations", _annotated(lambda _: b'{"x":[' + b"[]," * 24_000 + b"0]}", 1)),
    Pathological("arrays in one annotation", whole=_property(_filled(b"[],", b"[", b"0]"))),
    Pathological("a string of one escape", whole=_property(_filled(b"a", b'"\\ud800', b'"'))),
    Pathological("a string of escapes", whole=_property(_filled(b"\\u0061", b'"', b'"'))),
    Pathological("a string of backslashes", whole=_property(_filled(b"\\\\", b'"', b'"'))),
    Pathological("a string of surrogates", whole=_property(_filled(b"\\ud83d\\ude00", b'"', b'"'))),
    Pathological("one wide character", whole=_property(_filled(b"a", '"😀'.encode(), b'"'))),
    Pathological("a long key", whole=lambda size: b'[{"' + b"k" * size + b'":1}]'),
    Pathological("a long number", whole=_property(_filled(b"1"))),
    Pathological("a long fraction", whole=_property(_filled(b"1", b"0."))),
    Pathological("numbers too large", lambda _: b"1e999"),
    Pathological("not numbers", lambda _: b"NaN"),
    Pathological("empty annotations", _annotated(lambda _: b"{}")),
    Pathological("numbers for annotations", _annotated(lambda _: b"1")),
    Pathological("texts that are elsewhere", _annotated(_valued(start=b"6"))),
    Pathological("texts that are nowhere", _annotated(_valued(text=b'"ab#"', length=b"3"))),
    Pathological("beyond the note", _annotated(_valued(start=b"9000000"))),
    Pathological("lengths of other texts", _annotated(_valued(length=b"11"))),
    Pathological("the same annotation", _annotated(_valued())),
    Pathological("ever longer ones", _annotated(_valued(confidence=b"#e-9"))),
    Pathological("labels of all kinds", _annotated(_valued(dateFormat=b'"D#"'))),
    Pathological("numbers for labels", _annotated(_valued(dateFormat=b"#"))),
    Pathological("confidences beyond", _annotated(_valued(confidence=b"1#"))),
    Pathological("fractions that are whole", _annotated(_valued(start=b"5.0"))),
    Pathological("properties of all kinds", _annotated(lambda n: RIGHT[:-1] + b',"p%d":1}' % n)),
    Pathological("one more property", _annotated(lambda _: RIGHT[:-1] + b',"p":1}')),
    Pathological("properties given twice", _annotated(lambda _: RIGHT[:-1] + b',"start":5}')),
    Pathological("notes there are not", lambda n: _about(b"x%d" % n, b"")),
    Pathological("one note again and again", lambda _: _about(b"n0", RIGHT)),
    Pathological("notes without a name", lambda _: b'{"annotationSource":{"resourceSource":{}}}'),
    Pathological("names that are numbers", lambda n: b'{"annotationSource":{"resourceSource":{"name":%d}}}' % n),
    Pathological("records in texts", _annotated(_valued(text=b'"},{\\"annotationSource\\":"', length=b"23"))),
    Pathological("tokens", whole=_tokens),
    Pathological("one object of keys", whole=_keys),
    Pathological("one key again and again", whole=_same_keys),
    Pathological("blanks", whole=_filled(b" ")),
    Pathological("line ends", whole=_filled(b"\n", b"{}\n")),
    Pathological("blanks between", lambda _: b"{" + b" " * 300 + b"}"),
    Pathological("brackets that open", whole=_filled(b"[")),
    Pathological("braces that open", whole=_filled(b'{"a":', b"[")),
    Pathological("commas", whole=_filled(b",", b"[")),
    Pathological("quotation marks", whole=_filled(b'"', b"[")),
    Pathological("backslashes", whole=_filled(b"\\", b'["')),
    Pathological("bytes that are not UTF-8", lambda _: b'{"a":"\xff"}'),
    Pathological("surrogates in each", lambda _: b'{"a":"\\ud800"}'),
    Pathological("noise", whole=_noise),
    Pathological("cut off", whole=_filled(b'{"a":{},"b":[]},', b"[")),
    Pathological("another bracket", whole=_filled(b'{"a":1},', b"[", b'{"b":[1}}]')),
]  # fmt: skip

TEXTS = [
    Pathological("letters", whole=_filled(b"a")),
    Pathological("empty lines", whole=_filled(b"\n")),
    Pathological("short lines", whole=_filled(b"a\n")),
    Pathological("tabs", whole=_filled(b"\t")),
    Pathological("mentions", whole=_filled(b"n0\t0\t1\n")),
    Pathological("candidates", whole=_filled(b"\tNIL\t1\tA", b"n0\t0\t1")),
    Pathological("tokens and tags", whole=_filled(b"a O\n")),
    Pathological("different tags", whole=lambda size: b"".join(b"a B-%d\n" % i for i in range(size // 10))),
    Pathological("text-bound lines", whole=_filled(b"T1\tA 0 4\tseen\n")),
    Pathological("pieces", whole=_filled(b";0 4", b"T1\tA 0 4", b"\tseen\n")),
    Pathological("elements", whole=_filled(b"<a/>", b"<r><TEXT>seen</TEXT><TAGS>", b"</TAGS></r>")),
    Pathological("levels", whole=_filled(b"<a>")),
    Pathological("attributes", whole=_filled(b' a="1"', b"<r", b"/>")),
    Pathological("rows", whole=_filled(b"n0,0,4\n", b"note,start,end\n")),
    Pathological("rows that are wrong", whole=_filled(b"n0,5,4\n", b"note,start,end\n")),
    Pathological("columns", whole=lambda size: b"note,start,end," + b",".join(b"c%d" % i for i in range(size // 8))),
    Pathological("commas in a row", whole=_filled(b",", b"note,start,end\nn0,0,4")),
    Pathological("tables", whole=_filled(b"[a.a.a.a.a.a]\n")),
    Pathological("arrays of tables", whole=_filled(b"[[phases]]\n")),
    Pathological("dotted keys", whole=lambda size: b"a" + b".a" * (size // 2) + b"=1\n"),
    Pathological("lists in lists", whole=_filled(b"[", b"a=")),
    Pathological("lists", whole=_filled(b"[],", b"a=[", b"]\n")),
]
"""Files of text: for formats that are not JSON, and for challenge.toml."""

"""Where a regular block's records and annotations begin, and that nothing else stands between them."""

from dataclasses import dataclass

import msgspec
import numpy as np

from sandscore.reading.columns import Ints, Mask
from sandscore.reading.regular.shape import Form, Shape
from sandscore.reading.regular.words import ROOM, IrregularError, Words

_BRACE = 123
_HEAD = 3
"""Braces of a record before its first annotation's."""
_NAMES = msgspec.json.Decoder(list[str])


@dataclass(frozen=True, slots=True)
class Records:
    """Each record's name, how many annotations it has, where its list begins and, after its first brace, where the
    next record does; and the annotations' braces in turn, with which of them close a list."""

    names: list[str]
    sizes: Ints
    lists: Ints
    following: Ints
    braces: Ints
    closing: Mask


def records_of(words: Words, shape: Shape, form: Form) -> Records:
    """The records; their heads and lists are where they should be."""
    braces = words.where(_BRACE)
    heads = np.flatnonzero(words.are(shape.head[:16], braces))
    if not len(heads) or heads[0] or not form.holds(words.cut(0, int(braces[0])), form.opening):
        raise IrregularError
    at = braces[heads]
    words.require(shape.head, at)
    names, ends = _names(words, at + len(shape.head))
    lists = ends + shape.bracket
    words.require(shape.listing[: shape.bracket], ends)
    sizes = np.diff(heads, append=len(braces)) - _HEAD
    inside = np.ones(len(braces), bool)
    for brace in range(_HEAD):
        inside[heads + brace] = False
    rows = braces[inside]
    closes = np.cumsum(sizes) - 1
    if int(sizes.min()) < 0 or len(rows) != closes[-1] + 1 or not len(rows):
        raise IrregularError
    filled = sizes > 0
    closing = np.zeros(len(rows), bool)
    closing[closes[filled]] = True
    opened = ends[filled] + len(shape.listing)
    words.require(shape.listing, ends[filled])
    if (rows[(closes - sizes + 1)[filled]] != opened - 1).any():
        raise IrregularError
    return Records(names, sizes, lists, np.append(at[1:], words.size), rows, closing)


def _names(words: Words, begins: Ints) -> tuple[list[str], Ints]:
    """The notes' names and where they end."""
    find = words.buffer.find
    ends = [find(b'"', begin, words.size) for begin in begins.tolist()]
    written = [words.buffer[begin:end] for begin, end in zip(begins.tolist(), ends, strict=True)]
    try:
        return _NAMES.decode(b'["%b"]' % b'","'.join(written)), np.array(ends)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise IrregularError from None


def require_edges(words: Words, records: Records, form: Form, ends: Ints, known: Mask) -> Ints:
    """What leads from a last annotation, or none, to the next record or out of the block; where annotations must end.

    ``ends`` is where the annotations end as far as they are ``known``.
    """
    closes = np.flatnonzero(records.closing)
    filled = records.sizes > 0
    following = records.following[filled]
    edges = np.empty(len(closes), np.int64)
    for which, signs in _ways(words, form, following):
        edges[which] = following[which] - _leads(
            words, form, ends[closes[which]], following[which], known[closes[which]], signs
        )
    following, lists = records.following[~filled], records.lists[~filled]
    for which, signs in _ways(words, form, following):
        size = _leads(words, form, lists[which], following[which], np.ones(len(lists), bool)[which], signs)
        if (lists[which] + size != following[which]).any():
            raise IrregularError
    return edges


def _ways(words: Words, form: Form, following: Ints) -> list[tuple[Mask, tuple[bytes, ...]]]:
    last = following == words.size
    return [(~last, form.joint), (last, form.end)]


def _leads(words: Words, form: Form, begins: Ints, ends: Ints, known: Mask, signs: tuple[bytes, ...]) -> int:
    """How much stands before all of these ends: read off the first whose beginning is known, else what may be there."""
    if not len(ends):
        return 0
    which = np.flatnonzero(known)
    if len(which):
        lead = words.cut(int(begins[which[0]]), int(ends[which[0]]))
    else:
        before = words.cut(max(0, int(ends[0]) - ROOM), int(ends[0]))
        lead = before[before.rfind(b"]", 0, before.rfind(b"}")) :]
    if not form.holds(lead, *signs):
        raise IrregularError
    words.require(lead, ends - len(lead))
    return len(lead)

"""The annotations of a regular block as columns; a few that are written otherwise are decoded."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import numpy as np

from sandscore.reading.columns import Floats, Ints, Mask, Small
from sandscore.reading.decoding import Refused, annotation_type, quotes
from sandscore.reading.labels import ABSENT, Vocabulary
from sandscore.reading.regular import numbers
from sandscore.reading.regular.records import Records, records_of, require_edges
from sandscore.reading.regular.shape import LINES, Form, Kind, Shape, shape_of
from sandscore.reading.regular.spellings import Spans, Spellings, sizes_of
from sandscore.reading.regular.texts import plain_and_spaced
from sandscore.reading.regular.words import ROOM, IrregularError, Words
from sandscore.tasks import Task

_SURE = 100
_LONGEST_LEAD = ROOM // 2
_FEW = 8
"""One in so many annotations may be written otherwise."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns of a block. ``begin`` is where texts begin, except those that are ``odd``, which are given."""

    words: Words
    records: Records
    start: Ints
    length: Ints
    begin: Ints
    confidence: Floats
    label: Small
    spaced: Mask
    odd: dict[int, str]

    def __len__(self) -> int:
        return len(self.start)

    def text(self, row: int) -> str:
        """One text."""
        begin = int(self.begin[row])
        return self.odd[row] if row in self.odd else self.words.cut(begin, begin + int(self.length[row])).decode()


class RowReader:
    """Reads the blocks of one file."""

    def __init__(self, task: Task, labels: Vocabulary, second: Vocabulary) -> None:
        self._task = task
        self._vocabularies = {"label": labels, "second": second}
        named = (("label", task.label), ("second", task.second_label))
        self._spellings = {name: Spellings(self._vocabularies[name]) for name, key in named if key}
        self._decoder = msgspec.json.Decoder(list[annotation_type(task)])  # type: ignore[misc]

    def read(self, words: Words, form: Form) -> Rows:
        """A block's rows; IrregularError where it must be read another way."""
        shape = shape_of(words.buffer, form, _keys(self._task), self._task.array.encode())
        names = {member.name for member in shape.members}
        if not _required(self._task) <= names or max(map(len, _leads(shape))) > _LONGEST_LEAD:
            raise IrregularError
        records = records_of(words, shape, form)
        values, right, ends = _values(words, shape, records.braces)
        spans: dict[str, Spans] = {name: values[name] for name in ("label", "second") if name in names}
        right, ends = _bounded(words, shape, form, records, right, ends)
        plain, spaced = plain_and_spaced(words, values["text"], values["length"])
        right &= plain
        odd = np.flatnonzero(~right)
        if len(odd) * _FEW > len(right):
            raise IrregularError
        label = self._codes(words, spans, right)
        sure = values.get("confidence", np.full(len(right), np.nan))
        rows = Rows(words, records, values["start"], values["length"], values["text"], sure, label, spaced, {})
        if len(odd):
            self._by_the_book(rows, odd, ends[odd], form)
        return rows

    def _codes(self, words: Words, spans: dict[str, Spans], right: Mask) -> Small:
        which = slice(None) if right.all() else np.flatnonzero(right)
        label = np.full(len(right), ABSENT, np.int32)
        for name, (begin, end) in spans.items():
            codes = self._spellings[name].codes(words, (begin[which], end[which]))
            if name == "label":
                label[which] = codes
        return label

    def _by_the_book(self, rows: Rows, odd: Ints, ends: Ints, form: Form) -> None:
        """Each of these begins with the only brace it has, so as many as decode at once would do so one by one."""
        begins = rows.records.braces[odd].tolist()
        written = b"[%b]" % b",".join(map(rows.words.cut, begins, ends.tolist()))
        if form is LINES and b"\n" in written:
            raise IrregularError
        try:
            found = self._decoder.decode(written)
            labels = {name: [getattr(one, name) for one in found] for name in self._spellings}
            codes = {name: [self._vocabularies[name][label] for label in said] for name, said in labels.items()}
        except (*Refused, KeyError):
            raise IrregularError from None
        sure = np.array([one.confidence for one in found])
        strings = 4 * len(found) + int(np.count_nonzero(~np.isnan(sure)))
        strings += 2 * sum(len(said) - said.count(None) for said in labels.values())
        if len(found) != len(odd) or quotes(memoryview(written)) != 2 * strings:
            raise IrregularError
        rows.start[odd], rows.length[odd] = [one.start for one in found], [one.length for one in found]
        rows.confidence[odd], rows.label[odd] = sure, codes.get("label", ABSENT)
        rows.odd.update(zip(odd.tolist(), [one.text for one in found], strict=True))


def _bounded(words: Words, shape: Shape, form: Form, records: Records, right: Mask, ends: Ints) -> tuple[Mask, Ints]:
    """Where annotations end, told by what begins after them; right are those that do end there."""
    inner = np.flatnonzero(~records.closing)
    if len(inner) and not shape.gap:
        raise IrregularError
    bounds = np.empty(len(ends), np.int64)
    bounds[inner] = records.braces[inner + 1] - len(shape.gap)
    words.require(shape.gap, bounds[inner])
    bounds[records.closing] = require_edges(words, records, form, ends, right)
    return right & (bounds == ends), bounds


def _values(words: Words, shape: Shape, braces: Ints) -> tuple[dict[str, Any], Mask, Ints]:
    """By member its values, or where they stand; which annotations are as the shape has them, and where those end."""
    at, right = braces, np.ones(len(braces), bool)
    values: dict[str, Any] = {}
    for member in shape.members:
        right &= words.are(member.lead, at)
        at = at + len(member.lead)
        if member.kind == "text":
            if "length" not in values:
                raise IrregularError
            values[member.name], size = at, values["length"]
        elif member.kind == "label":
            size, fits = sizes_of(words, at)
            values[member.name] = at, at + size
            right &= fits
        else:
            read = numbers.whole if member.kind == "whole" else numbers.decimal
            values[member.name], size, fits = read(words, at)
            right &= fits
        at = np.minimum(at + size, words.size)
    right &= words.are(shape.tail, at) & (values["length"] > 0)
    if "confidence" in values:
        right &= values["confidence"] <= _SURE
    return values, right, at + len(shape.tail)


def _leads(shape: Shape) -> list[bytes]:
    return [shape.head, shape.listing, shape.tail, shape.gap, *(member.lead for member in shape.members)]


@cache
def _keys(task: Task) -> dict[bytes, tuple[str, Kind]]:
    """By key: the member's name among ours and what its value is."""
    kinds = {"start": "whole", "length": "whole", "text": "text", "confidence": "share"}
    labels = (("label", task.label), ("second", task.second_label))
    keys: dict[bytes, tuple[str, Kind]] = {name.encode(): (name, kind) for name, kind in kinds.items()}
    return keys | {key.encode(): (name, "label") for name, key in labels if key}


@cache
def _required(task: Task) -> frozenset[str]:
    wanted = {"start", "length", "text"}
    wanted |= {"confidence"} if task.confidence_required else set()
    wanted |= {"label"} if task.label_required and task.label else set()
    return frozenset(wanted | ({"second"} if task.label_required and task.second_label else set()))

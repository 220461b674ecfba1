"""spaCy's DocBin: zlib over MessagePack, tokens as hashes of strings; read and written without spaCy.

Entities are those of ``doc.ents`` and of the span group ``sc``, which may overlap. Written are tokens that no
annotation cuts, so that every offset is kept; confidences stand where spaCy's span categorizer keeps its scores.
"""

import re
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw, Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from sandscore.base.errors import ParticipantFault
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.format_files import one_path, read_bytes
from sandscore.formats.json_fields import JsonObject
from sandscore.formats.note_naming import NoteNaming, as_confidence, as_score, beside, facts_of, more_of
from sandscore.records.document import Annotation

NAME = "spacy"
GROUP = "sc"
ORTH, ENT_IOB, ENT_TYPE = 65, 77, 78
"""The numbers of spaCy's attributes, the same in every release of version 3."""
_INSIDE, _BEGINS = 1, 3
_SPAN = struct.Struct(">QQQllll")
_UNPACKED, _RATIO = 64 << 20, 20
_ROOM, _COST = 160 << 20, 64
"""Bytes of memory for values in lists, and what each of them takes, about."""
_MORE = "more"
_TOGETHER = 16
"""Of so many strings of one length arrays are faster than numbers."""
_MARK64, _MASK64 = 0xC6A4A7935BD1E995, (1 << 64) - 1
_PIECES = re.compile(r"\w+|[^\w\s]|\s")
_MAGIC = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


class _PackedDocs(Struct):
    attrs: list[int]
    tokens: bytes
    spaces: bytes
    lengths: bytes
    strings: Raw
    span_groups: Raw = Raw(b"\x90")
    user_data: Raw = Raw(b"\x90")
    flags: Raw = Raw(b"\x90")


class _Group(Struct):
    spans: list[bytes]
    attrs: JsonObject = {}


def string_hash(text: str) -> int:
    """The number by which spaCy knows a string: a symbol's own, else MurmurHash64A of its bytes with seed 1."""
    known = _symbols().get(text)
    return _murmur(text.encode("utf-8", "surrogatepass")) if known is None else known


@cache
def _symbols() -> dict[str, int]:
    lines = Path(__file__).with_name("spacy_symbols.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return {name: number for number, name in enumerate(lines)}


def _murmur(data: bytes) -> int:
    found = 1 ^ (len(data) * _MARK64 & _MASK64)
    whole = len(data) & ~7
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        mixed = word * _MARK64 & _MASK64
        mixed = (mixed ^ mixed >> 47) * _MARK64 & _MASK64
        found = (found ^ mixed) * _MARK64 & _MASK64
    if data[whole:]:
        found = (found ^ int.from_bytes(data[whole:], "little")) * _MARK64 & _MASK64
    found = (found ^ found >> 47) * _MARK64 & _MASK64
    return found ^ found >> 47


class StringTable(Struct):
    """Strings by their numbers. Most that a file holds may never be asked for: only what is gets a place in a table."""

    texts: Sequence[str]
    numbers: NDArray[np.uint64]
    order: NDArray[np.int64]
    known: dict[int, str]

    @classmethod
    def of(cls, texts: Sequence[str], asked: NDArray[np.uint64]) -> "StringTable":
        """A table of these strings, in which these numbers are looked up at once."""
        hashes = string_hashes(texts)
        order = np.argsort(hashes)
        table = cls(texts, hashes[order], order, {})
        wanted = np.unique(asked)
        places = np.searchsorted(table.numbers, wanted)
        there = places < len(texts)
        there[there] = table.numbers[places[there]] == wanted[there]
        found = [texts[place] for place in order[places[there]].tolist()]
        table.known.update(zip(wanted[there].tolist(), found, strict=True))
        return table

    def find(self, number: int) -> str | None:
        """The string of this number, if there is one."""
        if number not in self.known:
            place = int(np.searchsorted(self.numbers, np.uint64(number)))
            if place == len(self.numbers) or self.numbers[place] != number:
                return None
            self.known[number] = self.texts[int(self.order[place])]
        return self.known[number]


def string_hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """What ``string_hash`` says of each string."""
    data = "".join(texts).encode("utf-8", "surrogatepass")
    pieces = texts if data.isascii() else [text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
    starts = np.cumsum(lengths) - lengths
    held = np.frombuffer(data, np.uint8)
    found = np.zeros(len(texts), np.uint64)
    order = np.argsort(lengths, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1) if len(texts) else ():
        length = int(lengths[group[0]])
        if len(group) < _TOGETHER:
            found[group] = [_murmur(data[start : start + length]) for start in starts[group].tolist()]
        else:
            found[group] = _murmurs(held[starts[group][:, None] + np.arange(length)])
    hashes, numbers = _hashed_symbols()
    places = np.searchsorted(hashes, found).clip(max=len(hashes) - 1)
    return np.where(hashes[places] == found, numbers[places], found)


@cache
def _hashed_symbols() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """What symbols hash to, in order, and the number that each has instead."""
    both = np.array(sorted((_murmur(name.encode()), number) for name, number in _symbols().items()), np.uint64)
    return both[:, 0], both[:, 1]


def _murmurs(pieces: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """What ``_murmur`` says of each row."""
    mark, shift, length = np.uint64(_MARK64), np.uint64(47), pieces.shape[1]
    filled = np.zeros((len(pieces), -(-length // 8) * 8), np.uint8)
    filled[:, :length] = pieces
    words = filled.view("<u8").astype(np.uint64)
    found = np.full(len(words), 1 ^ (length * _MARK64 & _MASK64), np.uint64)
    for word in words.T[: length // 8]:
        mixed = word * mark
        found = (found ^ (mixed ^ mixed >> shift) * mark) * mark
    if length % 8:
        found = (found ^ words[:, -1]) * mark
    found = (found ^ found >> shift) * mark
    return found ^ found >> shift


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """One note a document; its name is ``doc.user_data["note"]``, else it is known by its text."""
    path = one_path(paths, "a DocBin")
    try:
        return _read(path, journal, notes)
    except (msgspec.MsgspecError, struct.error, RecursionError, ValueError, OverflowError) as fault:
        raise ParticipantFault(f"{path}: is no DocBin of spaCy ({type(fault).__name__})") from None


def _read(path: Path, journal: LossJournal, notes: Sequence[CorpusNote] | None) -> Corpus:
    packed = msgspec.msgpack.decode(_unpacked(read_bytes(path), path), type=_PackedDocs)
    lengths = np.frombuffer(packed.lengths, "<i4")
    width = len(packed.attrs)
    tokens = np.frombuffer(packed.tokens, "<u8")
    total = int(lengths.sum(dtype=np.int64))
    if not 0 < width < 100 or ORTH not in packed.attrs or lengths.min(initial=0) < 0 or total * width != len(tokens):
        raise ParticipantFault(f"{path}: is no DocBin of spaCy (tokens and lengths contradict each other)")
    spaces = np.frombuffer(packed.spaces, np.uint8).astype(bool)
    if len(spaces) != total:
        raise ParticipantFault(f"{path}: is no DocBin of spaCy (tokens and spaces contradict each other)")
    strings = StringTable.of(_few(packed.strings, list[str], path), tokens)
    groups: list[bytes] = _few(packed.span_groups, list[bytes], path)
    told: list[bytes | None] = _few(packed.user_data, list[bytes | None], path)
    if len(lengths) * _COST > _ROOM:
        raise ParticipantFault(f"{path}: more documents than are looked into")
    naming = NoteNaming(NAME, path, notes, journal)
    entries, end = [], 0
    for number, length in enumerate(journal.watch(lengths.tolist(), len(lengths), NAME)):
        begin, end = end, end + length
        where = f"{path}, document {number + 1}"
        document = _Document(packed.attrs, tokens[begin * width : end * width].reshape(length, width), strings, where)
        ends, text = document.laid_out(spaces[begin:end])
        data = _user_data(told[number] if number < len(told) else None)
        note = naming.note(data, text, number + 1, where)
        marks = list(_marks(document, ends, groups[number] if number < len(groups) else b"", note, journal))
        entries.append(AnnotatedNote(note, tuple(marks)))
    naming.done()
    return Corpus(tuple(entries))


def _unpacked(data: bytes, path: Path) -> bytes:
    most = _UNPACKED + _RATIO * len(data)
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(data, most)
    except zlib.error:
        raise ParticipantFault(f"{path}: is no DocBin of spaCy (not packed by zlib)") from None
    if not unpacker.eof:
        raise ParticipantFault(f"{path}: is no whole DocBin of spaCy, or unpacks beyond all measure")
    return found


def _few(raw: Raw, kind: Any, path: Path) -> Any:
    """A list that is counted before it takes memory."""
    content = bytes(memoryview(raw)[:5])
    first = content[:1] or b"\xc0"
    if first[0] & 0xF0 != 0x90:
        count = int.from_bytes(content[1 : {0xDC: 3, 0xDD: 5}.get(first[0], 1)], "big")
        if count * _COST > _ROOM:
            raise ParticipantFault(f"{path}: more values in one piece ({count:,}) than are looked into")
    return msgspec.msgpack.decode(raw, type=kind)


def _user_data(held: bytes | None) -> Mapping[str, Any]:
    """What a document says of itself under names that are strings; extensions have other names, and are not read."""
    if not held:
        return {}
    try:
        found = msgspec.msgpack.decode(held)
    except (msgspec.MsgspecError, RecursionError, TypeError):
        return {}
    return {key: value for key, value in found.items() if isinstance(key, str)} if isinstance(found, dict) else {}


class _Document(Struct):
    attrs: list[int]
    tokens: NDArray[np.uint64]
    strings: StringTable
    where: str

    def column(self, attr: int) -> list[int]:
        if attr not in self.attrs:
            return [0] * len(self.tokens)
        found: list[int] = self.tokens[:, self.attrs.index(attr)].tolist()
        return found

    def string(self, number: int) -> str:
        if number == 0:
            return ""
        found = self.strings.find(number)
        if found is None:
            raise ParticipantFault(f"{self.where}: a string is missing from the DocBin")
        return found

    def laid_out(self, spaces: NDArray[np.bool_]) -> tuple[list[tuple[int, int]], str]:
        """Where each token stands, and the text."""
        ends, pieces, at = [], [], 0
        for number, space in zip(self.column(ORTH), spaces.tolist(), strict=True):
            word = self.string(number)
            ends.append((at, at + len(word)))
            pieces += [word, " "] if space else [word]
            at += len(word) + space
        return ends, "".join(pieces)


def _marks(
    document: _Document, places: list[tuple[int, int]], packed: bytes, note: CorpusNote, journal: LossJournal
) -> Iterator[Mark]:
    """The spans of the group, then the entities that are not among them."""
    seen = set()
    for mark in _grouped(document, packed, note, journal):
        seen.add((mark.annotation.start, mark.annotation.end, mark.annotation.label))
        yield mark
    for start, end, kind in _entities(document, places):
        if (start, end, kind) not in seen:
            annotation = journal.cut(NAME, note, (start, end), None, document.where)
            if annotation:
                yield Mark(FLAT, replace(annotation, label=kind))


def _entities(document: _Document, places: list[tuple[int, int]]) -> Iterator[tuple[int, int, str | None]]:
    begun: tuple[int, int, int] | None = None
    for (start, end), place, kind in zip(places, document.column(ENT_IOB), document.column(ENT_TYPE), strict=True):
        goes_on = place == _INSIDE and begun is not None and begun[2] == kind
        if begun is not None and not goes_on:
            yield begun[0], begun[1], document.string(begun[2]) or None
            begun = None
        if place in (_INSIDE, _BEGINS):
            begun = (begun[0], end, kind) if begun is not None else (start, end, kind)
    if begun is not None:
        yield begun[0], begun[1], document.string(begun[2]) or None


def _grouped(document: _Document, packed: bytes, note: CorpusNote, journal: LossJournal) -> Iterator[Mark]:
    held = msgspec.msgpack.decode(packed) if packed else {}
    pairs = [(group, _named(group)) for group in held] if isinstance(held, list) else list(held.items())
    for content, names in pairs:
        if GROUP not in names:
            journal.lose(NAME, f"span groups other than {GROUP}", note.id)
            continue
        group = msgspec.msgpack.decode(content, type=_Group)
        scores = _numbers(group.attrs.get("scores"))
        extras = group.attrs.get(_MORE)
        for number, span in enumerate(group.spans):
            _, _, label, _, _, start, end = next(_SPAN.iter_unpack(span))
            annotation = journal.cut(NAME, note, (start, end), None, f"{document.where}, span {number}")
            if annotation is None:
                continue
            extra = extras[number] if isinstance(extras, list) and number < len(extras) else None
            known: JsonObject = extra if isinstance(extra, dict) else {}
            sure = as_confidence(scores[number], document.where) if number < len(scores) else None
            if "confidence" in known:
                sure = known["confidence"] if isinstance(known["confidence"], int | float) else None
            more = tuple(beside(known, frozenset({"confidence"}), (NAME, note, journal)))
            kind = document.string(label) or None
            yield Mark(FLAT, replace(annotation, label=kind, confidence=sure), more=more)


def _named(group: bytes) -> list[str]:
    held = msgspec.msgpack.decode(group)
    return [str(held.get("name"))] if isinstance(held, dict) else []


def _numbers(held: Any) -> list[float]:
    """Scores as a list, or as an array of numpy's in the form that spaCy packs it in."""
    if isinstance(held, dict):
        plain = {key.decode() if isinstance(key, bytes) else str(key): value for key, value in held.items()}
        kind, data = plain.get("type"), plain.get("data")
        if kind in ("<f4", "<f8") and isinstance(data, bytes):
            held = np.frombuffer(data, kind).tolist()
    return [float(one) for one in held] if isinstance(held, list) else []


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """What ``DocBin().from_disk`` reads: all annotations as spans, those that do not overlap as entities too."""
    strings: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    spaces: list[bool] = []
    lengths, groups, told = [], [], []
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        tokens = _tokens(entry)
        kinds = _entity_tags(entry, tokens)
        for (start, end, space), (place, kind) in zip(tokens, kinds, strict=True):
            word = (entry.note.text or "")[start:end]
            rows.append((_hashed(word, strings), place, _hashed(kind, strings)))
            spaces.append(space)
        lengths.append(len(tokens))
        groups.append(_group(entry, tokens, strings))
        told.append(msgspec.msgpack.encode(facts_of(entry.note)))
    held = {
        "version": "0.1",
        "attrs": [ORTH, ENT_IOB, ENT_TYPE],
        "tokens": np.array(rows, "<u8").tobytes(),
        "spaces": np.array(spaces, bool).tobytes(),
        "lengths": np.array(lengths, "<i4").tobytes(),
        "strings": sorted(strings),
        "cats": [{} for _ in lengths],
        "flags": [{"has_unknown_spaces": False} for _ in lengths],
        "span_groups": groups,
        "user_data": told,
    }
    return zlib.compress(msgspec.msgpack.encode(held))


def _hashed(text: str, strings: dict[str, int]) -> int:
    if text not in strings:
        strings[text] = string_hash(text)
    return strings[text]


def _tokens(entry: AnnotatedNote) -> list[tuple[int, int, bool]]:
    """Words and single marks, cut where annotations begin and end; a space belongs to the token before it."""
    text = entry.note.text or ""
    starts, ends = {mark.annotation.start for mark in entry.marks}, {mark.annotation.end for mark in entry.marks}
    cuts = sorted(starts | ends)
    made: list[tuple[int, int, bool]] = []
    place = 0
    for piece in _PIECES.finditer(text):
        start = piece.start()
        if piece[0] == " " and start not in starts and start + 1 not in ends and made and not made[-1][2]:
            made[-1] = (*made[-1][:2], True)
            continue
        while place < len(cuts) and cuts[place] <= start:
            place += 1
        while place < len(cuts) and cuts[place] < piece.end():
            made.append((start, cuts[place], False))
            start = cuts[place]
            place += 1
        made.append((start, piece.end(), False))
    return made


def _entity_tags(entry: AnnotatedNote, tokens: Sequence[tuple[int, int, bool]]) -> list[tuple[int, str]]:
    """For each token where an entity begins or goes on, and its type; of annotations that overlap the first longest."""
    first = {start: number for number, (start, _, _) in enumerate(tokens)}
    last = {end: number for number, (_, end, _) in enumerate(tokens)}
    tags: list[tuple[int, str]] = [(2, "")] * len(tokens)
    for mark in sorted(entry.marks, key=lambda mark: (-mark.annotation.length, mark.annotation.start)):
        span = mark.annotation
        begin, end = first[span.start], last[span.end] + 1
        if all(place == 2 for place, _ in tags[begin:end]) and span.label:
            tags[begin:end] = [(_INSIDE, span.label)] * (end - begin)
            tags[begin] = (_BEGINS, span.label)
    return tags


def _group(entry: AnnotatedNote, tokens: Sequence[tuple[int, int, bool]], strings: dict[str, int]) -> bytes:
    if not entry.marks:
        return b"\x90"
    first = {start: number for number, (start, _, _) in enumerate(tokens)}
    last = {end: number for number, (_, end, _) in enumerate(tokens)}
    spans = []
    for mark in entry.marks:
        span = mark.annotation
        kind = _hashed(span.label or "", strings)
        spans.append(_SPAN.pack(0, 0, kind, first[span.start], last[span.end] + 1, span.start, span.end))
    group = {
        "name": GROUP,
        "attrs": _attributes([(mark.annotation, more_of(mark)) for mark in entry.marks]),
        "spans": spans,
    }
    return msgspec.msgpack.encode({msgspec.msgpack.encode(group): [GROUP]})


def _attributes(marks: Sequence[tuple[Annotation, dict[str, str]]]) -> JsonObject:
    """Scores where every span has a confidence, and beside each what is said of it."""
    sure = [span.confidence for span, _ in marks]
    scores = [as_score(one) for one in sure if one is not None]
    whole = len(scores) == len(sure)
    exact = whole and all(as_confidence(score, "") == one for score, one in zip(scores, sure, strict=True))
    more = [
        said | ({} if exact or (span.confidence is None and not whole) else {"confidence": span.confidence})
        for span, said in marks
    ]
    return ({"scores": scores} if whole else {}) | ({_MORE: more} if any(more) else {})


class SpacyFormat(FileFormat):
    """Documents of spaCy."""

    name = NAME
    description = "spaCy's DocBin: entities, and the spans of the group sc"
    source = "spaCy 3.8, DocBin"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".spacy",)
    whole = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        if not glance.beginning.startswith(_MAGIC):
            return False
        try:
            return b"\xa5attrs" in zlib.decompressobj().decompress(glance.beginning, 200)
        except zlib.error:
            return False

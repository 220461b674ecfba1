"""Counts that stay: a submission's predictions and its counts note by note, in one file of blocks checked one by one.

When gold changes, only the notes that changed are counted again, for many submissions in one go: each of them becomes a
note of its own in a small data set, so that the measures are those that count everything. Of a submission's file the
head is read, which has its totals, and the blocks of the notes that changed; each has a digest of its own, so that no
damage to what was not read matters. What does not add up over notes (leaks, measures of documents) is not kept: whoever
asks for it scores again.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import accumulate, chain
from pathlib import Path
from struct import Struct as Packed
from struct import unpack_from
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore import __version__
from sandscore.annotations.columns import Columns, Ints, Tokens
from sandscore.annotations.data_set import DataSet, NoteRoll
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.label_codes import ABSENT, LabelCodes, vocabulary
from sandscore.annotations.note_runs import runs_of
from sandscore.measures.dataset_counts import measured
from sandscore.measures.measure_registry import MEASURES, document_measure, measures_for
from sandscore.scoring.card_building import NoteCounts

if TYPE_CHECKING:
    from sandscore.measures.measure_syntax import Named
    from sandscore.records.scorecard import Scorecard
    from sandscore.scoring.card_building import Question

MOST_NOTES = 64
"""Changed notes; beyond them scoring again is hardly slower."""
_TOGETHER = 1 << 26
"""Bytes of annotations that are counted at once."""
_PER_BLOCK, _MOST_BLOCKS = 8, 256
_HEAD = Packed("<16s32s32s32sIII")
"""Digest of what follows, question, gold, predictions; the head's size, how many notes a block and the file have."""
_MARK = Packed("<16s16sI")
"""Digest of what follows, the head's, and the block's number."""
_BORDERS = Packed("<qq")
"""Where a block begins, and where the next one does."""
_DIGEST, _FIRST_READ = 16, 4096
_FIELDS, _COUNT, _TOTAL, _BORDER = 3, 4, 8, 8
_COLUMNS = ("start", "length", "label", "confidence")
_SIZES = np.dtype([("rows", "<u4"), ("tokens", "<u4")])
_ROW = np.dtype([("start", "<i4"), ("length", "<i4"), ("label", "<i4"), ("words", "<i4"), ("confidence", "<f8")])
_TOKEN = np.dtype([("begin", "<i4"), ("size", "<i4")])


class RecountedNotes(Struct, frozen=True):
    """Counts of many submissions with another gold: the notes that changed, and tp, fp and fn before and now.

    ``predictions`` has by submission their SHA-256; ``totals`` are by submission and measure, ``before`` and ``now`` by
    submission, changed note and measure.
    """

    predictions: dict[str, str]
    measures: tuple[str, ...]
    notes: tuple[int, ...]
    totals: Ints
    before: Ints
    now: Ints


def kept_content(question: "Question", loaded: Loaded, card: "Scorecard", notes: str) -> bytes | None:
    """The bytes to keep; None where a measure of the card does not add up over notes. ``notes`` is their SHA-256."""
    measures, columns, counts = _measures(question), loaded.columns["predictions"], card.per_note
    if measures is None or columns.tokens is None or not isinstance(counts, NoteCounts):
        return None
    table, size = counts.table([str(measure) for measure in measures]), len(loaded.dataset.roll)
    step = max(_PER_BLOCK, -(-size // _MOST_BLOCKS))
    bodies = [*_bodies(columns, table, step)]
    labels, totals = msgspec.json.encode(loaded.dataset.vocabulary.names), table.sum(axis=0).tobytes()
    length = _HEAD.size + len(totals) + (len(bodies) + 1) * _BORDER + len(labels)
    borders = np.array([*accumulate((_MARK.size + len(body) for body in bodies), initial=length)], np.int64)
    sources = (bytes.fromhex(loaded.sha256[role]) for role in ("gold", "predictions"))
    head = _HEAD.pack(b"", _asked(question, notes), *sources, length, step, size)
    head += b"".join((totals, borders.tobytes(), labels))
    digest = _digest(head)
    blocks = (_MARK.pack(b"", digest, number) + body for number, body in enumerate(bodies))
    return b"".join(chain((digest, head[_DIGEST:]), *((_digest(block), block[_DIGEST:]) for block in blocks)))


def recounted(
    question: "Question", notes: str, now: Loaded, kept: Mapping[str, Path], golds: Callable[[str], Loaded | None]
) -> Iterator[RecountedNotes]:
    """The counts of submissions with the gold of ``now``; ``golds`` finds another one by its SHA-256.

    Left out are those of which nothing whole was kept that answers this question about these notes, whose gold is gone,
    or since whose gold so many notes changed that scoring again is the shorter way.
    """
    measures, groups = _measures(question), dict[bytes, _Group | None]()
    if measures is None:
        return
    asked = _asked(question, notes)

    def group_of(gold: bytes) -> "_Group | None":
        if gold not in groups:
            before = golds(gold.hex())
            changed = None if before is None else changed_notes(before, now)
            groups[gold] = None if changed is None or len(changed) > MOST_NOTES else _Group(changed)
        return groups[gold]

    for name, path in kept.items():
        with suppress(OSError):
            file = os.open(path, os.O_RDONLY)
            try:
                group = _read(name, file, asked, len(measures), group_of)
            finally:
                os.close(file)
            if group is not None and group.size > _TOGETHER:
                yield _counted(question, measures, now, group)
                group.clear()
    yield from (_counted(question, measures, now, group) for group in groups.values() if group and group.predictions)


class _Group:
    """Submissions that were counted with the same gold, as their files have them; ``notes`` changed since."""

    def __init__(self, notes: tuple[int, ...]) -> None:
        self.notes = notes
        self._blocks: dict[int, list[tuple[int, list[int]]]] = {}
        self.clear()

    def clear(self) -> None:
        """Begin with the next ones."""
        self.size = 0
        self.predictions: dict[str, str] = {}
        self.totals, self.labels = list[bytes](), list[bytes]()
        self.counts, self.rows, self.tokens = list[bytes](), list[bytes](), list[bytes]()
        self.annotations: list[int] = []

    def take(self, block: bytes, notes: int, places: Sequence[int], measures: int) -> None:
        """Some notes' counts and annotations out of a block of so many notes."""
        sizes, width = unpack_from(f"<{2 * notes}I", block, _MARK.size), measures * _FIELDS * _COUNT
        counts_at = _MARK.size + notes * _SIZES.itemsize
        rows_at = counts_at + notes * width
        tokens_at = rows_at + sum(sizes[::2]) * _ROW.itemsize
        for place in places:
            count = counts_at + place * width
            row = rows_at + sum(sizes[: 2 * place : 2]) * _ROW.itemsize
            token = tokens_at + sum(sizes[1 : 2 * place : 2]) * _TOKEN.itemsize
            rows, tokens = sizes[2 * place] * _ROW.itemsize, sizes[2 * place + 1] * _TOKEN.itemsize
            self.counts.append(block[count : count + width])
            self.rows.append(block[row : row + rows])
            self.tokens.append(block[token : token + tokens])
            self.annotations.append(sizes[2 * place])
            self.size += rows + tokens

    def blocks(self, step: int) -> list[tuple[int, list[int]]]:
        """The blocks that hold the notes, and where in them these are."""
        if step not in self._blocks:
            found: dict[int, list[int]] = {}
            for note in self.notes:
                found.setdefault(note // step, []).append(note % step)
            self._blocks[step] = [*found.items()]
        return self._blocks[step]


def _read(
    name: str, file: int, asked: bytes, measures: int, group_of: "Callable[[bytes], _Group | None]"
) -> _Group | None:
    """The group that a submission was put into; None where it cannot be used."""
    head = os.pread(file, _FIRST_READ, 0)
    if len(head) < _HEAD.size:
        return None
    digest, question, gold, predictions, length, step, size = _HEAD.unpack_from(head)
    if question != asked:
        return None
    if length > len(head):
        head = os.pread(file, min(length, os.fstat(file).st_size), 0)
    head = head[:length]
    if _digest(head) != digest or (group := group_of(gold)) is None:
        return None
    borders_at = _HEAD.size + measures * _FIELDS * _TOTAL
    found = []
    for number, places in group.blocks(step):
        first, last = _BORDERS.unpack_from(head, borders_at + number * _BORDER)
        block = os.pread(file, last - first, first)
        if block[: _MARK.size] != _MARK.pack(_digest(block), digest, number):
            return None
        found.append((block, min(step, size - number * step), places))
    for block, notes, places in found:
        group.take(block, notes, places, measures)
    group.predictions[name] = predictions.hex()
    group.totals.append(head[_HEAD.size : borders_at])
    group.labels.append(head[borders_at + (-(-size // step) + 1) * _BORDER :])
    return group


def changed_notes(before: Loaded, now: Loaded) -> tuple[int, ...] | None:
    """The notes of which the two golds say different things; None where what is said of all notes changes with them."""
    golds = before.columns["gold"], now.columns["gold"]
    if before.dataset.roll.ids != now.dataset.roll.ids or bool(golds[0].labels()) is not bool(golds[1].labels()):
        return None
    names = before.dataset.vocabulary.names, now.dataset.vocabulary.names
    numbers = {name: number for number, name in enumerate(dict.fromkeys(chain(*names)))}
    then, later = (_said_of(gold, [numbers[name] for name in own]) for gold, own in zip(golds, names, strict=True))
    return tuple(sorted(note for note in {**then, **later} if then.get(note) != later.get(note)))


def _measures(question: "Question") -> "list[Named] | None":
    """All that are asked for, where each of them adds up over notes."""
    wanted = measures_for(question.task, question.measures)
    odd = (one for one in wanted if document_measure(one.name) is not None or MEASURES.find(one.name).of_positions)
    return wanted if next(odd, None) is None else None


def _asked(question: "Question", notes: str) -> bytes:
    """What is asked about which notes, but not of whom."""
    hipaa = question.hipaa.digest if question.hipaa and question.task.hipaa else None
    return sha256(msgspec.json.encode([__version__, question.task, question.measures, hipaa, notes])).digest()


def _digest(content: bytes) -> bytes:
    """Of all that follows the digest itself."""
    return sha256(content[_DIGEST:]).digest()[:_DIGEST]


def _bodies(columns: Columns, table: Ints, step: int) -> Iterator[bytes]:
    """Of so many notes at a time how many annotations and tokens each has, its counts, and all of them."""
    if bool((columns.note[1:] < columns.note[:-1]).any()):
        columns = runs_of(columns).take(0, len(table))
    told = columns.tokens
    if told is None:
        raise ValueError("columns without tokens are not kept")
    sizes, rows, tokens = (
        np.empty(*of) for of in ((len(table), _SIZES), (len(columns), _ROW), (len(told.begin), _TOKEN))
    )
    rows["words"], tokens["begin"], tokens["size"] = told.words, told.begin, told.size
    for name in _COLUMNS:
        rows[name] = getattr(columns, name)
    sizes["rows"] = np.bincount(columns.note, minlength=len(table))
    sizes["tokens"] = np.bincount(columns.note, weights=told.words, minlength=len(table))
    narrow, row, token = table.astype(np.int32), 0, 0
    for first in range(0, len(table), step):
        some = slice(first, first + step)
        last_row, last_token = row + int(sizes["rows"][some].sum()), token + int(sizes["tokens"][some].sum())
        parts = sizes[some], narrow[some], rows[row:last_row], tokens[token:last_token]
        yield b"".join([part.tobytes() for part in parts])
        row, token = last_row, last_token


def _said_of(gold: Columns, numbers: Sequence[int]) -> dict[int, bytes]:
    """What gold says of each note, in bytes; labels by numbers that both golds share."""
    label = np.array([-1, *numbers], np.int32)[gold.label + 1]
    table = np.column_stack((gold.start, gold.length, label))
    order = np.argsort(gold.note, kind="stable")
    cuts = np.flatnonzero(np.diff(gold.note[order])) + 1
    groups = np.split(order, cuts) if len(order) else []
    return {int(gold.note[rows[0]]): table[rows].tobytes() for rows in groups}


def _counted(question: "Question", measures: "list[Named]", now: Loaded, group: _Group) -> RecountedNotes:
    """A group's counts with gold as it is now."""
    shape = len(group.predictions), len(group.notes), len(measures), _FIELDS
    totals = np.frombuffer(b"".join(group.totals), np.int64).reshape(shape[0], *shape[2:])
    before = np.frombuffer(b"".join(group.counts), np.int32).reshape(shape).astype(np.int64)
    counts = _tables(question, measures, now, group).reshape(shape) if group.notes else before
    changed = totals - before.sum(axis=1) + counts.sum(axis=1)
    return RecountedNotes(group.predictions, tuple(map(str, measures)), group.notes, changed, before, counts)


def _tables(question: "Question", measures: "list[Named]", now: Loaded, group: _Group) -> Ints:
    """Every submission's changed notes, counted as the notes of one data set."""
    labels = vocabulary(question.task, question.task.label)
    labels.learn(now.dataset.vocabulary.names)
    times = len(group.predictions)
    columns = {"predictions": _predicted(group, labels), "gold": _repeated(now.columns["gold"], group.notes, times)}
    count = times * len(group.notes)
    dataset = DataSet(labels, growing=False, roll=NoteRoll([""] * count, [None] * count))
    hipaa = question.hipaa if question.task.hipaa else None
    whole = measured(question.task, Loaded(dataset, columns, {}, {}), measures, hipaa)
    return np.stack([np.asarray(one.per_note, np.int64) for one in whole.counted], axis=1)


def _predicted(group: _Group, known: LabelCodes) -> Columns:
    """What the submissions say of the notes that changed, one submission after the other."""
    rows, tokens = np.frombuffer(b"".join(group.rows), _ROW), np.frombuffer(b"".join(group.tokens), _TOKEN)
    codes, begins = list[int](), dict[bytes, int]()
    for written in dict.fromkeys(group.labels):
        begins[written] = len(codes)
        codes += [ABSENT, *(known[name] for name in msgspec.json.decode(written, type=list[str]))]
    per_note = np.array(group.annotations, np.int64)
    begin = np.repeat(np.array([begins[written] for written in group.labels]), len(group.notes))
    return Columns(
        np.repeat(np.arange(len(per_note), dtype=np.int32), per_note),
        rows["start"].copy(),
        rows["length"].copy(),
        np.array(codes, np.int32)[np.repeat(begin, per_note) + rows["label"] + 1],
        rows["confidence"].copy(),
        tokens=Tokens(rows["words"].copy(), tokens["begin"].copy(), tokens["size"].copy()),
    )


def _repeated(gold: Columns, notes: Sequence[int], times: int) -> Columns:
    """What gold says of these notes, so many times, each time of other notes."""
    runs = runs_of(gold)
    parts = [runs.take(note, note + 1) for note in notes]
    tokens = [part.tokens for part in parts if part.tokens is not None]
    place = np.concatenate([np.full(len(part), at, np.int32) for at, part in enumerate(parts)])
    return Columns(
        np.tile(place, times) + np.repeat(np.arange(times, dtype=np.int32) * len(notes), len(place)),
        **{name: _tiled(parts, name, times) for name in _COLUMNS},
        tokens=Tokens(*(_tiled(tokens, name, times) for name in ("words", "begin", "size"))),
    )


def _tiled(parts: Sequence[Columns] | Sequence[Tokens], name: str, times: int) -> NDArray[Any]:
    return np.tile(np.concatenate([getattr(part, name) for part in parts]), times)

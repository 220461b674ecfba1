"""Counts that stay: a submission's predictions and its counts note by note, as columns in one checked file.

When gold changes, only the notes that changed are counted again, for many submissions in one go: each of them becomes a
note of its own in a small data set, so that the measures are those that count everything. What does not add up over
notes (leaks, measures of documents) is not kept: whoever asks for it scores again.
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct

from sandscore import __version__
from sandscore.annotations import column_bundle
from sandscore.annotations.column_bundle import DamagedBundle
from sandscore.annotations.columns import Columns, Ints, Small, Tokens
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.label_codes import vocabulary
from sandscore.base.column_files import mapped
from sandscore.measures.dataset_counts import measured
from sandscore.measures.measure_registry import MEASURES, document_measure, measures_for

if TYPE_CHECKING:
    from sandscore.measures.measure_syntax import Named
    from sandscore.records.scorecard import Scorecard
    from sandscore.scoring.card_building import Question

MOST_NOTES = 64
"""Changed notes; beyond them scoring again is hardly slower."""
_TOGETHER = 1 << 21
_FIELDS = 3
_COLUMNS = ("note", "start", "length", "label", "confidence")


class KeptHead(Struct, frozen=True, forbid_unknown_fields=True):
    """What was counted with what."""

    sandscore: str
    question: str
    notes: str
    gold: str
    predictions: str
    labels: tuple[str, ...]
    measures: tuple[str, ...]


class KeptCounts(Struct, frozen=True):
    """A submission's predictions, and tp, fp and fn of each note (rows) and measure."""

    head: KeptHead
    columns: Columns
    counts: Small

    @property
    def table(self) -> Small:
        return self.counts.reshape(-1, len(self.head.measures), _FIELDS)


class RecountedNotes(Struct, frozen=True):
    """Counts of many submissions with another gold: the notes that changed, and tp, fp and fn before and now.

    ``totals`` are by submission and measure, ``before`` and ``now`` by submission, changed note and measure.
    """

    notes: tuple[int, ...]
    totals: Ints
    before: Ints
    now: Ints


def kept_content(question: "Question", loaded: Loaded, card: "Scorecard", notes: str) -> bytes | None:
    """The bytes to keep; None where a measure of the card does not add up over notes. ``notes`` is their SHA-256."""
    measures = _measures(question)
    columns = loaded.columns["predictions"]
    if measures is None or columns.tokens is None:
        return None
    names = [str(measure) for measure in measures]
    rows = [[rows[name] for name in names] for _, rows in card.per_note.items()]
    tokens = columns.tokens
    arrays = {name: getattr(columns, name) for name in _COLUMNS}
    arrays |= {"words": tokens.words, "begin": tokens.begin, "size": tokens.size}
    arrays |= {"counts": np.array(rows, np.int32).reshape(-1)}
    labels, gold = tuple(loaded.dataset.vocabulary.names), loaded.sha256["gold"]
    head = KeptHead(__version__, _said(question), notes, gold, loaded.sha256["predictions"], labels, tuple(names))
    return b"".join(column_bundle.pieces(head, arrays))


def kept_counts(path: Path, question: "Question", notes: str) -> KeptCounts | None:
    """What was kept; None where it is not there, is damaged, or answers another question about other notes."""
    try:
        with path.open("rb") as file:
            found = column_bundle.read(mapped(file.fileno(), os.fstat(file.fileno()).st_size), KeptHead)
    except (OSError, DamagedBundle):
        return None
    head, rows = found.head, found.arrays
    if (head.sandscore, head.question, head.notes) != (__version__, _said(question), notes):
        return None
    tokens = Tokens(rows["words"], rows["begin"], rows["size"])
    return KeptCounts(head, Columns(**{name: rows[name] for name in _COLUMNS}, tokens=tokens), rows["counts"])


def recounted(question: "Question", before: Loaded, now: Loaded, kept: Sequence[KeptCounts]) -> RecountedNotes | None:
    """The counts of submissions that were counted with the gold of ``before``, with that of ``now``.

    None where the notes are others, or so many changed that scoring again is the shorter way.
    """
    measures = _measures(question)
    notes = changed_notes(before, now)
    if measures is None or notes is None or len(notes) > MOST_NOTES:
        return None
    totals = np.stack([one.table.sum(axis=0, dtype=np.int64) for one in kept])
    old = np.stack([one.table[list(notes)] for one in kept]).astype(np.int64)
    size = sum(len(one.columns) for one in kept) // len(kept) * len(notes) // max(1, len(now.dataset.ids)) + 1
    step = max(1, _TOGETHER // (size + _per_note(now, notes)))
    pieces = [_counted(question, measures, now, notes, kept[at : at + step]) for at in range(0, len(kept), step)]
    new = np.concatenate(pieces) if notes else old
    return RecountedNotes(notes, totals - old.sum(axis=1) + new.sum(axis=1), old, new)


def changed_notes(before: Loaded, now: Loaded) -> tuple[int, ...] | None:
    """The notes of which the two golds say different things; None where what is said of all notes changes with them."""
    golds = before.columns["gold"], now.columns["gold"]
    if before.dataset.ids != now.dataset.ids or bool(golds[0].labels()) is not bool(golds[1].labels()):
        return None
    names = before.dataset.vocabulary.names, now.dataset.vocabulary.names
    numbers = {name: number for number, name in enumerate(dict.fromkeys(chain(*names)))}
    then, later = (_by_note(gold, [numbers[name] for name in own]) for gold, own in zip(golds, names, strict=True))
    return tuple(sorted(note for note in {**then, **later} if then.get(note) != later.get(note)))


def _measures(question: "Question") -> "list[Named] | None":
    """All that are asked for, where each of them adds up over notes."""
    wanted = measures_for(question.task, question.measures)
    odd = (one for one in wanted if document_measure(one.name) is not None or MEASURES.find(one.name).of_positions)
    return wanted if next(odd, None) is None else None


def _said(question: "Question") -> str:
    """What is asked, but not of whom."""
    hipaa = question.hipaa.digest if question.hipaa and question.task.hipaa else None
    return sha256(msgspec.json.encode([question.task, question.measures, hipaa])).hexdigest()


def _by_note(gold: Columns, numbers: Sequence[int]) -> dict[int, bytes]:
    """What gold says of each note, in bytes; labels by numbers that both golds share."""
    label = np.array([-1, *numbers], np.int32)[gold.label + 1]
    table = np.column_stack((gold.start, gold.length, label))
    order = np.argsort(gold.note, kind="stable")
    cuts = np.flatnonzero(np.diff(gold.note[order])) + 1
    groups = np.split(order, cuts) if len(order) else []
    return {int(gold.note[rows[0]]): table[rows].tobytes() for rows in groups}


def _per_note(now: Loaded, notes: Sequence[int]) -> int:
    return int(np.isin(now.columns["gold"].note, notes).sum())


def _counted(
    question: "Question", measures: "list[Named]", now: Loaded, notes: Sequence[int], kept: Sequence[KeptCounts]
) -> Ints:
    """Every submission's changed notes as the notes of one data set, which is counted as any other is."""
    labels = vocabulary(question.task, question.task.label)
    labels.learn(now.dataset.vocabulary.names)
    for one in kept:
        labels.learn(list(one.head.labels))
    known = {name: code for code, name in enumerate(labels.names)}
    gold = _taken(now.columns["gold"], notes)
    golds = [gold] * len(kept)
    predictions = [_renumbered(_taken(one.columns, notes), one.head.labels, known) for one in kept]
    columns = {"gold": _joined(golds, len(notes)), "predictions": _joined(predictions, len(notes))}
    count = len(kept) * len(notes)
    dataset = DataSet(labels, growing=False, ids=[""] * count, patients=[None] * count)
    hipaa = question.hipaa if question.task.hipaa else None
    whole = measured(question.task, Loaded(dataset, columns, {}, {}), measures, hipaa)
    tables = np.stack([np.asarray(one.per_note) for one in whole.counted], axis=1)
    return tables.reshape(len(kept), len(notes), len(measures), _FIELDS).astype(np.int64)


def _taken(columns: Columns, notes: Sequence[int]) -> Columns:
    """The annotations of these notes, which are numbered from 0 on."""
    which = [np.flatnonzero(columns.note == note) for note in notes]
    rows = np.concatenate([np.zeros(0, np.int64), *which])
    place = np.repeat(np.arange(len(notes)), [*map(len, which)]).astype(np.int32)
    tokens = columns.tokens
    if tokens is None:
        raise ValueError("columns without tokens are not kept")
    ends = np.cumsum(tokens.words, dtype=np.int64)
    spans = zip((ends[rows] - tokens.words[rows]).tolist(), ends[rows].tolist(), strict=True)
    words = np.fromiter(chain.from_iterable(range(*span) for span in spans), np.int64)
    return Columns(
        place,
        columns.start[rows],
        columns.length[rows],
        columns.label[rows],
        columns.confidence[rows],
        tokens=Tokens(tokens.words[rows], tokens.begin[words], tokens.size[words]),
    )


def _renumbered(columns: Columns, names: Sequence[str], known: Mapping[str, int]) -> Columns:
    codes = np.array([-1, *(known[name] for name in names)], np.int32)
    return columns.replace(label=codes[columns.label + 1])


def _joined(parts: Sequence[Columns], notes: int) -> Columns:
    tokens = [part.tokens for part in parts if part.tokens is not None]
    shifted = [part.note + np.int32(at * notes) for at, part in enumerate(parts)]
    rest = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS[1:]}
    whole = Tokens(*(np.concatenate([getattr(one, name) for one in tokens]) for name in ("words", "begin", "size")))
    return Columns(np.concatenate(shifted), **rest, tokens=whole)

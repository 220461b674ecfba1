"""Annotators held against each other: exact spans and annotated words, for every two of them."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct

from sandscore.annotations.columns import Columns, Ints, Mask
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.note_texts import NoteTexts
from sandscore.annotations.white_space_tokens import tokens_of
from sandscore.measures.aligned import Sides
from sandscore.measures.challenge_counts import instance_strict
from sandscore.measures.dataset_counts import Chunks
from sandscore.records.annotator_agreement import AnnotatorAgreement, AnnotatorPair, agreement_of, cohens_kappa
from sandscore.records.counts import Counts

_TOGETHER = 512


class AnnotatorGold(Struct, frozen=True):
    """One annotator's gold, and by note 1 where it has an entry for it."""

    columns: Columns
    notes: bytes | bytearray


def compared(dataset: DataSet, annotators: Sequence[AnnotatorGold]) -> AnnotatorAgreement:
    """How well they agree on the notes of this data set, whose texts are known."""
    pairs = []
    for (at, one), (beside, other) in combinations(enumerate(annotators, 1), 2):
        shared = np.frombuffer(one.notes, bool) & np.frombuffer(other.notes, bool)
        counts = _strict(dataset, one.columns, other.columns, shared)
        tokens = _words(dataset.texts, one.columns, other.columns, shared) if dataset.texts is not None else [0] * 4
        pairs.append(
            AnnotatorPair(
                first=at,
                second=beside,
                notes=int(np.count_nonzero(shared)),
                tp=counts.tp,
                fp=counts.fp,
                fn=counts.fn,
                f1=counts.f1,
                tokens=(tokens[0], tokens[1], tokens[2], tokens[3]),
                kappa=cohens_kappa(tokens),
            )
        )
    return agreement_of(len(annotators), pairs)


def _strict(dataset: DataSet, one: Columns, other: Columns, shared: Mask) -> Counts:
    """The second annotator's spans as if they were predictions."""
    columns = {"gold": one, "predictions": other}
    rows = [instance_strict(sides, 0).per_note for sides in _each(Chunks(Loaded(dataset, columns, {}, {})))]
    tp, fp, fn = np.concatenate(rows)[shared].sum(axis=0).tolist()
    return Counts(tp, fp, fn)


def _each(chunks: Chunks) -> Iterator[Sides]:
    return (chunks[number] for number in range(len(chunks)))


def _words(texts: NoteTexts, one: Columns, other: Columns, shared: Mask) -> list[int]:
    """Words that both have annotated, the first alone, the second alone, and neither of them."""
    sums = np.zeros(4, np.int64)
    sides = [_in_order(columns) for columns in (one, other)]
    for first in range(0, len(texts), _TOGETHER):
        last = min(first + _TOGETHER, len(texts))
        texts_here = texts[first:last]
        sizes = np.array([*map(len, texts_here)], np.int32)
        found = tokens_of("\n".join(["", *texts_here, ""]), sizes)
        base = np.cumsum(sizes, dtype=np.int64) - sizes
        begin = np.repeat(base, found.words) + found.begin
        kept = np.repeat(shared[first:last], found.words)
        marked = [_marked(side, first, last, base, int(sizes.sum())) for side in sides]
        theirs, others = (np.asarray(ends[begin + found.size] > ends[begin])[kept] for ends in marked)
        sums += np.bincount(3 - 2 * theirs - others.astype(np.int64), minlength=4)
    return [int(number) for number in sums]


def _in_order(columns: Columns) -> tuple[Ints, Ints, Ints]:
    """Note, start and length of annotations in the order of their notes."""
    order = np.argsort(columns.note, kind="stable")
    note, start, length = (column[order].astype(np.int64) for column in (columns.note, columns.start, columns.length))
    return note, start, length


def _marked(side: tuple[Ints, Ints, Ints], first: int, last: int, base: Ints, size: int) -> Ints:
    """Of every place in these texts, end to end, how many annotated characters lie before it."""
    note, start, length = side
    rows = slice(*np.searchsorted(note, (first, last)).tolist())
    begin = base[note[rows] - first] + start[rows]
    edges = np.zeros(size + 1, np.int64)
    np.add.at(edges, begin, 1)
    np.add.at(edges, begin + length[rows], -1)
    return np.concatenate(([0], np.cumsum(np.cumsum(edges)[:-1] > 0)))

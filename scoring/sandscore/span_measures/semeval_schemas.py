"""``semeval``: the SemEval-2013 schemas on one alignment per note that no order of listing can change.

Of all one-to-one alignments of overlapping annotations the one is taken that has, in this order, most pairs
with equal bounds and label, most pairs with equal bounds, most pairs at all, most pairs of equal label. The
four numbers are optima, so they exist and are unique whichever alignment reaches them. Every schema reads the
same alignment, and a pair it calls wrong is one annotation missed and one found, never two findings.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.columns import Mask
from sandscore.documents.note_spans import Column, NoteSpans, SpanCounts, SpanSide, components, named
from sandscore.measures.measure import Components, DocumentMeasure, Settings
from sandscore.measures.measure_syntax import Parameter
from sandscore.measures.packed_keys import packed, paired
from sandscore.records.counts import Counts, ratio
from sandscore.records.document import Annotation, Document
from sandscore.span_measures.greedy_pairing import (
    CORRECT,
    OTHER,
    UNLABELLED,
    SpanColumns,
    find_pairs,
    meeting,
    of_documents,
    resolve_all,
)
from sandscore.span_measures.overlap_matching import (
    FEW,
    by_note,
    heaviest_matching,
    heaviest_of_few,
    overlapping_pairs,
    settle,
)

KINDS = ("correct", "incorrect", "partial", "missed", "spurious")
_LEAST = 1.0
"""The original's own threshold, in percent of the true annotation; ours is one character."""

_WORTHS = ((0, 1, 0), (0, 1, 1), (1, 1, 0))
"""What a pair is worth whose members only overlap, have the same label, or the same bounds."""

_Key = tuple[int, int, str | None]


class SchemaAlignment(Struct, frozen=True, gc=False):
    """How many pairs are alike in what."""

    identical: int = 0
    same_bounds: int = 0
    same_label: int = 0
    overlapping: int = 0

    @property
    def pairs(self) -> int:
        return self.identical + self.same_bounds + self.same_label + self.overlapping


def align(document: Document) -> SchemaAlignment:
    """The best alignment's pairs, each counted once under what its members have in common."""
    gold, predictions = _keys(document.gold), _keys(document.predictions)
    identical = gold & predictions
    left = [sorted((side - identical).elements(), key=_order) for side in (gold, predictions)]
    weights = {(i, j): _weight(left[0][i], left[1][j]) for i, j in overlapping_pairs(*map(_extents, left))}
    kinds = Counter(weights[chosen] for chosen in heaviest_matching(weights))
    return SchemaAlignment(identical.total(), kinds[1, 1, 0], kinds[0, 1, 1], kinds[0, 1, 0])


class SemevalSchemas(DocumentMeasure):
    """SemEval-2013 schemas with maximum instead of greedy matching."""

    name = "semeval"
    description = "SemEval-2013 schemas with maximum instead of greedy matching"
    plain = "SemEval’s schemas"
    source = "SemEval-2013 task 9.1, as in nervaluate, with maximum matching"
    parameters = (Parameter("schema", "strict", choices=("strict", "exact", "partial", "ent_type")),)

    @classmethod
    def count_spans(cls, spans: NoteSpans, settings: Settings) -> SpanCounts | None:
        """The same of all notes."""
        schema, (golds, predictions) = str(settings["schema"]), spans.sizes
        met = meeting(spans.gold, spans.predictions)
        identical, same_bounds, same_label, overlapping = _aligned(spans, met)
        pairs = identical + same_bounds + same_label + overlapping
        if schema == "ent_type":
            correct = identical + same_label
        else:
            correct = identical + (same_bounds if schema != "strict" else 0)
        other = pairs - correct
        nothing = np.zeros(len(spans.ids), np.int64)
        found = (correct, nothing, other) if schema == "partial" else (correct, other, nothing)
        theirs = _greedy_counts(_as_nervaluate(spans), met, schema)
        differing = (theirs[0] != correct) | (theirs[1] != other)
        notes = components(KINDS, (*found, golds - pairs, predictions - pairs))
        return SpanCounts(notes, _warned(spans.named(differing)))

    @staticmethod
    def count(document: Document, settings: Settings) -> Components:
        """The five SemEval counts of a note under one schema."""
        found, schema = align(document), settings["schema"]
        if schema == "ent_type":
            correct = found.identical + found.same_label
        else:
            correct = found.identical + (found.same_bounds if schema != "strict" else 0)
        other = found.pairs - correct
        return {
            "correct": correct,
            "incorrect": 0 if schema == "partial" else other,
            "partial": other if schema == "partial" else 0,
            "missed": len(document.gold) - found.pairs,
            "spurious": len(document.predictions) - found.pairs,
        }

    @classmethod
    def score(cls, total: Mapping[str, int], settings: Settings) -> dict[str, Any]:
        """Counts and ratios, half a credit for a partial one; ``tp``, ``fp``, ``fn`` where there are no halves."""
        correct, incorrect, partial, missed, spurious = (total.get(kind, 0) for kind in KINDS)
        actual = correct + incorrect + partial + spurious
        possible = correct + incorrect + partial + missed
        row: dict[str, Any] = {kind: total.get(kind, 0) for kind in KINDS}
        row |= {"actual": actual, "possible": possible}
        if settings["schema"] == "partial":
            halves = 2 * correct + partial
            ratios = (ratio(halves, 2 * actual), ratio(halves, 2 * possible), ratio(halves, actual + possible))
            return row | dict(zip(("precision", "recall", "f1"), ratios, strict=True))
        counts = Counts(correct, actual - correct, possible - correct)
        ratios = (counts.precision, counts.recall, counts.f1)
        row |= {"tp": counts.tp, "fp": counts.fp, "fn": counts.fn}
        return row | dict(zip(("precision", "recall", "f1"), ratios, strict=True))

    @classmethod
    def warn(cls, documents: Sequence[Document], settings: Settings) -> tuple[str, ...]:
        """Where nervaluate, pairing greedily in file order, counts otherwise."""
        theirs = _greedy(documents, str(settings["schema"]))
        notes = []
        for document, (correct, other) in zip(documents, theirs, strict=True):
            ours = cls.count(document, settings)
            if (ours["correct"], ours["incorrect"] + ours["partial"]) != (correct, other):
                notes.append(document.id)
        return _warned(notes)


def _warned(notes: Sequence[str]) -> tuple[str, ...]:
    if not notes:
        return ()
    return (
        f"semeval: nervaluate counts otherwise in {named(notes)}: it takes annotations greedily in file order "
        "and ignores an overlap of less than 1 % of the gold annotation, this measure takes the best pairing",
    )


def _greedy(documents: Sequence[Document], schema: str) -> list[tuple[int, int]]:
    """The original's correct and other pairs, per document."""
    columns = of_documents(documents)
    correct, other = _greedy_counts(columns, meeting(columns.gold, columns.predictions), schema)
    return list(zip(correct.tolist(), other.tolist(), strict=True))


def _greedy_counts(columns: SpanColumns, met: tuple[Column, Column], schema: str) -> tuple[Column, Column]:
    note = columns.predictions.note
    pairs = find_pairs(columns, _LEAST, met)
    state = resolve_all(pairs, len(columns.gold.note), len(note), (schema,))[schema].state
    correct, other = (np.bincount(note[state == kind], minlength=len(columns.notes)) for kind in (CORRECT, OTHER))
    return correct, other


def _as_nervaluate(spans: NoteSpans) -> SpanColumns:
    """To the original "no label" is a label, and no other than one that is written so."""
    names = spans.labels if UNLABELLED in spans.labels else [*spans.labels, UNLABELLED]
    none = names.index(UNLABELLED)
    gold, predictions = (
        replace(side, label=np.where(side.label < 0, none, side.label)) for side in (spans.gold, spans.predictions)
    )
    return SpanColumns(spans.ids, names, gold, predictions)


def _aligned(spans: NoteSpans, met: tuple[Column, Column]) -> list[Column]:
    """Of each note the pairs of its best alignment: identical ones, of equal bounds, of equal label, and others."""
    gold, predictions, size = spans.gold, spans.predictions, len(spans.ids)
    left = _not_identical(gold, predictions)
    identical = np.bincount(predictions.note[~left[1]], minlength=size)
    kept = left[0][met[0]] & left[1][met[1]]
    i, j = met[0][kept], met[1][kept]
    same_bounds = (gold.start[i] == predictions.start[j]) & (gold.length[i] == predictions.length[j])
    worth = np.where(same_bounds, 3, np.where(gold.label[i] == predictions.label[j], 2, 1))
    settled, note = settle(i, j), gold.note[i]
    by_star = np.flatnonzero(settled.of_star)
    order = by_star[np.lexsort((-worth[by_star], settled.star[by_star]))]
    best = order[np.flatnonzero(np.diff(settled.star[order], prepend=-1))]
    taken = np.concatenate((np.flatnonzero(settled.alone), best))
    found = [np.bincount(note[taken][worth[taken] == kind], minlength=size) for kind in (3, 2, 1)]
    rest = np.flatnonzero(settled.contested)
    value = dict(zip(zip(i[rest].tolist(), j[rest].tolist(), strict=True), worth[rest].tolist(), strict=True))
    for number, pairs in by_note(settled.contested, note, i, j).items():
        weights = {pair: _WORTHS[value[pair] - 1] for pair in pairs}
        chosen = heaviest_of_few(pairs, weights) if len(pairs) <= FEW else heaviest_matching(weights)
        for pair in chosen:
            found[3 - value[pair]][number] += 1
    return [identical, *found]


def _not_identical(gold: SpanSide, predictions: SpanSide) -> tuple[Mask, Mask]:
    """Who of either side finds no annotation of its own that agrees in everything."""
    columns = [
        np.concatenate((getattr(gold, name), getattr(predictions, name))) for name in ("note", "start", "length")
    ]
    keys = packed([*columns, 1 + np.concatenate((gold.label, predictions.label))], len(gold.note))
    sides = keys.keys[: keys.split], keys.keys[keys.split :]
    orders = [np.argsort(side, kind="stable") for side in sides]
    ordered = [side[order] for side, order in zip(sides, orders, strict=True)]
    left = []
    for order, own, other in zip(orders, ordered, reversed(ordered), strict=True):
        alone = np.ones(len(own), bool)
        alone[order[paired(other, own)]] = False
        left.append(alone)
    return left[0], left[1]


def _keys(annotations: Iterable[Annotation]) -> Counter[_Key]:
    return Counter((a.start, a.start + a.length, a.label) for a in annotations)


def _order(key: _Key) -> tuple[int, int, str]:
    return key[0], key[1], key[2] or ""


def _extents(keys: Iterable[_Key]) -> list[tuple[int, int]]:
    return [key[:2] for key in keys]


def _weight(gold: _Key, prediction: _Key) -> tuple[int, int, int]:
    if gold[:2] == prediction[:2]:
        return _WORTHS[2]
    return _WORTHS[int(gold[2] == prediction[2])]

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

from sandscore.measures.greedy_pairing import CORRECT, OTHER, find_pairs, of_documents, resolve
from sandscore.measures.measure import Components, DocumentMeasure, Settings, named
from sandscore.measures.measure_syntax import Parameter
from sandscore.measures.overlap_matching import heaviest_matching, overlapping_pairs
from sandscore.records.counts import Counts, ratio
from sandscore.records.document import Annotation, Document

KINDS = ("correct", "incorrect", "partial", "missed", "spurious")
_LEAST = 1.0
"""The original's own threshold, in percent of the true annotation; ours is one character."""

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
        if not notes:
            return ()
        return (
            f"semeval: nervaluate counts otherwise in {named(notes)}: it takes annotations greedily in file order "
            "and ignores an overlap of less than 1 % of the gold annotation, this measure takes the best pairing",
        )


def _greedy(documents: Sequence[Document], schema: str) -> list[tuple[int, int]]:
    """The original's correct and other pairs, per document."""
    columns = of_documents(documents)
    note = columns.predictions.note
    pairs = find_pairs(columns, _LEAST)
    state = resolve(pairs, len(columns.gold.note), len(note), schema).state
    correct, other = (np.bincount(note[state == kind], minlength=len(documents)).tolist() for kind in (CORRECT, OTHER))
    return list(zip(correct, other, strict=True))


def _keys(annotations: Iterable[Annotation]) -> Counter[_Key]:
    return Counter((a.start, a.start + a.length, a.label) for a in annotations)


def _order(key: _Key) -> tuple[int, int, str]:
    return key[0], key[1], key[2] or ""


def _extents(keys: Iterable[_Key]) -> list[tuple[int, int]]:
    return [key[:2] for key in keys]


def _weight(gold: _Key, prediction: _Key) -> tuple[int, int, int]:
    if gold[:2] == prediction[:2]:
        return (1, 1, 0)
    return (0, 1, int(gold[2] == prediction[2]))

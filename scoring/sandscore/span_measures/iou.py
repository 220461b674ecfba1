"""``iou``: two annotations match when they share enough of what they cover together."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sandscore.documents.note_spans import Column, NoteSpans, SideWords, SpanCounts, components, extents, named
from sandscore.measures.measure import Components, DocumentMeasure, Settings
from sandscore.measures.measure_syntax import Parameter
from sandscore.measures.packed_keys import packed, paired
from sandscore.records.counts import Counts
from sandscore.records.document import Annotation, Document
from sandscore.records.formula import F1, f_beta, parse_formula
from sandscore.span_measures.greedy_pairing import meeting
from sandscore.span_measures.overlap_matching import (
    Pair,
    matched_at_most,
    maximum_matching,
    overlapping_pairs,
    settle,
    split_contested,
)

_TOKEN = re.compile(r"\S+")


class IntersectionOverUnion(DocumentMeasure):
    """One-to-one pairs whose intersection over union reaches a threshold; F-beta."""

    name = "iou"
    description = "one-to-one pairs whose intersection over union reaches a threshold; F-beta"
    plain = "spans that overlap enough"
    source = "Presidio's span evaluator, one to one"
    parameters = (
        Parameter("threshold", 0.5, least=0.0, most=1.0),
        Parameter("beta", 1.0, least=0.0),
        Parameter("unit", "char", choices=("char", "token")),
    )

    @staticmethod
    def count(document: Document, settings: Settings) -> Components:
        """``tp`` is the largest number of pairs at or over the threshold in which nobody occurs twice."""
        overlapping = overlapping_pairs(extents(document.gold), extents(document.predictions))
        shared = _shared_characters if settings["unit"] == "char" else _shared_tokens
        threshold = float(settings["threshold"])
        tp = maximum_matching(
            [pair for pair, (both, either) in shared(document, overlapping) if both and both / either >= threshold]
        )
        return {"tp": tp, "fp": len(document.predictions) - tp, "fn": len(document.gold) - tp}

    @classmethod
    def count_spans(cls, spans: NoteSpans, settings: Settings) -> SpanCounts | None:
        """The same of all notes; words need the notes, in which a place says which word stands there."""
        gold, predicted = meeting(spans.gold, spans.predictions)
        note = spans.gold.note[gold]
        if settings["unit"] == "char":
            both, either = _characters_of(spans, gold, predicted)
        elif spans.words is not None:
            both, either = _words_of(spans, spans.words, gold, predicted)
        else:
            return None
        near = np.zeros(len(gold), bool)
        some = both > 0
        near[some] = both[some] / either[some] >= float(settings["threshold"])
        tp = matched_at_most(gold[near], predicted[near], note[near], len(spans.ids))
        golds, predictions = spans.sizes
        contested = np.zeros(len(spans.ids), bool)
        contested[note[~settle(gold, predicted).alone]] = True
        notes = components(("tp", "fp", "fn"), (tp, predictions - tp, golds - tp))
        return SpanCounts(notes, _warned(spans.named(contested)))

    @classmethod
    def score(cls, total: Mapping[str, int], settings: Settings) -> dict[str, Any]:
        """Counts and ratios; a ratio with nothing to divide by is None."""
        counts = Counts(total.get("tp", 0), total.get("fp", 0), total.get("fn", 0))
        square = float(settings["beta"]) ** 2
        formula = cls.formula_for(settings)
        ranked: dict[str, object] = {} if formula == F1 else {"value": _f_beta(counts, square)}
        if formula not in {F1, None}:
            ranked |= {"value": _value(counts, formula), "formula": formula, "direction": "higher"}
        return {
            "tp": counts.tp,
            "fp": counts.fp,
            "fn": counts.fn,
            "precision": counts.precision,
            "recall": counts.recall,
            "f1": counts.f1,
            "f_beta": _f_beta(counts, square),
            **ranked,
        }

    @classmethod
    def formula_for(cls, settings: Settings) -> str | None:
        """F-beta of the counts."""
        return f_beta(float(settings["beta"]))

    @classmethod
    def warn(cls, documents: Sequence[Document], settings: Settings) -> tuple[str, ...]:
        """Where Presidio's span evaluator, which is not one-to-one, may count otherwise."""
        return _warned([document.id for document in documents if _is_contested(document)])


def _warned(notes: Sequence[str]) -> tuple[str, ...]:
    if not notes:
        return ()
    return (
        f"iou: in {named(notes)} an annotation overlaps several of the other side; Presidio's evaluator "
        "joins such predictions or uses one of them twice, this measure pairs one to one, so the two may differ",
    )


def _value(counts: Counts, formula: str | None) -> float | None:
    return parse_formula(formula).score({"tp": counts.tp, "fp": counts.fp, "fn": counts.fn}) if formula else None


def _f_beta(counts: Counts, square: float) -> float | None:
    if counts.tp == 0:
        return counts.f1
    hits = (1 + square) * counts.tp
    return hits / (hits + square * counts.fn + counts.fp)


def _is_contested(document: Document) -> bool:
    return bool(split_contested(overlapping_pairs(extents(document.gold), extents(document.predictions)))[1])


def _shared_characters(document: Document, pairs: list[Pair]) -> list[tuple[Pair, tuple[int, int]]]:
    found = []
    for i, j in pairs:
        gold, prediction = document.gold[i], document.predictions[j]
        both = min(gold.end, prediction.end) - max(gold.start, prediction.start)
        found.append(((i, j), (both, gold.length + prediction.length - both)))
    return found


def _characters_of(spans: NoteSpans, i: Column, j: Column) -> tuple[Column, Column]:
    gold, predictions = spans.gold, spans.predictions
    both = np.minimum(gold.end[i], predictions.end[j]) - np.maximum(gold.start[i], predictions.start[j])
    return both, gold.length[i] + predictions.length[j] - both


def _words_of(spans: NoteSpans, words: tuple[SideWords, SideWords], i: Column, j: Column) -> tuple[Column, Column]:
    """Words that both annotations of each pair have, and that either has: of equal places and sizes."""
    keys, sizes = [], []
    for side, of_side, rows in zip((spans.gold, spans.predictions), words, (i, j), strict=True):
        owner, begin, size = of_side.of(rows)
        keys.append([owner, side.start[rows][owner] + begin, size.astype(np.int64)])
        sizes.append(np.bincount(owner, minlength=len(rows)))
    fields = [np.concatenate(pair) for pair in zip(*keys, strict=True)]
    shared = packed(fields, len(keys[0][0]))
    gold, predicted = shared.keys[: shared.split], shared.keys[shared.split :]
    found = paired(gold, predicted)
    both = np.bincount(keys[1][0][found], minlength=len(i))
    return both, sizes[0] + sizes[1] - both


def _shared_tokens(document: Document, pairs: list[Pair]) -> list[tuple[Pair, tuple[int, int]]]:
    gold = {i: _tokens(document.gold[i]) for i in {i for i, _ in pairs}}
    predictions = {j: _tokens(document.predictions[j]) for j in {j for _, j in pairs}}
    return [((i, j), (len(gold[i] & predictions[j]), len(gold[i] | predictions[j]))) for i, j in pairs]


def _tokens(annotation: Annotation) -> frozenset[tuple[int, str]]:
    return frozenset((annotation.start + m.start(), m[0]) for m in _TOKEN.finditer(annotation.text))

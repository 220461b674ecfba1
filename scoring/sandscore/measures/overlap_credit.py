"""``overlap``: how much of every annotation the other side covers, averaged over annotations.

Credits are fractions of a length, kept as integers per length until the last division: the component
``rtp/10`` counts tenths of gold annotations, ``ptp/7`` sevenths of predicted ones.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import fsum
from typing import Any

from sandscore.measures.measure import Components, DocumentMeasure, Settings, add_up, extents, named
from sandscore.measures.measure_syntax import Parameter
from sandscore.measures.mention_partners import Mention, credit_sums
from sandscore.measures.overlap_matching import Extent, overlapping_pairs
from sandscore.records.document import Annotation, Document

_WAYS = ("max", "sum")


class OverlapCredit(DocumentMeasure):
    """Share of each annotation covered by the best partner (max) or by all together (sum)."""

    name = "overlap"
    description = "share of each annotation covered by the best partner (max) or by all together (sum)"
    plain = "share of each span that is covered"
    source = "neleval's overlap aggregators, order-free"
    formula = None
    parameters = (Parameter("recall", "sum", choices=_WAYS), Parameter("precision", "max", choices=_WAYS))

    @staticmethod
    def count(document: Document, settings: Settings) -> Components:
        """How many annotations either side has, and how many of their units are covered, per length."""
        gold, predictions = extents(document.gold), extents(document.predictions)
        components = Counter(gold=len(gold), predicted=len(predictions))
        for name, side, other, way in (
            ("rtp", gold, predictions, settings["recall"]),
            ("ptp", predictions, gold, settings["precision"]),
        ):
            covered = _together(side, other) if way == "sum" else _best(side, other)
            for (start, end), units in zip(side, covered, strict=True):
                if units:
                    components[f"{name}/{end - start}"] += units
        return dict(components)

    @classmethod
    def score(cls, total: Mapping[str, int], settings: Settings) -> dict[str, Any]:
        """Sums of credits and their means; undefined without annotations, F 0 where no credit is given."""
        gold, predicted = total.get("gold", 0), total.get("predicted", 0)
        ptp, rtp = _credit(total, "ptp/"), _credit(total, "rtp/")
        precision, recall = ptp / predicted if predicted else None, rtp / gold if gold else None
        f1 = 2 * precision * recall / (precision + recall) if precision and recall else _none_or_zero(total)
        return {
            "ptp": ptp,
            "rtp": rtp,
            "predicted": predicted,
            "gold": gold,
            "precision": precision,
            "recall": recall,
            "f1": f1,
        }

    @classmethod
    def warn(cls, documents: Sequence[Document], settings: Settings) -> tuple[str, ...]:
        """Where neleval's aggregator of the same name gives other credits, which needs overlap within a side."""
        notes = [document.id for document in documents if _differs(document, settings)]
        if not notes:
            return ()
        name = f"overlap-{settings['recall']}{settings['precision']}"
        return (
            f"overlap: neleval's {name} gives other credits in {named(notes)}: annotations of one side overlap "
            "one another there, and its walk from the back drops some before their partners come up",
        )


def _differs(document: Document, settings: Settings) -> bool:
    ours = OverlapCredit.score(add_up([OverlapCredit.count(document, settings)]), settings)
    gold, predictions = _mentions(document.gold), _mentions(document.predictions)
    theirs = credit_sums(predictions, gold, typed=False)
    pairs = (
        (ours["ptp"], theirs["system", str(settings["precision"])]),
        (ours["rtp"], theirs["gold", str(settings["recall"])]),
    )
    return any(abs(mine - other) > 1e-9 * max(1.0, mine) for mine, other in pairs)


def _mentions(annotations: tuple[Annotation, ...]) -> list[Mention]:
    return sorted((Mention("", a.start, a.end - 1, None) for a in annotations), key=Mention.order)


def _together(side: list[Extent], other: list[Extent]) -> list[int]:
    merged: list[Extent] = []
    for start, end in sorted(other):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    starts = [start for start, _ in merged]
    before = [0, *accumulate(end - start for start, end in merged)]

    def units_below(offset: int) -> int:
        last = bisect_right(starts, offset) - 1
        return before[last] + min(offset, merged[last][1]) - starts[last] if last >= 0 else 0

    return [units_below(end) - units_below(start) for start, end in side]


def _best(side: list[Extent], other: list[Extent]) -> list[int]:
    best = [0] * len(side)
    for i, j in overlapping_pairs(side, other):
        best[i] = max(best[i], min(side[i][1], other[j][1]) - max(side[i][0], other[j][0]))
    return best


def _credit(total: Mapping[str, int], prefix: str) -> float:
    return fsum(units / int(key[len(prefix) :]) for key, units in total.items() if key.startswith(prefix))


def _none_or_zero(total: Mapping[str, int]) -> float | None:
    return 0.0 if total.get("gold") or total.get("predicted") else None

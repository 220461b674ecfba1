"""The agreement of several annotators of the same notes: what two people who know the task make of each other's work.

Whole numbers for every two of them, over the notes that both have read; ratios follow from those.
"""

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from sandscore.records.counts import Counts
from sandscore.records.strict_record import StrictRecord

Natural = Annotated[int, Field(ge=0, le=1 << 40)]
Agreeing = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class AnnotatorPair(StrictRecord):
    """Two annotators, numbered from 1 as their gold was given, on the notes that both have an entry for.

    ``tp``, ``fp`` and ``fn`` are those of ``instance_strict``, the second held against the first. ``tokens`` are words
    of the notes (runs of non-blank characters): annotated by both, by the first alone, by the second alone, by neither.
    """

    first: Annotated[int, Field(ge=1)]
    second: Annotated[int, Field(ge=1)]
    notes: Natural
    tp: Natural
    fp: Natural
    fn: Natural
    f1: Ratio | None
    tokens: tuple[Natural, Natural, Natural, Natural]
    kappa: Agreeing | None = Field(description="Cohen's, of words being annotated or not.")

    @property
    def counts(self) -> Counts:
        return Counts(self.tp, self.fp, self.fn)


class HumanCeiling(StrictRecord):
    """How well annotators agree with each other, which is about as well as anybody can be asked to agree with them."""

    annotators: Annotated[int, Field(ge=2)]
    strict_f1: Ratio | None = Field(description="Of exact spans, every two annotators held against each other, pooled.")
    token_kappa: Agreeing | None = Field(
        description="Cohen's kappa of words being annotated or not; of more than two annotators the mean of every two."
    )


class AnnotatorAgreement(HumanCeiling):
    """The same with the whole numbers that it follows from."""

    pairs: tuple[AnnotatorPair, ...]

    @property
    def ceiling(self) -> HumanCeiling:
        """Without the whole numbers."""
        return HumanCeiling(**{name: getattr(self, name) for name in HumanCeiling.model_fields})

    def again(self) -> "AnnotatorAgreement":
        """The same, its ratios made again from its whole numbers."""
        pairs = (
            pair.model_copy(update={"f1": pair.counts.f1, "kappa": cohens_kappa(pair.tokens)}) for pair in self.pairs
        )
        return agreement_of(self.annotators, [*pairs])


def agreement_of(annotators: int, pairs: Sequence[AnnotatorPair]) -> AnnotatorAgreement:
    """All pairs together: counts added up, kappas averaged where they are defined (Light 1971)."""
    kappas = [pair.kappa for pair in pairs if pair.kappa is not None]
    return AnnotatorAgreement(
        annotators=annotators,
        strict_f1=sum((pair.counts for pair in pairs), Counts()).f1,
        token_kappa=math.fsum(kappas) / len(kappas) if kappas else None,
        pairs=tuple(pairs),
    )


def cohens_kappa(table: Sequence[int]) -> float | None:
    """Cohen's (1960), of a table of four: both, first alone, second alone, neither. Undefined where chance alone agrees
    on everything: where there is nothing to judge, or both judge all alike."""
    both, first, second, neither = table
    total = sum(table)
    chance = (both + first) * (both + second) + (neither + first) * (neither + second)
    return (total * (both + neither) - chance) / (total**2 - chance) if total**2 != chance else None

"""The totals card: a score card as everybody may have it where no count of a single note may leave the house.

An allow-list: what this record does not name is not on the card. ``withheld`` says what the exact card has beside it.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from sandscore.records.counts import Counts, counts_of
from sandscore.records.formula import Direction
from sandscore.records.scorecard import AnyScore, FormulaScore, RatioScore, Scorecard
from sandscore.records.strict_record import StrictRecord
from sandscore.records.task_definition import TaskDefinition

Natural = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(allow_inf_nan=False)]
OTHER = "(other)"
"""The row that sums up labels which gold does not have."""
_PREDICTIONS = "predictions:"


class TotalCounts(StrictRecord):
    """Counts of one label."""

    tp: Natural
    fp: Natural
    fn: Natural


class TotalMeasure(StrictRecord):
    """Counts and ratios of one measure; a profile's measure may lack either."""

    tp: Natural | None = None
    fp: Natural | None = None
    fn: Natural | None = None
    precision: Number | None = None
    recall: Number | None = None
    f1: Number | None = None
    value: Number | None = Field(default=None, exclude_if=lambda value: value is None)
    formula: str | None = Field(default=None, exclude_if=lambda formula: formula is None)
    direction: Direction | None = Field(default=None, exclude_if=lambda direction: direction is None)
    reason: str | None = None

    @property
    def counts(self) -> Counts | None:
        """The integer counts, where it has them."""
        return counts_of(self.tp, self.fp, self.fn)


class TotalsCard(StrictRecord):
    """Totals of one submission on one data set. The signature names gold, not the predictions."""

    sandscore: str
    signature: str
    task: str
    definition: TaskDefinition | None = Field(default=None, exclude_if=lambda definition: definition is None)
    profile: str
    team: str | None = None
    name: str | None = Field(
        default=None,
        exclude_if=lambda name: name is None,
        description="What its team calls the submission, where it calls it anything.",
    )
    submission: str | None = None
    dataset: str | None = None
    phase: str | None = Field(default=None, exclude_if=lambda phase: phase is None)
    notes: Natural
    measures: dict[str, RatioScore | FormulaScore | TotalMeasure]
    per_label: dict[str, dict[str, TotalCounts]] = Field(default_factory=dict)
    withheld: tuple[str, ...] = Field(description="Fields of the exact card that are not here, as JSON Pointers.")

    def content(self) -> bytes:
        """The card as it is written."""
        return self.model_dump_json().encode() + b"\n"


def totals_of(card: Scorecard) -> TotalsCard:
    """The card without all that is not named above."""
    shown = TotalsCard.model_fields
    return TotalsCard(
        sandscore=card.sandscore,
        signature=without_predictions(card.signature),
        task=card.task,
        definition=card.definition,
        profile=card.profile,
        team=card.team,
        name=card.name,
        submission=card.submission,
        dataset=card.dataset,
        notes=card.notes,
        measures={name: _measure(score) for name, score in card.measures.items()},
        per_label=_labels(card.per_label),
        withheld=tuple(f"/{name}" for name in Scorecard.model_fields if name not in shown and _has(card, name)),
    )


def _has(card: Scorecard, name: str) -> bool:
    """What is on few cards is missing only from those."""
    return name not in ("per_unit", "agreement", "slices", "robustness") or bool(getattr(card, name))


def without_predictions(signature: str) -> str:
    """The signature without the hash of the predictions: whoever has a file could find out whose it was."""
    return "|".join(part for part in signature.split("|") if not part.startswith(_PREDICTIONS))


def _measure(score: AnyScore) -> RatioScore | FormulaScore | TotalMeasure:
    """Means over notes and patients are no totals, and no more are they that of a class."""
    if isinstance(score, RatioScore):
        return score.model_copy(update={"means": None, "by_class": {}})
    if isinstance(score, FormulaScore):
        return score
    return TotalMeasure(**{name: getattr(score, name) for name in TotalMeasure.model_fields})


def _labels(per_label: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, TotalCounts]]:
    """The rows of labels that gold has; a label of the participant's own may say anything."""
    rows: dict[str, dict[str, TotalCounts]] = {}
    for label, measures in per_label.items():
        counted = {name: counts for name, given in measures.items() if (counts := _counts(given)) is not None}
        in_gold = any(counts.tp + counts.fn for counts in counted.values())
        row = rows.setdefault(label if in_gold else OTHER, {})
        for name, counts in counted.items():
            before = row.get(name, TotalCounts(tp=0, fp=0, fn=0))
            row[name] = TotalCounts(tp=before.tp + counts.tp, fp=before.fp + counts.fp, fn=before.fn + counts.fn)
    others = {OTHER: rows.pop(OTHER)} if OTHER in rows else {}
    return rows | others


def _counts(given: object) -> TotalCounts | None:
    numbers = [given.get(name) for name in ("tp", "fp", "fn")] if isinstance(given, Mapping) else []
    tp, fp, fn = numbers if len(numbers) == 3 else (None, None, None)
    if isinstance(tp, int) and isinstance(fp, int) and isinstance(fn, int):
        return TotalCounts(tp=tp, fp=fp, fn=fn)
    return None

"""Scores by group: slices of a data set, and perturbed copies of it."""

from typing import Annotated, Literal

from pydantic import Field

from sandscore.records.strict_record import StrictRecord

Natural = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Gap = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
GroupName = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\n\r]*$")]
PatientRows = dict[str, dict[str, tuple[Natural, Natural]]]
"""By patient and measure: n and of."""


class SliceScore(StrictRecord):
    """A measure in one slice: ``n`` of ``of``. ``gap`` is how far it lies above that of all notes.

    Both intervals hold for all slices together; null where too few patients have anything wrong, or anything right.
    """

    n: Natural
    of: Natural
    value: Share | None
    ci: tuple[Share, Share] | None = None
    gap: Gap | None = None
    gap_ci: tuple[Gap, Gap] | None = None


class Slice(StrictRecord):
    """One group. ``too_few``: of so few patients that nothing else is said."""

    notes: Natural
    patients: Natural
    too_few: bool
    measures: dict[str, SliceScore] = Field(default_factory=dict)
    per_unit: PatientRows = Field(
        default_factory=dict,
        exclude_if=lambda rows: not rows,
        description="By patient: [n, of] of each measure, from which the scores can be recomputed.",
    )


class SliceTable(StrictRecord):
    """All slices of one kind. ``recalls`` names the measures of which a slice of annotations has the recall."""

    of: Literal["notes", "mentions"]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")] | None = Field(
        default=None, description="Of the organiser's file; null where a rule makes the slices."
    )
    unit: Literal["patients", "notes"] = Field(description="What was drawn again.")
    seed: Annotated[str, Field(pattern=r"^0x[0-9a-f]{16}$")]
    resamples: Natural
    level: Share = 0.95
    whole: dict[str, SliceScore] = Field(description="The same measures over all notes.")
    recalls: tuple[str, ...] = ()
    slices: dict[GroupName, Slice]
    worst: dict[str, GroupName] = Field(description="By measure the slice that scores worst; too few never do.")


class WorstSlice(StrictRecord):
    """The worst slice by the measure that a board ranks by."""

    slice: GroupName
    patients: Natural
    value: Share | None
    ci: tuple[Share, Share] | None = None
    gap: Gap | None = None
    gap_ci: tuple[Gap, Gap] | None = None
    recall: bool = Field(default=False, description="The score is the measure's recall: of annotations in the slice.")


class PairedScore(StrictRecord):
    """A measure on perturbed notes beside that on the notes themselves; the interval holds for all perturbations.

    ``difference`` is the perturbed score less the other, patients being the same.
    """

    value: Share | None
    original: Share | None
    difference: Gap | None
    ci: tuple[Gap, Gap] | None = None


class PerturbedScores(StrictRecord):
    """One perturbed copy of the notes: which it is, and what the same annotator scored on it."""

    changes: tuple[str, ...] = Field(description="The perturbations, as in swap names:nigeria.")
    seed: int
    record: Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")] = Field(
        description="SHA-256 of changes.json, which names every file of the copy by its own."
    )
    reason: str | None = Field(
        default=None, description="Why there is no score: how the run ended, invalid, too_costly, or other_notes."
    )
    drawn: Annotated[str, Field(pattern=r"^0x[0-9a-f]{16}$")] = Field(description="The seed of the intervals.")
    resamples: Natural
    measures: dict[str, PairedScore]
    per_unit: PatientRows = Field(
        default_factory=dict, exclude_if=lambda rows: not rows, description="By patient: [n, of] of each measure there."
    )

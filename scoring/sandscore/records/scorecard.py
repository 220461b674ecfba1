"""The score card: what one submission scored on one data set, and all that later stages need of it."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializerFunctionWrapHandler, WrapSerializer

from sandscore.records.counts import Counts, counts_of
from sandscore.records.formula import Direction
from sandscore.records.task_definition import TaskDefinition


class _Record(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class MacroNotes(_Record):
    """How many notes define each ratio."""

    precision: int
    recall: int
    f1: int


class Macro(_Record):
    """Means over the notes where the ratio is defined."""

    precision: float | None
    recall: float | None
    f1: float | None
    notes: MacroNotes


def _written(formula: object) -> object:
    """What is no text is no formula either: whoever reads the card says so."""
    return formula if formula is None or isinstance(formula, str) else ""


class MeasureScore(_Record):
    """Counts and ratios of one measure; a profile's measure may carry components of its own beside them."""

    tp: int | None = None
    fp: int | None = None
    fn: int | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    f1_ci: tuple[float, float] | None = None
    macro: Macro | None = None
    conditional_accuracy: float | None = None
    value: float | None = Field(
        default=None, exclude_if=lambda value: value is None, description="What the formula makes of the counts."
    )
    formula: Annotated[str | None, BeforeValidator(_written)] = Field(
        default=None,
        exclude_if=lambda formula: formula is None,
        description="f_beta(2) of tp, fp and fn, where the measure is not ranked by its F1.",
    )
    direction: Direction | None = Field(default=None, exclude_if=lambda direction: direction is None)
    reason: str | None = None

    @property
    def ranked(self) -> float | None:
        """The score that ranks."""
        return self.f1 if self.formula is None else self.value

    @property
    def counts(self) -> Counts | None:
        """The integer counts; None where the measure has none and so cannot be ranked."""
        return counts_of(self.tp, self.fp, self.fn)


class FormulaScore(_Record):
    """One measure of an installed package: whole numbers that add up over notes, and the formula of its score.

    Whoever shows a card finds the score where other measures have their F1.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    score: float | None
    components: dict[str, int]
    formula: str = Field(description="f_beta(1) of tp, fp and fn, ratio(a+b/c+d) or sum(a+b).")
    direction: Direction = Field(description="Which scores are better.")
    plugin: str = Field(description="The installed package that the measure comes from, and its version.")
    reason: str | None = None

    tp: ClassVar[None] = None
    fp: ClassVar[None] = None
    fn: ClassVar[None] = None
    precision: ClassVar[None] = None
    recall: ClassVar[None] = None
    macro: ClassVar[None] = None
    counts: ClassVar[None] = None
    conditional_accuracy: ClassVar[None] = None

    @property
    def f1(self) -> float | None:
        return self.score

    @property
    def ranked(self) -> float | None:
        return self.score


class ErrorKinds(_Record):
    missed: int
    spurious: int
    boundary: int
    wrong_label: int


class ConfidenceCurve(_Record):
    """Rows are (confidence, precision, recall), highest confidence first."""

    average_precision: float | None = None
    best_threshold: float | None = None
    curve: list[tuple[float, float | None, float | None]] | None = None
    reason: str | None = None


def _plainly(per_note: Mapping[str, Any], as_ever: SerializerFunctionWrapHandler) -> dict[str, Any]:
    plain: dict[str, Any] = as_ever(dict(per_note))
    return plain


class Scorecard(_Record):
    """One submission's scores, with per-note integer counts from which everything can be recomputed."""

    sandscore: str
    signature: str
    task: str
    definition: TaskDefinition | None = Field(
        default=None, description="An organiser's own task, as it was defined; absent for the tasks of our table."
    )
    profile: str
    team: str | None = None
    name: str | None = Field(
        default=None,
        exclude_if=lambda name: name is None,
        description="What its team calls the submission, where it calls it anything.",
    )
    submission: str | None = None
    image: str | None = None
    dataset: str | None = None
    created: str | None = None
    notes: int
    gold_annotations: int
    predicted_annotations: int
    text_checked: bool
    measures: dict[str, FormulaScore | MeasureScore]
    per_label: dict[str, dict[str, Any]] = Field(default_factory=dict)
    errors: ErrorKinds | None = None
    note_leak: float | None = None
    confidence: ConfidenceCurve | None = None
    per_note: Annotated[Mapping[str, dict[str, tuple[int, ...]]], WrapSerializer(_plainly)]
    units: dict[str, str]
    run: dict[str, Any] | None = None
    problems: dict[str, int] = Field(default_factory=dict)
    details: dict[str, Any] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)

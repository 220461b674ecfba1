"""The score card: what one submission scored on one data set, and all that later stages need of it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializerFunctionWrapHandler, WrapSerializer

from sandscore.records.annotator_agreement import AnnotatorAgreement
from sandscore.records.carried_run import CarriedRun
from sandscore.records.counts import Counts, counts_of
from sandscore.records.formula import RATIO, Direction
from sandscore.records.group_scores import PerturbedScores, SliceTable
from sandscore.records.task_definition import TaskDefinition


class _Record(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)


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


class ComponentScore(_Record):
    """A score that is made of whole numbers other than tp, fp and fn.

    Whoever shows a card finds it where other measures have their F1.
    """

    tp: ClassVar[None] = None
    fp: ClassVar[None] = None
    fn: ClassVar[None] = None
    precision: ClassVar[None] = None
    recall: ClassVar[None] = None
    macro: ClassVar[None] = None
    counts: ClassVar[None] = None
    conditional_accuracy: ClassVar[None] = None

    @property
    def numbers(self) -> dict[str, int]:
        """The components by name."""
        raise NotImplementedError

    @property
    def f1(self) -> float | None:
        return self.ranked

    @property
    def ranked(self) -> float | None:
        raise NotImplementedError


class FormulaScore(ComponentScore):
    """One measure of an installed package: whole numbers that add up over notes, and the formula of its score."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    score: float | None
    components: dict[str, int]
    formula: str = Field(description="f_beta(1) of tp, fp and fn, ratio(a+b/c+d) or sum(a+b).")
    direction: Direction = Field(description="Which scores are better.")
    plugin: str | None = Field(
        default=None,
        exclude_if=lambda plugin: plugin is None,
        description="The installed package that the measure comes from, and its version; absent for one of ours.",
    )
    reason: str | None = None

    @property
    def numbers(self) -> dict[str, int]:
        return self.components

    @property
    def ranked(self) -> float | None:
        return self.score


class GroupRatio(_Record):
    """The same ratio of one class or label; a bound holds at its level for all of them together."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    n: int
    of: int
    value: float | None
    bound: float | None = Field(default=None, exclude_if=lambda bound: bound is None)
    bound_level: float | None = Field(default=None, exclude_if=lambda level: level is None)


class MeanRatios(_Record):
    """The mean over the notes and over the patients that define the ratio; shown, never ranked."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    notes: float | None
    notes_of: int
    patients: float | None
    patients_of: int
    patients_bound: float | None = Field(
        default=None, description="No smaller than the mean over patients like these, at the level of the bound."
    )


class RatioScore(ComponentScore):
    """A share: ``n`` of ``of``. Where they add up over notes ``per_note`` has both, elsewhere ``per_unit``.

    ``bound`` is the exact upper bound of a share of patients, one-sided; ``bound_clustered`` that of a share of notes,
    which takes into account that notes of a patient go together.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    n: int
    of: int
    value: float | None
    direction: Direction = Field(description="Which shares are better.")
    ci: tuple[float, float] | None = Field(default=None, description="95 %, patients drawn again.")
    bound: float | None = None
    bound_level: float | None = None
    bound_clustered: float | None = Field(default=None, exclude_if=lambda bound: bound is None)
    means: MeanRatios | None = Field(default=None, exclude_if=lambda means: means is None)
    by_class: dict[str, GroupRatio] = Field(default_factory=dict, exclude_if=lambda classes: not classes)
    reason: str | None = None

    formula: ClassVar[str] = RATIO

    @property
    def numbers(self) -> dict[str, int]:
        return {"n": self.n, "of": self.of}

    @property
    def ranked(self) -> float | None:
        return self.value


AnyScore = RatioScore | FormulaScore | MeasureScore


class ErrorKinds(_Record):
    missed: int
    spurious: int
    boundary: int
    wrong_label: int


CurveRow = tuple[float, float | None, float | None]


def _listed(rows: Sequence[CurveRow], as_ever: SerializerFunctionWrapHandler) -> list[Any]:
    """Rows that wait in columns are plain once they are made."""
    return [*(as_ever(rows) if isinstance(rows, list) else rows)]


class ConfidenceCurve(_Record):
    """Rows are (confidence, precision, recall), highest confidence first."""

    average_precision: float | None = None
    best_threshold: float | None = None
    curve: Annotated[list[CurveRow], WrapSerializer(_listed)] | None = None
    reason: str | None = None


def _plainly(by_note: Mapping[str, Any], as_ever: SerializerFunctionWrapHandler) -> dict[str, Any]:
    plain: dict[str, Any] = as_ever(dict(by_note))
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
    phase: str | None = Field(
        default=None, exclude_if=lambda phase: phase is None, description="The phase of the challenge it is of."
    )
    created: str | None = None
    notes: int
    gold_annotations: int
    predicted_annotations: int
    text_checked: bool
    measures: dict[str, AnyScore]
    per_label: dict[str, dict[str, Any]] = Field(default_factory=dict)
    errors: ErrorKinds | None = None
    note_leak: float | None = None
    confidence: ConfidenceCurve | None = None
    per_note: Annotated[Mapping[str, dict[str, tuple[int, ...]]], WrapSerializer(_plainly)]
    per_unit: dict[str, dict[str, tuple[int, ...]]] = Field(
        default_factory=dict,
        exclude_if=lambda rows: not rows,
        description="By patient: [n, of] of shares that do not add up over notes.",
    )
    units: Annotated[Mapping[str, str], WrapSerializer(_plainly)]
    slices: dict[str, SliceTable] = Field(
        default_factory=dict,
        exclude_if=lambda tables: not tables,
        description="By what the data set was sliced: the same measures group by group.",
    )
    robustness: dict[str, PerturbedScores] = Field(
        default_factory=dict,
        exclude_if=lambda copies: not copies,
        description="By copy: what the same annotator scored where notes and gold were perturbed.",
    )
    agreement: AnnotatorAgreement | None = Field(
        default=None,
        exclude_if=lambda agreement: agreement is None,
        description="Where gold is that of several annotators: how well they agree. All counts are sums over them.",
    )
    run: CarriedRun | None = None
    problems: dict[str, int] = Field(default_factory=dict)
    details: dict[str, Any] = Field(default_factory=dict)
    warnings: list[str] = Field(default_factory=list)

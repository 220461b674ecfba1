"""The board: rows in order, best first, with everything a stranger needs to recompute them."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from sandscore.records.annotator_agreement import HumanCeiling
from sandscore.records.carried_run import CarriedRun
from sandscore.records.formula import RATIO, Direction
from sandscore.records.group_scores import PairedScore, WorstSlice
from sandscore.records.ranking_rules import (
    BoardRules,
    CardRule,
    FeedbackMode,
    GoldHeldBy,
    NotesHeldBy,
)
from sandscore.records.strict_record import StrictRecord
from sandscore.records.task_definition import TaskDefinition

Ratio = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Natural = Annotated[int, Field(ge=0)]
Place = Annotated[int, Field(ge=1)]
Adjustment = Literal["stepdown", "holm"]
Root = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Twelve = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
FIRST_RULES = {"tie_rule": "holm", "interval": "percentile", "seed_rule": "names"}
"""What a board means whose ``config`` does not name these rules."""
SINCE = "seed_rule"
"""The newest of these rules: a board whose ``config`` does not name it is of the first kind."""


class RankedMeasure(StrictRecord):
    """One measure of one row; the counts are null where the phase's feedback does not show them."""

    tp: Natural | None
    fp: Natural | None
    fn: Natural | None
    precision: Ratio | None
    recall: Ratio | None
    f1: Ratio | None
    f1_ci: tuple[Ratio, Ratio] | None = None
    reason: str | None = None
    value: Ratio | None = Field(
        default=None, exclude_if=lambda value: value is None, description="What the formula makes of the counts."
    )
    ci: tuple[Ratio, Ratio] | None = Field(default=None, exclude_if=lambda interval: interval is None)
    formula: str | None = Field(
        default=None,
        exclude_if=lambda formula: formula is None,
        description="f_beta(2) of tp, fp and fn, where the measure is not ranked by its F1.",
    )
    direction: Literal["higher"] | None = Field(default=None, exclude_if=lambda direction: direction is None)

    @property
    def ranked(self) -> float | None:
        """The score that ranks."""
        return self.f1 if self.formula is None else self.value

    @property
    def ranked_ci(self) -> tuple[float, float] | None:
        return self.f1_ci if self.formula is None else self.ci


class ComponentMeasure(StrictRecord):
    """A score of one row that is made of whole numbers other than tp, fp and fn.

    Whoever shows a board finds it where other measures have their F1.
    """

    tp: ClassVar[None] = None
    fp: ClassVar[None] = None
    fn: ClassVar[None] = None
    precision: ClassVar[None] = None
    recall: ClassVar[None] = None

    @property
    def numbers(self) -> dict[str, int] | None:
        """The components; None where the phase's feedback does not show them."""
        raise NotImplementedError

    @property
    def ranked(self) -> float | None:
        raise NotImplementedError

    @property
    def ranked_ci(self) -> tuple[float, float] | None:
        raise NotImplementedError

    @property
    def f1(self) -> float | None:
        return self.ranked

    @property
    def f1_ci(self) -> tuple[float, float] | None:
        return self.ranked_ci


class FormulaMeasure(ComponentMeasure):
    """One measure of an installed package, of one row: recomputed from its components without that package.

    The components are null where the phase's feedback does not show them.
    """

    score: Number | None
    score_ci: tuple[Number, Number] | None = None
    components: dict[str, Natural] | None
    formula: str = Field(description="f_beta(1) of tp, fp and fn, ratio(a+b/c+d) or sum(a+b).")
    direction: Direction
    plugin: str | None = Field(default=None, exclude_if=lambda plugin: plugin is None)
    reason: str | None = None

    @property
    def numbers(self) -> dict[str, int] | None:
        return self.components

    @property
    def ranked(self) -> float | None:
        return self.score

    @property
    def ranked_ci(self) -> tuple[float, float] | None:
        return self.score_ci


class RatioMeasure(ComponentMeasure):
    """A share of one row, ``n`` of ``of``, which are null where the phase's feedback does not show them.

    ``ci`` is null where fewer than five patients count against the row: ``bound`` stands then, where there is one.
    """

    n: Natural | None
    of: Natural | None
    value: Ratio | None
    direction: Direction
    ci: tuple[Ratio, Ratio] | None = None
    bound: Ratio | None = Field(default=None, description="Exact upper bound of the share of patients, one-sided.")
    bound_level: Ratio | None = None
    bound_clustered: Ratio | None = Field(
        default=None,
        exclude_if=lambda bound: bound is None,
        description="Of a share of notes, those of a patient going together; from five leaking patients on.",
    )
    reason: str | None = None

    formula: ClassVar[str] = RATIO

    @property
    def numbers(self) -> dict[str, int] | None:
        return None if self.n is None or self.of is None else {"n": self.n, "of": self.of}

    @property
    def ranked(self) -> float | None:
        return self.value

    @property
    def ranked_ci(self) -> tuple[float, float] | None:
        return self.ci


AnyMeasure = RatioMeasure | FormulaMeasure | RankedMeasure


class CardReference(StrictRecord):
    """Where a card lies, seen from the board, and the SHA-256 of its decompressed bytes."""

    path: str
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Site(StrictRecord):
    """One data set of a row whose submission was scored on several."""

    card: CardReference | None
    signature: str | None
    measures: dict[str, AnyMeasure]


class Row(StrictRecord):
    """One submission. ``score`` is the aggregated one where the board does not rank by one pooled measure."""

    rank: Place | Number | None
    rank_set: tuple[Place, Place] | None
    group: Place | None
    team: str | None
    name: str | None = Field(
        default=None,
        exclude_if=lambda name: name is None,
        description="What its team calls the submission, where it calls it anything.",
    )
    submission: str
    image: str | None
    measures: dict[str, AnyMeasure]
    shown: dict[str, dict[str, object]] = Field(
        default_factory=dict, description="Measures without integer counts: as on the card, not ranked."
    )
    score: Number | None = None
    score_ci: tuple[Number, Number] | None = None
    chosen_ci: tuple[Number, Number] | None = Field(
        default=None, description="The interval of the ranked score, allowing for the row's place having been chosen."
    )
    expected: Number | None = Field(default=None, description="The ranked score to expect on new patients.")
    missing: tuple[str, ...] = Field(default=(), description="Cells (data sets, measures) without a score.")
    k: Annotated[Number, Field(gt=0)] | None
    p_vs_leader: Ratio | None
    p_first: Ratio | None
    created: str | None
    run: CarriedRun | None
    signature: str | None
    card: CardReference | None
    sites: dict[str, Site] = Field(default_factory=dict)
    slices: dict[str, WorstSlice] = Field(
        default_factory=dict,
        exclude_if=lambda slices: not slices,
        description="The worst slice by the headline, for each way of slicing that the organiser shows.",
    )
    robustness: dict[str, PairedScore] = Field(
        default_factory=dict,
        exclude_if=lambda copies: not copies,
        description="The headline on perturbed copies beside that on the notes themselves; never part of the score.",
    )


class Pair(StrictRecord):
    """Two rows compared on the score the board ranks by: ``delta`` = a − b, ``wins`` the share of resamples
    in which a is ahead, ties half. Rank sets and groups rest on ``p_adjusted``, which is ``p_holm`` where the board
    adjusts by Holm; ``p_bh`` is Benjamini-Hochberg's.
    Where lower scores are better, a patient is won by the lower one."""

    a: str
    b: str
    delta: Number | None
    p: Ratio | None
    p_adjusted: Ratio | None = None
    p_holm: Ratio | None
    p_bh: Ratio | None = None
    wins: Ratio | None = None
    delta_ci: tuple[Number, Number] | None = Field(
        default=None, description="Between these lie 95 % of the differences when the patients are drawn again."
    )
    patients: tuple[Natural, Natural, Natural] | None = Field(
        default=None, description="On how many patients a scores more than b, as much, and less: won, tied, lost."
    )

    @property
    def adjusted(self) -> float | None:
        """The adjusted p; older boards call it ``p_holm``."""
        return self.p_holm if self.p_adjusted is None else self.p_adjusted


class KendallTau(StrictRecord):
    """Tau-b between the rankings of the resamples and the published one: mean, and 2.5, 50, 97.5 %."""

    mean: Number | None
    q: tuple[Number | None, Number | None, Number | None]


class Stability(StrictRecord):
    kendall_tau: KendallTau
    p_top: dict[str, dict[str, Ratio]]


class BoardPolicy(StrictRecord):
    """Who held the data when the board was made, and so what of it may be published."""

    notes: NotesHeldBy
    gold: GoldHeldBy
    cards: CardRule
    feedback: FeedbackMode
    ended: bool = Field(description="Every phase that uses the same notes or gold has ended.")


class Board(StrictRecord):
    """One task, one phase."""

    sandscore: str
    task: str
    definition: TaskDefinition | None = Field(
        default=None,
        exclude_if=lambda definition: definition is None,
        description="An organiser's own task, as it was defined; absent for the tasks of our table.",
    )
    profile: str
    phase: str | None
    headline: str
    config: BoardRules
    seed: Annotated[str, Field(pattern=r"^0x[0-9a-f]{16}$")]
    log_root: Root | None = Field(
        default=None, description="The log's root when the phase opened, where the seed follows from it."
    )
    gold: dict[str, Twelve | None]
    agreement: dict[str, HumanCeiling] = Field(
        default_factory=dict,
        exclude_if=lambda agreement: not agreement,
        description="By data set whose gold is that of several annotators: how well they agree with each other.",
    )
    units: Natural = Field(description="How many patients (or notes) were resampled.")
    effective_patients: Annotated[Number, Field(ge=2)] | None = Field(
        default=None, description="How many they are worth: fewer where a few have most of the annotations."
    )
    adjustment: Adjustment = Field(
        default="holm", description="How p is adjusted for the number of pairs; scores made of ranks stay with Holm."
    )
    warnings: tuple[str, ...] = ()
    rows: tuple[Row, ...]
    pairwise: tuple[Pair, ...]
    stability: Stability | None
    site_leaders: dict[str, str] | None = None
    policy: BoardPolicy | None = Field(
        default=None, exclude_if=lambda policy: policy is None, description="Absent where no challenge was given."
    )
    withheld: tuple[str, ...] = Field(
        default=(),
        exclude_if=lambda withheld: not withheld,
        description="What is kept back, as JSON Pointers in which * is every row or every measure: null or empty here.",
    )

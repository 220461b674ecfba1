"""The rules by which scores become ranks, and the words of a challenge that boards and policies say too."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from sandscore.records.interval_rules import INTERVAL, RESAMPLES, IntervalKind
from sandscore.records.strict_record import StrictRecord

TieRule = Literal["stepdown", "holm", "dream_k3", "dream_k19"]
Numbering = Literal["competition", "dense", "average"]
Aggregation = Literal["headline", "lexicographic", "borda", "mean_rank"]
SiteRule = Literal["pooled", "macro", "mean_rank"]
MissingRule = Literal["strict", "exclude"]
PairTest = Literal["randomisation", "paired_bootstrap"]
SeedRule = Literal["names", "names+log"]
FeedbackMode = Literal["full", "rounded", "ladder", "blind"]
NotesHeldBy = Literal["hidden", "teams", "public"]
GoldHeldBy = Literal["hidden", "retired", "public"]
LogRule = Literal["none", "rehearsal", "reviewed", "full"]
ProblemRule = Literal["codes", "full"]
CardRule = Literal["none", "totals", "notes"]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\n\r]*$")]


class RankingRules(StrictRecord):
    """How scores become ranks. Every field may stand in challenge.toml, for all or for one task or phase."""

    headline: Name = "instance_strict"
    tie_rule: TieRule = "stepdown"
    numbering: Numbering = "competition"
    tie_break: tuple[Name, ...] = ()
    aggregation: Aggregation = "headline"
    measures: dict[Name, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="The measures that are aggregated, in order, with their weights."
    )
    sites: SiteRule = "pooled"
    missing: MissingRule = "strict"
    test: PairTest = "randomisation"
    interval: IntervalKind = INTERVAL
    resamples: Annotated[int, Field(ge=100, le=1_000_000)] = RESAMPLES
    randomisations: Annotated[int, Field(ge=99, le=100_000_000)] | None = Field(
        default=None, description="Draws of the test; null is 9999, and under Holm max(9999, 200 * pairs - 1)."
    )
    feedback: FeedbackMode = "full"

    @model_validator(mode="after")
    def _aggregates_something(self) -> "RankingRules":
        if self.aggregation != "headline" and not self.measures:
            raise ValueError(f"aggregation = '{self.aggregation}' needs the table 'measures' (name = weight)")
        return self


class BoardRules(RankingRules):
    """The rules this board was made with, as they were in force for its task and phase."""

    challenge: Name | None = None
    secondary: tuple[Name, ...] | None = None
    ended: bool = False
    slices: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    robustness: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    seed_rule: SeedRule = Field(
        default="names",
        description="What the seed follows from: the names of what is ranked, or those and the log's root.",
    )

"""An organiser's decisions before the first submission arrives: the content of ``challenge.toml``."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, model_validator

from sandscore.records.interval_rules import IntervalKind
from sandscore.records.ranking_rules import (
    Aggregation,
    CardRule,
    FeedbackMode,
    GoldHeldBy,
    LogRule,
    MissingRule,
    Name,
    NotesHeldBy,
    Numbering,
    PairTest,
    ProblemRule,
    RankingRules,
    SeedRule,
    SiteRule,
    TieRule,
)
from sandscore.records.strict_record import StrictRecord
from sandscore.records.task_definition import TaskDefinition, TaskFacts, TaskId

ShownHash = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]


REGISTRY_HOST = r"([a-z0-9-]+(\.[a-z0-9-]+)+|localhost)(:[0-9]{1,5})?"
REPOSITORY_PART = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
Registry = Annotated[str, Field(max_length=500, pattern=rf"^{REGISTRY_HOST}(/({REPOSITORY_PART}|\{{team\}}))*$")]

RegistryTeam = Annotated[str, Field(max_length=200, pattern=rf"^{REPOSITORY_PART}$")]


class RuleChanges(StrictRecord):
    """The rules that one task or one phase changes; what is left out stays as it is for the challenge."""

    headline: Name | None = None
    secondary: tuple[Name, ...] | None = None
    tie_rule: TieRule | None = None
    numbering: Numbering | None = None
    tie_break: tuple[Name, ...] | None = None
    aggregation: Aggregation | None = None
    measures: dict[Name, Annotated[float, Field(gt=0, allow_inf_nan=False)]] | None = None
    sites: SiteRule | None = None
    missing: MissingRule | None = None
    test: PairTest | None = None
    interval: IntervalKind | None = None
    resamples: Annotated[int, Field(ge=100, le=1_000_000)] | None = None
    randomisations: Annotated[int, Field(ge=99, le=100_000_000)] | None = None
    feedback: FeedbackMode | None = None


class TaskTable(TaskFacts, RuleChanges):
    """One task's table: with ``array`` it defines a task; the rest are rules that it changes, for any task."""

    @property
    def definition(self) -> TaskDefinition | None:
        """The task that the table defines, if it does."""
        said = {name: getattr(self, name) for name in TaskFacts.model_fields if name in self.model_fields_set}
        return TaskDefinition(**said) if self.array is not None else None


class TaskFile(StrictRecord):
    """A file of nothing but tasks of an organiser's own."""

    tasks: dict[TaskId, TaskDefinition]


class SlotCounts(StrictRecord):
    """How many of something a team may have; null is no limit. Days and weeks begin at 00:00 UTC."""

    day: Count | None = None
    week: Count | None = None
    total: Count | None = None


class Quota(SlotCounts):
    """Submissions a team may make, and how many of them may fail; those that fail use up no slot."""

    failures: SlotCounts | None = Field(
        default=None, description="Null is five times each number above, and 25 a day where there is none."
    )


class Limits(StrictRecord):
    """What a container may use; null leaves the harness's own default."""

    memory: Annotated[str, Field(pattern=r"^[1-9][0-9]*[kmg]$")] | None = None
    cpus: Annotated[float, Field(gt=0, le=1024)] | None = None
    processes: Annotated[int, Field(gt=0, le=100_000)] | None = None
    time_limit: Annotated[float, Field(gt=0, le=10_000_000)] | None = Field(
        default=None, description="Seconds for the whole data set."
    )
    pull_time: Annotated[float, Field(gt=0, le=1_000_000)] | None = Field(
        default=None, description="Seconds for an image to come out of its registry."
    )
    ready_time: Annotated[float, Field(gt=0, le=1_000_000)] | None = Field(
        default=None, description="Seconds until a service says that it is ready."
    )
    note_time: Annotated[float, Field(gt=0, le=1_000_000)] | None = Field(
        default=None, description="Seconds for one note, and a tenth more for each 1000 characters."
    )
    output: Annotated[str, Field(pattern=r"^[1-9][0-9]*[kmg]$")] | None = None
    image_size: Annotated[str, Field(pattern=r"^[1-9][0-9]*[kmg]$")] | None = None
    concurrency: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="Notes that a service is sent at the same time."
    )
    gpus: Literal["all"] | Annotated[int, Field(ge=1, le=1024)] | None = Field(
        default=None, description="Graphics processors a container is handed; null is none."
    )
    batch: bool | None = Field(
        default=None, description="Images are programs that read a file of notes and end, no services."
    )
    hardening: Literal["strict", "compat"] | None = None


class Publication(StrictRecord):
    """What leaves the house: an allow-list, empty unless the organiser says otherwise."""

    columns: tuple[Name, ...] = ("rank", "rank_set", "group", "team", "submission", "measures")
    text: bool = Field(default=False, description="The licence of the notes allows showing their text.")
    citation: str | None = None
    license: Name | None = Field(
        default=None, description="Of boards and cards in the archive of the challenge: an SPDX identifier, or a URL."
    )
    url: Annotated[str, Field(pattern=r"^https?://[!-~]+$", max_length=2000)] | None = Field(
        default=None, description="A page of the organisers, by which the archive knows them."
    )


class Images(StrictRecord):
    """Where images may be pulled from, and what runs them."""

    registries: tuple[Registry, ...] | None = Field(
        default=None,
        description="A host and the beginning of a repository's name. With {team} a team names only what is its own; "
        "null is what the home has.",
    )
    engine: Name | None = Field(
        default=None, description="docker, podman, bubblewrap or apptainer; null is Docker, or the only one there is."
    )
    teams: dict[Name, RegistryTeam] = Field(
        default_factory=dict, description="What {team} is for a team whose name is not its own in the registry."
    )

    @model_validator(mode="after")
    def _teams_differ(self) -> "Images":
        names = list(self.teams.values())
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two teams are '{twice}' in the registry")
        return self

    def team(self, name: str) -> str:
        """What stands for ``{team}``; nothing for a team that is called what another one is in the registry."""
        return self.teams.get(name, "" if name in self.teams.values() else name)


class DataChanges(StrictRecord):
    """Who holds the data already, and what may be told of it; null is what the challenge says, else the default."""

    notes: NotesHeldBy | None = Field(default=None, description="teams: every team holds them under an agreement.")
    gold: GoldHeldBy | None = Field(default=None, description="retired: it will never be used again.")
    practice: Annotated[str, Field(min_length=1, max_length=4096)] | None = Field(
        default=None, description="A folder of notes a team may see everything about, relative to challenge.toml."
    )
    accept_disclosure: bool | None = Field(
        default=None, description="Tell more than the data allow, as the keys beside it say."
    )
    logs: LogRule | None = None
    problems: ProblemRule | None = None
    cards: CardRule | None = None


class Phase(RuleChanges, DataChanges):
    """A stretch of the challenge with its own feedback, quota and data."""

    name: Name
    ended: bool = Field(default=False, description="An ended phase hides nothing, whatever its feedback was.")
    opens: AwareDatetime | None = Field(default=None, description="Submissions are taken from then on.")
    closes: AwareDatetime | None = Field(default=None, description="Submissions are taken until then.")
    quota: Quota | None = None

    @model_validator(mode="after")
    def _opens_first(self) -> "Phase":
        if self.opens is not None and self.closes is not None and self.opens >= self.closes:
            raise ValueError(f"the phase '{self.name}' closes before it opens")
        return self


class SliceRules(StrictRecord):
    """By what the data are sliced. Boards show the worst slice beside the score."""

    by: tuple[Name, ...] = Field(
        default=(),
        description="label, mention-length, script, note-type, note-length, site, or a JSON file, relative to "
        "challenge.toml.",
    )


class RobustnessRules(StrictRecord):
    """What perturbed copies of the notes images run on too. Boards show how much they lose, and rank without it."""

    copies: tuple[Name, ...] = Field(
        default=(), description="Folders that sandscore perturb wrote, relative to challenge.toml."
    )


class Challenge(RankingRules):
    """The whole file. ``tasks`` and ``phases`` override the rules above them; a phase overrides a task."""

    challenge: Name
    title: str | None = None
    secondary: tuple[Name, ...] | None = Field(
        default=None, description="The measures shown beside the headline; null shows all of the card."
    )
    seed_rule: SeedRule = Field(
        default="names+log",
        description="What the seed of a queue's boards follows from: names, or those and the root of the queue's log.",
    )
    measure_files: dict[ShownHash, Name] = Field(
        default_factory=dict,
        description="Files of measures, as weights=, by the first 12 digits of their SHA-256, by which measures name "
        "them here as on cards; relative to challenge.toml.",
    )
    tasks: dict[Name, TaskTable] = Field(default_factory=dict)
    phases: tuple[Phase, ...] = ()
    slices: SliceRules = SliceRules.model_construct()
    robustness: RobustnessRules = RobustnessRules.model_construct()
    quota: Quota = Quota.model_construct()
    limits: Limits = Limits.model_construct()
    images: Images = Images.model_construct()
    data: DataChanges | None = Field(default=None, description="Null is hidden notes and hidden gold.")
    publication: Publication = Publication.model_construct()

    @model_validator(mode="after")
    def _phases_differ(self) -> "Challenge":
        names = [phase.name for phase in self.phases]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two phases are called '{twice}'")
        return self

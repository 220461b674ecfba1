"""The task table: one row is one thing that can be annotated.

A row says how the annotations are called in JSON, which label they carry and what it may be, where a service
answers for them, and what other people's formats and scorers call them. ``tasks.toml`` is where rows are written.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, json

from sandscore.base.errors import UsageFault, did_you_mean
from sandscore.task_table.task_list import TABLE, measures_of, path_of, snake_case

Pairs = tuple[tuple[str, str], ...]


class ForeignTypes(Struct, frozen=True, omit_defaults=True):
    """What one foreign format calls a task, and its labels where that is not the label itself (type, label)."""

    format: str
    types: tuple[str, ...]
    labels: Pairs = ()


class I2b2Category(Struct, frozen=True, omit_defaults=True):
    """Where the i2b2 2014 script counts a task; ``type`` is the TYPE of an annotation without a label."""

    category: str
    type: str | None = None


class ClientNames(Struct, frozen=True, omit_defaults=True):
    """What the NLP Sandbox client calls a task, and as which task one of its releases reads it."""

    name: str | None = None
    releases: Pairs = ()


class Starter(Struct, frozen=True, omit_defaults=True):
    """What a participant's starting point finds, and the labels it gives."""

    pattern: str
    labels: Pairs = ()


class Task(Struct, frozen=True, omit_defaults=True):
    """What can be annotated. ``labels`` empty: free text; ``own``: defined by an organiser, not by our table."""

    id: str
    array: str
    kind: str
    follows: str | None = None
    label: str | None = None
    labels: tuple[str, ...] = ()
    aliases: Pairs = ()
    label_required: bool = False
    second_label: str | None = None
    second_labels: tuple[str, ...] = ()
    confidence_required: bool = False
    hipaa: bool = False
    any_type: bool = False
    type_field: str | None = None
    types: tuple[str, ...] = ()
    foreign: tuple[ForeignTypes, ...] = ()
    standard: Pairs = ()
    i2b2: I2b2Category | None = None
    client: ClientNames = ClientNames()
    identifiers: str | None = None
    identifier_types: Pairs = ()
    starter: Starter | None = None
    sample: str | None = None
    own: bool = False

    @property
    def path(self) -> str:
        """Where an annotator answers for this task."""
        return path_of(self.array)

    @property
    def label_measure(self) -> str | None:
        """The measure that compares labels; None where a task has no label."""
        return snake_case(self.label) if self.label else None

    @property
    def measures(self) -> tuple[str, ...]:
        return () if self.id == ALL_TASKS.id else measures_of(self.label, hipaa=self.hipaa)

    @property
    def label_fields(self) -> dict[str, tuple[str, ...]]:
        """The properties that hold labels, each with what it may be."""
        fields = ((self.label, self.labels), (self.second_label, self.second_labels))
        return {name: values for name, values in fields if name}

    def identifier_class(self, label: str | None) -> str | None:
        """Whether what carries the label identifies: direct, quasi or none; None where the table does not say."""
        return dict(self.identifier_types).get(label or "", self.identifiers)

    @property
    def plain_types(self) -> tuple[str, ...]:
        """What foreign formats call the task: where the table does not say, its name in capitals."""
        return self.types or (self.id.replace("-", "_").upper(),)

    def foreign_types(self, format_name: str) -> ForeignTypes:
        """What one format calls the task and its labels."""
        known = (one for one in self.foreign if one.format == format_name)
        return next(known, ForeignTypes(format_name, self.plain_types))


def _rows() -> list[Task]:
    with open(TABLE, "rb") as file:  # noqa: PTH123
        return json.decode(file.read(), type=list[Task])


TASKS: dict[str, Task] = {task.id: task for task in _rows()}
ALL_TASKS = Task("all", "textAllAnnotations", "whatever identifies a patient")
"""All tasks of the same notes together, which only leaks are told of."""
NO_TASKS: Mapping[str, Task] = MappingProxyType({})


def find_task(name: str | Task, own: Mapping[str, Task] = NO_TASKS) -> Task:
    """The task of that id, an organiser's ``own`` among them, or a usage error that lists them all."""
    if isinstance(name, Task):
        return name
    known = TASKS | dict(own)
    if name not in known:
        raise UsageFault(f"unknown task '{name}'{did_you_mean(str(name), known)}; the tasks are {', '.join(known)}")
    return known[name]

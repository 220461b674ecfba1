"""Counts to score cards.

Counts note by note, kept as tables: a note's own are made when somebody asks for them.
"""

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict
from pydantic import BaseModel

from sandscore import __version__
from sandscore.annotations.columns import Columns, Ints
from sandscore.annotations.data_set import NoteRoll
from sandscore.annotations.input_files import Loaded
from sandscore.base.arrays import Values, np
from sandscore.base.errors import OrganiserFault
from sandscore.base.removable_rooms import REMOVABLE, compiled
from sandscore.measures.challenge_measures import Counted, ratio_sums, totals
from sandscore.measures.dataset_counts import measured
from sandscore.measures.hipaa_map import HipaaMap
from sandscore.measures.measure_registry import MEASURES, document_measure, measures_for
from sandscore.measures.measure_syntax import Named
from sandscore.records.carried_run import CarriedRun
from sandscore.records.counts import Counts, ratio
from sandscore.records.scorecard import (
    AnyScore,
    ConfidenceCurve,
    ErrorKinds,
    FormulaScore,
    Macro,
    MacroNotes,
    MeasureScore,
    Scorecard,
)
from sandscore.task_table.own_tasks import definition_hash, definition_of
from sandscore.task_table.task import ALL_TASKS, Task

if TYPE_CHECKING:
    from sandscore.leaks.identifier_classes import ClassMap, TaskClasses
    from sandscore.leaks.leak_totals import LeakQuestion, LeakTable
    from sandscore.measures.confidence import WeighedConfidence
    from sandscore.span_measures.document_counts import CountedGeneral

Row = tuple[int, ...]
_TOGETHER = 4096
_JSON = msgspec.json.Encoder()


class NoteCounts(Mapping[str, dict[str, Row]]):
    """By note, by measure: tp, fp and fn, or the components of a formula."""

    def __init__(self, roll: NoteRoll, tables: Mapping[str, Ints]) -> None:
        self._roll, self._tables = roll, tables
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._roll)

    def __iter__(self) -> Iterator[str]:
        return iter(self._roll.ids)

    def __getitem__(self, note: str) -> dict[str, Row]:
        self._numbers = self._numbers or {note: number for number, note in enumerate(self._roll.ids)}
        number = self._numbers[note]
        return next(self.rows(number, number + 1))

    def table(self, names: Sequence[str]) -> Ints:
        """By note and measure: tp, fp and fn; noughts where a measure has none of that."""
        out = np.zeros((len(self._roll), len(names), 3), np.int64)
        for at, name in enumerate(names):
            if name in self._tables:
                out[:, at] = self._tables[name]
        return out

    def items(self) -> ItemsView[str, dict[str, Row]]:
        """Some thousand notes at a time, which is quicker than one by one."""
        return _Items(self)

    def rows(self, first: int, last: int) -> Iterator[dict[str, Row]]:
        """The counts of some notes that follow one another."""
        tables = [zip(*table[first:last].T.tolist(), strict=True) for table in self._tables.values()]
        return map(dict, map(zip, repeat([*self._tables]), zip(*tables, strict=True)))

    def written(self) -> Iterator[bytes]:
        """As JSON, some thousand notes at a time; columns are written and laid side by side, and no row is made."""
        names = (_JSON.encode(name).replace(b"%", b"%%") for name in self._tables)
        row, before = b"%b:{" + b",".join(name + b":%b" for name in names) + b"}", b"{"
        for first in range(0, len(self._roll), _TOGETHER):
            some = slice(first, first + _TOGETHER)
            columns = (self._roll.ids[some], *(table[some].tolist() for table in self._tables.values()))
            lines = (_JSON.encode_lines(column).splitlines() for column in columns)
            yield before + b",".join(map(row.__mod__, zip(*lines, strict=True)))
            before = b","
        yield b"}" if len(self._roll) else b"{}"


class _Items(ItemsView[str, dict[str, Row]]):
    _mapping: NoteCounts

    def __iter__(self) -> Iterator[tuple[str, dict[str, Row]]]:
        notes = [*self._mapping]
        for first in range(0, len(notes), _TOGETHER):
            yield from zip(notes[first : first + _TOGETHER], self._mapping.rows(first, first + _TOGETHER), strict=True)


def table_of(rows: Sequence[Row]) -> Ints:
    """Rows as a table."""
    return np.array(rows, np.int64).reshape(len(rows), len(rows[0]) if rows else 0)


def written(values: Mapping[str, Any]) -> Iterator[bytes]:
    """A mapping as JSON, some thousand members at a time."""
    if isinstance(values, NoteCounts):
        yield from values.written()
        return
    rest, before = iter(values.items()), b""
    yield b"{"
    while some := dict(islice(rest, _TOGETHER)):
        yield before + msgspec.json.encode(some)[1:-1]
        before = b","
    yield b"}"


SHOWN_OF_HASH = 12
_BULK = ("per_note", "per_unit", "units")
"""Fields that grow with the notes and are plain already."""


class Identity(msgspec.Struct, frozen=True):
    """Who made the submission and what it was made on: copied to the card as given."""

    team: str | None = None
    submission: str | None = None
    image: str | None = None
    dataset: str | None = None
    created: str | None = None
    run: CarriedRun | None = None
    name: str | None = None
    phase: str | None = None


class Question(msgspec.Struct, frozen=True):
    """What to compute: the task, measures beyond its own, which labels HIPAA protects, and which identify."""

    task: Task
    measures: tuple[str, ...] = ()
    hipaa: HipaaMap | None = None
    identity: Identity = msgspec.field(default_factory=Identity)
    classes: "ClassMap | None" = None
    rules: "TaskClasses | None" = None
    """Which labels identify, where the labels are those of several tasks."""
    slices: tuple[str, ...] = ()
    """By what the data set is sliced: rules, and organisers' files."""
    texts: bool = True
    """Whether notes' texts are wanted once all is scored."""


def reads_texts(question: Question) -> bool:
    """Whether some of it is told from notes' texts, beyond that annotations stand in them."""
    names = (measure.name for measure in measures_for(question.task, question.measures))
    kinds = (document_measure(name) is not None or MEASURES.find(name).of_positions for name in names)
    return question.texts or bool(question.slices) or any(kinds)


def score(question: Question, loaded: Loaded, jobs: int = 1) -> Scorecard:
    """The score card of files that were loaded without errors, counted by ``jobs`` processes."""
    task, dataset = question.task, loaded.dataset
    gold, predictions = loaded.columns["gold"], loaded.columns["predictions"]
    names = dataset.vocabulary.names
    wanted = measures_for(task, question.measures)
    general = [measure for measure in wanted if document_measure(measure.name) is not None]
    leaks = [measure for measure in wanted if MEASURES.find(measure.name).of_positions]
    columnar = [measure for measure in wanted if measure not in general and measure not in leaks]
    hipaa = question.hipaa if task.hipaa else None
    _refuse_some_entities(gold)
    asked, rules = _leak_question(question, leaks, loaded)
    whole = measured(task, loaded, columnar, hipaa, jobs, asked)
    counted = _counted(general, loaded)
    if loaded.readings is not None:
        whole, counted, asked = loaded.readings.by_note(whole, counted, asked)
        dataset = loaded.readings.notes
    scores: dict[str, AnyScore] = {str(c.measure): _score(c) for c in whole.counted}
    identity = question.identity
    return _card(
        sandscore=__version__,
        signature=signature(task, "challenge", loaded.sha256, hipaa, rules),
        task=task.id,
        **carried_definition(task),
        profile="challenge",
        team=identity.team,
        name=identity.name,
        submission=identity.submission,
        image=identity.image,
        dataset=identity.dataset,
        phase=identity.phase,
        created=identity.created,
        notes=len(dataset.roll),
        gold_annotations=len(gold),
        predicted_annotations=len(predictions),
        text_checked=dataset.texts is not None,
        measures=scores | {str(g.measure): _general(g) for g in counted} | _leak_scores(whole.leaks, asked),
        per_label=_per_label((gold, predictions), names, whole.counted, whole.leaks),
        errors=_error_kinds(whole.errors),
        note_leak=whole.note_leak,
        confidence=_curve(whole.confidence),
        per_note=_per_note(dataset.roll, whole.counted, counted, whole.leaks),
        **_per_unit(whole.leaks, asked),
        units=dataset.roll.unit_of(),
        run=identity.run,
        problems=dict(sorted(loaded.findings["predictions"].counts.items())),
        warnings=[warning for g in counted for warning in g.warnings] + _alone(task, whole.leaks),
    )


def _card(**given: Any) -> Scorecard:
    """Of what is right already; pydantic would ask each maker of a default, for every card, what it wants to know."""
    return Scorecard.model_construct({*given}, **given, **{name: {} for name in _EMPTY if name not in given})


_EMPTY = [name for name, field in Scorecard.model_fields.items() if field.default_factory is dict]
"""The fields in which there is nothing unless somebody says so."""


def _refuse_some_entities(gold: Columns) -> None:
    """Ids of entities are for all of gold or for nothing."""
    if gold.entity is not None and bool((gold.entity < 0).any()):
        raise OrganiserFault("some annotations of gold have an entityId and some have none; all have one, or none has")


def _leak_question(
    question: Question, leaks: list[Named], loaded: Loaded
) -> "tuple[LeakQuestion | None, TaskClasses | None]":
    """What is asked of leaks, and by which classes; the rooms of leaks are entered only where something is."""
    if not leaks:
        return None, None
    with REMOVABLE:
        from sandscore.leaks.identifier_classes import classes_of
        from sandscore.leaks.leak_totals import leak_plans, leak_question

    rules = question.rules or classes_of(question.task, question.classes, question.hipaa)
    return leak_question(leak_plans(leaks, loaded), loaded, rules), rules


def _alone(task: Task, leaks: "list[LeakTable]") -> list[str]:
    """What the card of a single task cannot say of whole notes, patients and entities."""
    told = [leak.plan.shown for leak in leaks if leak.plan.row.name in {"patient_leak", "entity_leak", "note_leak"}]
    if not told or task.id == ALL_TASKS.id:
        return []
    said = f"{', '.join(told)}: of the task {task.id} alone; what is open of other tasks leaks too (score all)"
    return [said]


def _leak_scores(tables: "list[LeakTable]", question: "LeakQuestion | None") -> dict[str, AnyScore]:
    if question is None:
        return {}
    from sandscore.leaks.leak_scores import leak_score

    means = [macro(table.rows) if table.rows.shape[1] > len(("n", "of")) else None for table in tables]
    return {table.plan.shown: leak_score(table, question, mean) for table, mean in zip(tables, means, strict=True)}


def _per_unit(tables: "list[LeakTable]", question: "LeakQuestion | None") -> dict[str, Any]:
    """What does not add up over notes; nothing where nothing of it was asked for."""
    if question is None or not any(table.by_patient for table in tables):
        return {}
    from sandscore.leaks.leak_scores import unit_rows

    return {"per_unit": unit_rows(tables, question)}


def signature(
    task: Task,
    profile: str,
    sha256: Mapping[str, str],
    hipaa: HipaaMap | None,
    classes: "TaskClasses | None" = None,
) -> str:
    """What must be equal for two numbers to be comparable, in one line."""
    parts = [task.id, profile]
    parts += [f"{role}:{sha256[role][:SHOWN_OF_HASH]}" for role in ("gold", "predictions")]
    defined = definition_hash(task)
    parts += [f"task:{defined[:SHOWN_OF_HASH]}"] if defined else []
    parts += [f"map:{hipaa.digest[:SHOWN_OF_HASH]}"] if hipaa else []
    parts += [f"classes:{classes.digest[:SHOWN_OF_HASH]}"] if classes else []
    return "|".join([*parts, f"v{__version__}"])


def carried_definition(task: Task) -> dict[str, Any]:
    """What the card of an organiser's own task says of it; nothing where our table does."""
    if not task.own:
        return {}
    from sandscore.records.task_definition import TaskDefinition

    return {"definition": TaskDefinition.model_validate(msgspec.to_builtins(definition_of(task)))}


def _counted(measures: list[Named], loaded: Loaded) -> "list[CountedGeneral]":
    """The general measures, whose modules are imported only where one was asked for."""
    if not measures:
        return []
    with REMOVABLE:
        from sandscore.span_measures.document_counts import count_general

    return count_general(measures, loaded)


def _error_kinds(counted: Mapping[str, Any] | None) -> ErrorKinds | None:
    return ErrorKinds.model_construct(**counted) if counted else None


def _score(counted: Counted) -> MeasureScore:
    per_note = counted.held["per_note"]
    counts = Counts(*totals(per_note))
    extra: dict[str, Any] = {}
    if counted.conditional:
        right, wrong = counted.conditional
        extra["conditional_accuracy"] = ratio(right, right + wrong)
    if counted.reason:
        extra["reason"] = counted.reason
    defined = counted.reason is None
    return MeasureScore.model_construct(
        tp=counts.tp,
        fp=counts.fp,
        fn=counts.fn,
        precision=counts.precision if defined else None,
        recall=counts.recall if defined else None,
        f1=counts.f1 if defined else None,
        macro=macro(per_note) if defined else _undefined(),
        f1_ci=None,
        **extra,
    )


def macro(per_note: Values) -> Macro:
    """Means over the notes that define each ratio; exact sums, so that the order of notes changes nothing."""
    sums = ratio_sums(per_note)
    means, notes = [total / count if count else None for total, count in sums], [count for _, count in sums]
    of = MacroNotes.model_construct(precision=notes[0], recall=notes[1], f1=notes[2])
    return Macro.model_construct(precision=means[0], recall=means[1], f1=means[2], notes=of)


def _curve(weighed: "WeighedConfidence") -> ConfidenceCurve:
    """A reason only where there is one."""
    told = asdict(weighed)
    if weighed.reason is None:
        del told["reason"]
    return ConfidenceCurve.model_construct(**told)


def _undefined() -> Macro:
    nobody = MacroNotes.model_construct(precision=0, recall=0, f1=0)
    return Macro.model_construct(precision=None, recall=None, f1=None, notes=nobody)


def _per_label(
    files: tuple[Columns, Columns], names: list[str], counted: Iterable[Counted], leaks: "list[LeakTable]"
) -> dict[str, dict[str, Any]]:
    used = set().union(*(file.labels() for file in files))
    rows = [(str(c.measure), c.per_label.tolist()) for c in counted if c.per_label is not None]
    found: dict[str, dict[str, Any]] = {
        names[code]: {name: dict(zip(("tp", "fp", "fn"), table[code], strict=True)) for name, table in rows}
        for code in sorted(used, key=lambda code: names[code])
    }
    for table in leaks:
        from sandscore.leaks.leak_scores import label_rows

        for label, row in label_rows(table, names).items():
            found.setdefault(label, {})[table.plan.shown] = row
    return found


def _per_note(
    roll: NoteRoll, counted: list[Counted], general: "list[CountedGeneral]", leaks: "list[LeakTable]"
) -> NoteCounts:
    tables = {str(c.measure): c.per_note for c in counted}
    tables |= {str(g.measure): table_of(g.per_note) for g in general if g.per_note is not None}
    tables |= {leak.plan.shown: leak.rows for leak in leaks if not leak.by_patient}
    return NoteCounts(roll, tables)


def _general(counted: "CountedGeneral") -> AnyScore:
    if "components" in counted.shown:
        return FormulaScore(**counted.shown)
    averaged = {"macro": macro(table_of(counted.per_note or ()))} if counted.in_counts else {}
    return MeasureScore(**{"f1_ci": None, **counted.shown, **averaged})


def dumped(card: Scorecard) -> bytes:
    """The card as it is written: what does not apply is left out, what is undefined is null."""
    return b"".join(pieces(card))


def _one_level(value: Any) -> Any:
    """What the encoder, which goes on into it, cannot know: records, and curves."""
    if isinstance(value, BaseModel):
        return dict(said(value))
    if isinstance(value, Sequence):
        return [*value]
    raise NotImplementedError(type(value).__name__)


encoded = msgspec.json.Encoder(enc_hook=_one_level).encode
"""As JSON what ``model_dump(exclude_unset=True)`` makes of a record, without pydantic's serializers, whose making takes
longer than scoring a small file."""


def said(record: BaseModel) -> Iterator[tuple[str, Any]]:
    """The fields of a record that were given and that it does not leave out; what it did not expect comes last."""
    given, left_out = record.model_fields_set, _left_out(type(record))
    for name, value in vars(record).items():
        if name in given and not (name in left_out and left_out[name](value)):
            yield name, value
    yield from (record.model_extra or {}).items()


@cache
def _left_out(kind: type[BaseModel]) -> dict[str, Callable[[Any], bool]]:
    """When a record of that kind leaves a field out, for those that it does at times."""
    return {name: field.exclude_if for name, field in kind.model_fields.items() if field.exclude_if is not None}


def pieces(card: Scorecard) -> Iterator[bytes]:
    """The same in pieces that do not grow with the notes."""
    plain = {name: value for name, value in said(card) if name not in _BULK}
    whole = {name: bulk for name in _BULK if (bulk := getattr(card, name)) or name != "per_unit"} | plain
    names = [
        *(name for name in type(card).model_fields if name in whole),
        *(name for name in plain if name not in type(card).model_fields),
    ]
    for name, before in zip(names, chain([b"{"], repeat(b",")), strict=False):
        yield before + msgspec.json.encode(name) + b":"
        known = written(whole[name]) if name in _BULK else compiled().long_curve(whole[name], encoded)
        yield from known or [encoded(whole[name])]
    yield b"}\n"

"""Gold, predictions and notes read together: joined on the same names, hashed, and checked.

The watch of whoever follows files as they are read and judged: nothing is printed where nobody asks for it.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Any

from msgspec import Struct, field

from sandscore.annotations.annotation_loader import AnnotationLoader
from sandscore.annotations.column_builder import Gathered
from sandscore.annotations.columns import Columns, Small
from sandscore.annotations.data_set import DataSet, Readings, TextsNeededError, WholeNamesNeededError
from sandscore.annotations.label_codes import renumber, vocabulary
from sandscore.annotations.note_loader import NotesLoader
from sandscore.annotations.note_texts import GatheredTexts
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.annotations.record_reader import Progress, quiet
from sandscore.base.byte_sources import BadStream, InputFile, Source, opened
from sandscore.base.column_files import keep_freed_memory
from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.base.forked_work import beside
from sandscore.base.removable_rooms import compiled, needed_part
from sandscore.records.problem import PARTIAL_HEAD, Severity
from sandscore.task_table.task import Task


def _silently(_paths: Iterable[InputFile]) -> AbstractContextManager[Progress]:
    return nullcontext(quiet)


def _untold(_what: object) -> None:
    """Nobody listens."""


class ReadingWatch(Struct, frozen=True):
    """Told of bytes as they are read, of problems before anything is refused, and of warnings."""

    reading: Callable[[Iterable[InputFile]], AbstractContextManager[Progress]] = _silently
    problems: Callable[[Iterable[ProblemCollector]], object] = _untold
    warning: Callable[[str], object] = _untold


UNWATCHED = ReadingWatch()


class Inputs(Struct, frozen=True):
    """Where a command's inputs are; ``-`` is standard input.

    An ``index`` of gold and notes is read in their place; where they are given too they must be what it was made of.
    """

    gold: InputFile | None = None
    predictions: InputFile | None = None
    notes: InputFile | None = None
    index: InputFile | None = None
    known: Any = None
    """``Loaded`` before: it has what is not given here."""

    @property
    def given(self) -> dict[str, InputFile]:
        """By role, in the order they are read: notes name the data set, else gold does."""
        named = {"notes": self.notes, "gold": self.gold, "predictions": self.predictions}
        if self.index is not None:
            named = {"predictions": self.predictions}
        given = {role: path for role, path in named.items() if path is not None}
        if [str(path) for path in given.values()].count("-") > 1:
            raise UsageFault("standard input (-) can be read only once")
        return given


class OpenInputs(Inputs, frozen=True):
    """Inputs of somebody who may see the notes: what stands there where a text does not is kept."""


class Loaded(Struct, frozen=True):
    """What was read, by role, and what was found wrong with each file.

    ``readings`` where gold is that of several annotators; ``spoken_of``, where one process read gold: by note, 1 where
    it has an entry for it.
    """

    dataset: DataSet
    columns: dict[str, Columns]
    findings: dict[str, ProblemCollector]
    sha256: dict[str, str]
    readings: Readings | None = None
    spoken_of: bytes | bytearray = b""
    entries: Mapping[str, bytearray] = {}
    """By role, for files whose columns say all that was written: the same of that file."""

    def faulty(self, *roles: str) -> bool:
        """Whether any of these files has errors."""
        return any(self.findings[role].errors for role in roles if role in self.findings)


def load_files(  # noqa: PLR0913 (named, one for each option)
    task: Task,
    inputs: Inputs,
    *,
    complete: bool = False,
    want_tokens: bool = True,
    want_hashes: bool = True,
    want_texts: bool = True,
    whole_names: bool = False,
    jobs: int = 1,
    progress: Progress = quiet,
) -> Loaded:
    """Read all inputs. ``complete``: a note without predictions is an error; ``jobs``: processes to use.

    ``want_texts``: somebody will look at notes' texts once everything is read; else they need not be kept.
    ``whole_names``: notes are told apart by more than the last segments of their names.
    """
    if inputs.index is not None:
        load_indexed = needed_part("gold_index.indexed_inputs:load_indexed")
        load = partial(load_files, complete=complete, want_tokens=want_tokens, want_hashes=want_hashes, jobs=jobs)
        from_index: Loaded = load_indexed(task, inputs, load, progress)
        return from_index
    keep_freed_memory()
    known: Loaded | None = inputs.known
    sources: dict[str, Source | BadStream] = {}
    with ExitStack() as stack:
        for role, path in inputs.given.items():
            try:
                sources[role] = stack.enter_context(opened(path))
            except BadStream as fault:
                sources[role] = fault
        sha256 = {} if known is None else {**known.sha256}
        hashed = _hash(sources, sha256, aside=jobs > 1) if want_hashes else _at_once
        stack.callback(hashed)

        def read(*, whole_names: bool, progress: Progress, want_texts: bool = True) -> Loaded:
            quoting = isinstance(inputs, OpenInputs)
            begun = known or Loaded(DataSet(vocabulary(task, task.label), whole_names), {}, {}, {})
            dataset, given = begun.dataset, inputs.given
            found = {role: ProblemCollector(str(path), task.array, quoting=quoting) for role, path in given.items()}
            findings = begun.findings | found
            reader = _Reader(task, sources, complete, want_tokens, want_texts, jobs, hashed, dataset, findings)
            columns = begun.columns | reader.read(progress)
            dataset.compiled = None  # its rooms are for reading
            return Loaded(dataset, columns, findings, sha256, None, reader.spoken_of, reader.entries)

        try:
            try:
                return read(whole_names=whole_names, progress=progress, want_texts=want_texts)
            except TextsNeededError:
                return read(whole_names=whole_names, progress=quiet)
        except WholeNamesNeededError:
            if known is not None:
                raise
            return read(whole_names=True, progress=quiet)


def _hash(sources: Mapping[str, Source | BadStream], sha256: dict[str, str], *, aside: bool) -> Callable[[], None]:
    """Fill in the hashes of gold and predictions, perhaps while notes are read; the value waits until that is done."""

    def take() -> None:
        hashed = ((role, source) for role, source in sources.items() if role != "notes")
        sha256.update({role: source.sha256() for role, source in hashed if isinstance(source, Source)})

    if not aside:
        take()
        return _at_once
    from threading import Thread

    thread = Thread(target=take)
    thread.start()
    return thread.join


def _at_once() -> None:
    """Nothing to wait for."""


class _Reader(Struct):
    task: Task
    sources: Mapping[str, Source | BadStream]
    complete: bool
    want_tokens: bool
    want_texts: bool
    jobs: int
    hashed: Callable[[], None]
    """Waits for whoever looks at what is read while notes are: nothing may be written into it before."""
    dataset: DataSet
    findings: dict[str, ProblemCollector]
    spoken_of: bytes | bytearray = b""
    entries: dict[str, bytearray] = field(default_factory=dict)

    def read(self, progress: Progress) -> dict[str, Columns]:
        usable = {role: source for role, source in self.sources.items() if isinstance(source, Source)}
        for role, source in self.sources.items():
            if isinstance(source, BadStream):
                self.findings[role].add("json", (-1, -1), "", None, str(source))
        columns: dict[str, Columns] = {}
        notes = usable.pop("notes", None)
        if notes is not None:
            sizes = [len(source.data) for source in usable.values()]
            waits = not self.want_texts and self.jobs == 1
            waiting = compiled().waiting_texts(len(notes.data), sizes) if waits else None
            texts = waiting or GatheredTexts(len(notes.data))
            NotesLoader(self.dataset, self.findings["notes"], texts).load(memoryview(notes.data), progress)
        if "notes" in self.findings and self.findings["notes"].errors:
            return columns  # nothing can be judged by notes that are not right themselves
        self.hashed()
        if self.jobs > 1 and notes is not None and len(usable) > 1:
            return self._both_at_once(usable["gold"], usable["predictions"], progress)
        for role, source in usable.items():
            columns[role] = self._load(role, source, progress)
            self.dataset.growing = False
        if notes is not None:
            compiled().compare_waiting(self.dataset.texts, memoryview(notes.data), columns.values())
        return columns

    def _load(self, role: str, source: Source, progress: Progress, gathered: Gathered | None = None) -> Columns:
        data, findings = memoryview(source.data), self.findings[role]
        _refuse_partial(role, data)
        loader = AnnotationLoader(self.task, self.dataset, findings, want_tokens=self.want_tokens, gathered=gathered)
        columns = loader.load(data, missing=self._missing(role), progress=progress)
        if role == "gold":
            self.spoken_of = loader.spoken_of
        if loader.says_no_more and not findings.errors:
            self.entries[role] = loader.spoken_of
        if role == "predictions":
            loader.diagnose(data, columns)
        return columns

    def _both_at_once(self, gold: Source, predictions: Source, progress: Progress) -> dict[str, Columns]:
        """Gold in a second process; labels are numbered as if it had been read first."""

        gathered = Gathered(shared=True)

        def read_gold() -> tuple[Columns | tuple[str, ...], Small | None, ProblemCollector, list[str]]:
            columns = self._load("gold", gold, quiet, gathered)
            self.findings["gold"].settle()
            self.findings["gold"].describe = None
            return gathered.kept or columns, columns.entity, self.findings["gold"], self.dataset.vocabulary.names

        with beside(read_gold) as result:
            predicted = self._load("predictions", predictions, progress)
            found, entity, self.findings["gold"], names = result()
        labels = vocabulary(self.task, self.task.label)
        labels.learn(names)
        renumber(predicted, self.dataset.vocabulary, labels)
        self.dataset.vocabulary = labels
        gold_columns = found if isinstance(found, Columns) else gathered.spilled(found).replace(entity=entity)
        return {"gold": gold_columns, "predictions": predicted}

    def _missing(self, role: str) -> Severity | None:
        """How a note without an entry is taken: not at all in gold, which need not speak of every note."""
        if role == "gold" or not self.findings.keys() & {"notes", "gold"}:
            return None
        return "error" if self.complete else "warning"


def _refuse_partial(role: str, data: memoryview) -> None:
    """Some of a run's answers are never taken for all of them, whatever the file is called by now."""
    if bytes(data[: len(PARTIAL_HEAD)]) != PARTIAL_HEAD:
        return
    head, *lines = bytes(data).split(b"\n")
    known = re.search(rb'"notes":([0-9]+)', head)
    told = f"{len(lines) - 1:,} of {int(known[1]):,} notes" if known else "some notes"
    sentence = f"the {role} are those of a run that did not finish, with {told}; sandscore run --resume goes on with it"
    raise (OrganiserFault if role == "gold" else ParticipantFault)(sentence)

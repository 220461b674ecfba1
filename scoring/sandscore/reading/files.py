"""Gold, predictions and notes read together: joined on the same names, hashed, and checked."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from sandscore.reading.columns import Columns
from sandscore.reading.datasets import DataSet, WholeNamesNeededError
from sandscore.reading.findings import Findings
from sandscore.reading.forking import beside
from sandscore.reading.gathering import Gathered
from sandscore.reading.labels import renumber, vocabulary
from sandscore.reading.loading import AnnotationLoader
from sandscore.reading.notes import NotesLoader
from sandscore.reading.sources import BadStream, Source, keep_freed_memory, opened
from sandscore.reading.walking import Progress, quiet
from sandscore.records.errors import UsageFault
from sandscore.records.problems import Severity
from sandscore.tasks import Task


@dataclass(frozen=True, slots=True)
class Inputs:
    """Where a command's inputs are; ``-`` is standard input."""

    gold: str | Path | None = None
    predictions: str | Path | None = None
    notes: str | Path | None = None

    @property
    def given(self) -> dict[str, str | Path]:
        """By role, in the order they are read: notes name the data set, else gold does."""
        named = {"notes": self.notes, "gold": self.gold, "predictions": self.predictions}
        given = {role: path for role, path in named.items() if path is not None}
        if [str(path) for path in given.values()].count("-") > 1:
            raise UsageFault("standard input (-) can be read only once")
        return given


@dataclass(frozen=True, slots=True)
class Loaded:
    """What was read, by role, and what was found wrong with each file."""

    dataset: DataSet
    columns: dict[str, Columns]
    findings: dict[str, Findings]
    sha256: dict[str, str]

    def faulty(self, *roles: str) -> bool:
        """Whether any of these files has errors."""
        return any(self.findings[role].errors for role in roles if role in self.findings)


def load_files(
    task: Task,
    inputs: Inputs,
    *,
    complete: bool = False,
    want_tokens: bool = True,
    want_hashes: bool = True,
    jobs: int = 1,
    progress: Progress = quiet,
) -> Loaded:
    """Read all inputs. ``complete``: a note without predictions is an error; ``jobs``: processes to use."""
    keep_freed_memory()
    sources: dict[str, Source | BadStream] = {}
    with ExitStack() as stack:
        for role, path in inputs.given.items():
            try:
                sources[role] = stack.enter_context(opened(path))
            except BadStream as fault:
                sources[role] = fault
        sha256: dict[str, str] = {}

        def take_hashes() -> None:
            hashed = ((role, source) for role, source in sources.items() if role != "notes")
            sha256.update({role: source.sha256() for role, source in hashed if isinstance(source, Source)})

        aside = Thread(target=take_hashes)
        if want_hashes and jobs > 1:
            aside.start()
            stack.callback(aside.join)
        elif want_hashes:
            take_hashes()
        reader = _Reader(task, inputs, sources, complete, want_tokens, jobs, aside)
        try:
            return Loaded(*reader.read(progress, whole_names=False), sha256)
        except WholeNamesNeededError:
            return Loaded(*reader.read(quiet, whole_names=True), sha256)


@dataclass(slots=True)
class _Reader:
    task: Task
    inputs: Inputs
    sources: Mapping[str, Source | BadStream]
    complete: bool
    want_tokens: bool
    jobs: int
    aside: Thread
    """Looks at what is read while notes are; nothing may be written into it before that is done."""
    dataset: DataSet = field(init=False)
    findings: dict[str, Findings] = field(init=False)

    def read(self, progress: Progress, *, whole_names: bool) -> tuple[DataSet, dict[str, Columns], dict[str, Findings]]:
        self.dataset = DataSet(vocabulary(self.task, self.task.label), whole_names)
        self.findings = {role: Findings(str(path), self.task.array) for role, path in self.inputs.given.items()}
        usable = {role: source for role, source in self.sources.items() if isinstance(source, Source)}
        for role, source in self.sources.items():
            if isinstance(source, BadStream):
                self.findings[role].add("json", (-1, -1), "", None, str(source))
        columns: dict[str, Columns] = {}
        notes = usable.pop("notes", None)
        if notes is not None:
            NotesLoader(self.dataset, self.findings["notes"]).load(memoryview(notes.data), progress)
        if "notes" in self.findings and self.findings["notes"].errors:
            return self.dataset, columns, self.findings  # nothing can be judged by notes that are not right themselves
        if self.aside.is_alive():
            self.aside.join()
        if self.jobs > 1 and notes is not None and len(usable) > 1:
            columns = self._both_at_once(usable["gold"], usable["predictions"], progress)
        else:
            for role, source in usable.items():
                columns[role] = self._load(role, source, progress)
                self.dataset.growing = False
        return self.dataset, columns, self.findings

    def _load(self, role: str, source: Source, progress: Progress, gathered: Gathered | None = None) -> Columns:
        findings, want_tokens = self.findings[role], self.want_tokens
        loader = AnnotationLoader(self.task, self.dataset, findings, want_tokens=want_tokens, gathered=gathered)
        return loader.load(memoryview(source.data), missing=self._missing(role), progress=progress)

    def _both_at_once(self, gold: Source, predictions: Source, progress: Progress) -> dict[str, Columns]:
        """Gold in a second process; labels are numbered as if it had been read first."""

        gathered = Gathered(shared=True)

        def read_gold() -> tuple[Columns | tuple[str, ...], Findings, list[str]]:
            columns = self._load("gold", gold, quiet, gathered)
            self.findings["gold"].settle()
            self.findings["gold"].describe = None
            return gathered.kept or columns, self.findings["gold"], self.dataset.vocabulary.names

        with beside(read_gold) as result:
            predicted = self._load("predictions", predictions, progress)
            found, self.findings["gold"], names = result()
        labels = vocabulary(self.task, self.task.label)
        labels.learn(names)
        renumber(predicted, self.dataset.vocabulary, labels)
        self.dataset.vocabulary = labels
        return {"gold": found if isinstance(found, Columns) else gathered.spilled(found), "predictions": predicted}

    def _missing(self, role: str) -> Severity | None:
        """How a note without an entry is taken: not at all in gold, which need not speak of every note."""
        if role == "gold" or ("notes" not in self.sources and "gold" not in self.sources):
            return None
        return "error" if self.complete else "warning"

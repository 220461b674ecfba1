"""Gold, predictions and notes read together: joined on the same names, hashed, and checked."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from sandscore.reading.columns import Columns
from sandscore.reading.datasets import DataSet, WholeNamesNeededError
from sandscore.reading.findings import Findings
from sandscore.reading.labels import vocabulary
from sandscore.reading.loading import AnnotationLoader
from sandscore.reading.notes import NotesLoader
from sandscore.reading.sources import BadStream, Source, opened
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
    progress: Progress = quiet,
) -> Loaded:
    """Read all inputs. ``complete``: a note without predictions is an error."""
    sources: dict[str, Source | BadStream] = {}
    with ExitStack() as stack:
        for role, path in inputs.given.items():
            try:
                sources[role] = stack.enter_context(opened(path))
            except BadStream as fault:
                sources[role] = fault
        sha256 = {
            role: source.sha256()
            for role, source in sources.items()
            if want_hashes and role != "notes" and isinstance(source, Source)
        }
        names = {role: str(path) for role, path in inputs.given.items()}
        try:
            return _read(task, names, sources, sha256, whole_names=False, options=(complete, want_tokens, progress))
        except WholeNamesNeededError:
            return _read(task, names, sources, sha256, whole_names=True, options=(complete, want_tokens, quiet))


def _read(
    task: Task,
    names: Mapping[str, str],
    sources: Mapping[str, Source | BadStream],
    sha256: dict[str, str],
    *,
    whole_names: bool,
    options: tuple[bool, bool, Progress],
) -> Loaded:
    complete, want_tokens, progress = options
    dataset = DataSet(vocabulary(task, task.label), whole_names)
    findings = {role: Findings(name, task.array) for role, name in names.items()}
    columns: dict[str, Columns] = {}
    for role, source in sources.items():
        if isinstance(source, BadStream):
            findings[role].add("json", (-1, -1), "", None, str(source))
            continue
        data = memoryview(source.data)
        if role == "notes":
            NotesLoader(dataset, findings[role]).load(data, progress)
            if findings[role].errors:
                break  # nothing can be judged by notes that are not right themselves
        else:
            loader = AnnotationLoader(task, dataset, findings[role], want_tokens=want_tokens)
            columns[role] = loader.load(data, missing=_missing(role, sources, complete), progress=progress)
            dataset.growing = False
    return Loaded(dataset, columns, findings, sha256)


def _missing(role: str, sources: Mapping[str, object], complete: bool) -> Severity | None:
    """How a note without an entry is taken: not at all in gold, which need not speak of every note."""
    if role == "gold" or ("notes" not in sources and "gold" not in sources):
        return None
    return "error" if complete else "warning"

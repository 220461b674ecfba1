"""The diagnosis of one file that was read and found wanting, and the remedy that follows from it."""

import re
from collections.abc import Mapping

from msgspec import Struct, field

from sandscore.annotations.data_set import DataSet
from sandscore.annotations.label_codes import normalised
from sandscore.records.diagnosis import Diagnosis
from sandscore.remedies.diagnosing import Treatment, diagnosed
from sandscore.remedies.spots import FileSpots, SpotReader
from sandscore.task_table.task import Task

BOM = b"\xef\xbb\xbf"
_SHARE = 0.9
_MARKED = re.compile(r"^[BILUES][-_](?=.)", re.IGNORECASE)
_PATH = re.compile(r"[/:.#|]")


class Remedy(Struct, frozen=True):
    """What is to be done to a file: only what its diagnosis says, and only what can be proven."""

    treatment: Treatment | None = None
    scaled: bool = False
    labels: Mapping[tuple[str, str], str] = field(default_factory=dict)
    marked: bool = False
    """Whether a byte order mark before the JSON goes."""

    @property
    def empty(self) -> bool:
        return not (self.treatment or self.scaled or self.labels or self.marked)


def file_diagnosis(task: Task, dataset: DataSet, data: memoryview) -> tuple[tuple[Diagnosis, ...], Remedy]:
    """Why what a file says is not so: it is read once more; the causes, the one of the file first, and the remedy."""
    marked = bytes(data[:3]) == BOM
    reader = SpotReader(task, dataset)
    found = reader.read(data[3:] if marked else data)
    causes, treatment = diagnosed(found, reader.views)
    treated = treatment if causes and all(one.fixable for one in causes) else None
    stands = not found.wrong or treated is not None
    if marked:
        causes = [Diagnosis("bom", "file", 0, 0, stands), *causes]
    scaled = _is_scale(found)
    if scaled:
        causes.append(Diagnosis("confidence-scale", "file", found.confidences, found.confidences, stands))
    labels, told = _other_labels(task, found, stands=stands)
    causes += told
    return tuple(causes), Remedy(treated, scaled, labels, marked)


def _is_scale(found: FileSpots) -> bool:
    return found.confidences > 0 and found.fractions and 0 < found.highest <= 1


def _other_labels(task: Task, found: FileSpots, *, stands: bool) -> tuple[dict[tuple[str, str], str], list[Diagnosis]]:
    """Labels of another vocabulary, and what they are in the task's, where all are known there."""
    strange = {
        (name, label): count
        for (name, label), count in found.labels.items()
        if task.label_fields[name] and normalised(label, task.label_fields[name], dict(task.aliases)) is None
    }
    wrong = sum(strange.values())
    if not wrong:
        return {}, []
    known = {key: meant for key in strange if (meant := _meant(task, *key)) is not None}
    explained = sum(strange[key] for key in known)
    labelled = sum(count for (name, _), count in found.labels.items() if task.label_fields[name])
    if max(explained / wrong, wrong / labelled) < _SHARE:
        return {}, []
    fixable = stands and len(known) == len(strange)
    return known if fixable else {}, [Diagnosis("labels", "file", wrong, labelled, fixable)]


def _meant(task: Task, name: str, written: str) -> str | None:
    """The task's label that one of another vocabulary stands for; None unless there is just one."""
    allowed, aliases = task.label_fields[name], dict(task.aliases)
    bare = _MARKED.sub("", written.strip())
    foreign = {kind.lower(): label for one in task.foreign for kind, label in one.labels} if name == task.label else {}
    tried = [bare, *_PATH.split(bare)[-1:], foreign.get(bare.lower(), "")]
    for kind in {kind for one in task.foreign for kind in one.types} | set(task.plain_types):
        short = bare[len(kind) :] if bare.lower().startswith(kind.lower().rstrip("/")) else ""
        tried.append(short.lstrip("/_-:. "))
    meant = {normalised(one, allowed, aliases) for one in tried} - {None, ""}
    meant |= {label for label in allowed for one in tried if one and _squeezed(one) == _squeezed(label)}
    return meant.pop() if len(meant) == 1 else None


def _squeezed(label: str) -> str:
    return "".join(filter(str.isalnum, label.lower()))

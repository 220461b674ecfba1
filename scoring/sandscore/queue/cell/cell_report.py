"""The report of a cell: columns of fixed types and what was found wrong, in one file, and believed in nothing.

A header of JSON behind its length, then the columns one behind the other. Whoever takes a report looks at every value
of it again: notes and places against the notes, labels against the task, tokens against the texts.
"""

import mmap
import os
from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import DTypeLike, NDArray

from sandscore.annotations.column_builder import KINDS
from sandscore.annotations.columns import Columns, Ints, Tokens
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.label_codes import LabelCodes, vocabulary
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.errors import InfrastructureFault
from sandscore.base.removable_rooms import compiled
from sandscore.queue.gold_reference import ReadPredictions
from sandscore.records.diagnosis import CAUSES, Diagnosis
from sandscore.records.problem import CODES, Problem
from sandscore.task_table.task import Task

LISTED = 1000
"""Problems of each code that are handed over."""
_COLUMNS = ("note", "start", "length", "label", "confidence")
_ROWS = (*_COLUMNS, "words")
_TOKENS = ("begin", "size")
_ALIGNED = 8
Arrays = dict[str, NDArray[Any]]
"""Columns by name, each of its own fixed type."""
_LONGEST_HEADER = 1 << 26
_MOST_CAUSES, _MOST = 2 * len(CAUSES), 1 << 40


class CellReport(Struct, frozen=True, forbid_unknown_fields=True):
    """What a cell found. ``whole_names``: nothing, as notes must be told apart by their whole names."""

    rows: int = 0
    tokens: int = 0
    labels: tuple[str, ...] = ()
    counts: dict[str, int] = {}
    errors: int = 0
    problems: tuple[Problem, ...] = ()
    diagnosis: tuple[Diagnosis, ...] = ()
    whole_names: bool = False


_REPORTS = msgspec.json.Decoder(CellReport)


def report_of(columns: Columns, labels: list[str], found: ProblemCollector) -> tuple[CellReport, list[Any]]:
    """Columns are handed over where there is no error: nobody scores the others."""
    arrays: Arrays = {}
    if not found.errors and columns.tokens is not None:
        tokens = columns.tokens
        arrays = {name: getattr(columns, name) for name in _COLUMNS}
        arrays |= {"words": tokens.words, "begin": tokens.begin, "size": tokens.size}
    report = CellReport(
        rows=len(columns) if arrays else 0,
        tokens=len(arrays["begin"]) if arrays else 0,
        labels=tuple(labels),
        counts=dict(found.counts),
        errors=found.errors,
        problems=tuple(_first(found)),
        diagnosis=found.diagnosis,
    )
    return report, [arrays[name] for name in (*_ROWS, *_TOKENS)] if arrays else []


def _first(found: ProblemCollector) -> Iterator[Problem]:
    listed = dict.fromkeys(CODES, 0)
    for problem in found.problems:
        listed[problem.code] += 1
        if listed[problem.code] <= LISTED:
            yield problem


def write_report(descriptor: int, report: CellReport, arrays: list[Any]) -> None:
    """To a file that is open already."""
    header = msgspec.json.encode(report)
    _write(descriptor, len(header).to_bytes(_ALIGNED, "little") + _padded(header))
    for array in arrays:
        content = np.ascontiguousarray(array).view(np.uint8).data
        _write(descriptor, content)
        _write(descriptor, bytes(-len(content) % _ALIGNED))


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % _ALIGNED)


def _write(descriptor: int, content: bytes | memoryview) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class DoubtfulReport(InfrastructureFault):
    """A report that cannot be: of a cell that was taken over, or a fault of ours."""

    def __init__(self, what: str) -> None:
        super().__init__(f"the process that reads what teams hand in told of {what}; nothing of it is believed")


def read_report(descriptor: int) -> tuple[CellReport, Arrays]:
    """The report in a file whose writer has ended."""
    size = os.fstat(descriptor).st_size
    if size < _ALIGNED:
        raise DoubtfulReport("nothing")
    data = memoryview(mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY))
    length = int.from_bytes(data[:_ALIGNED], "little")
    if length > min(size - _ALIGNED, _LONGEST_HEADER):
        raise DoubtfulReport("more than it wrote")
    try:
        report = _REPORTS.decode(data[_ALIGNED : _ALIGNED + length])
    except msgspec.DecodeError:
        raise DoubtfulReport("something that is no report") from None
    if report.rows < 0 or report.tokens < 0:
        raise DoubtfulReport("fewer rows than none")
    wanted = [(name, report.rows) for name in _ROWS] + [(name, report.tokens) for name in _TOKENS]
    return report, _arrays(data, _ALIGNED + length + -length % _ALIGNED, wanted if report.rows else [])


def _arrays(data: memoryview, at: int, wanted: list[tuple[str, int]]) -> Arrays:
    arrays: Arrays = {}
    for name, count in wanted:
        kind: DTypeLike = KINDS[name]
        taken = count * np.dtype(kind).itemsize
        if at + taken > len(data):
            raise DoubtfulReport("more rows than it wrote")
        arrays[name] = np.frombuffer(data[at : at + taken], kind)
        at += taken + -taken % _ALIGNED
    if at != len(data):
        raise DoubtfulReport("fewer rows than it wrote")
    return arrays


def believed(report: CellReport, arrays: Arrays, task: Task, dataset: DataSet, *, complete: bool) -> ReadPredictions:
    """What a report says, once all of it was looked at."""
    labels = vocabulary(task, task.label)
    _refuse_odd_labels(report, labels)
    found = ProblemCollector("predictions", task.array)
    found.restore(report.counts, report.errors, report.problems)
    found.diagnosis = report.diagnosis
    _refuse_odd_problems(report, complete)
    columns = believed_columns(arrays, task, dataset, labels) if arrays else _no_columns()
    return ReadPredictions(columns, labels, found)


def believed_columns(arrays: Arrays, task: Task, dataset: DataSet, labels: LabelCodes) -> Columns:
    """The rows of a report, once all of them were looked at."""
    tokens = Tokens(arrays["words"], arrays["begin"], arrays["size"])
    columns = Columns(**{name: arrays[name] for name in _COLUMNS}, tokens=tokens)
    if not compiled().is_sound(columns, task, dataset, len(labels.names)):
        _refuse_odd_rows(columns, tokens, task, dataset, len(labels.names))
    return columns


def _no_columns() -> Columns:
    none = np.zeros(0, np.int32)
    return Columns(**{name: np.zeros(0, KINDS[name]) for name in _COLUMNS}, tokens=Tokens(none, none, none))


def _refuse_odd_labels(report: CellReport, labels: LabelCodes) -> None:
    try:
        labels.learn(list(report.labels))
    except KeyError:
        raise DoubtfulReport("labels that the task does not have") from None
    if labels.names != list(report.labels):
        raise DoubtfulReport("labels in another order, or given twice")


def _refuse_odd_problems(report: CellReport, complete: bool) -> None:
    if not report.counts.keys() <= CODES.keys() or any(count <= 0 for count in report.counts.values()):
        raise DoubtfulReport("problems of no known kind")
    grave = {code for code, severity in CODES.items() if severity == "error" or (complete and code == "missing-note")}
    if report.errors != sum(count for code, count in report.counts.items() if code in grave):
        raise DoubtfulReport("another number of errors than it counted")
    if any(problem.code not in report.counts for problem in report.problems):
        raise DoubtfulReport("problems that it did not count")
    if len(report.diagnosis) > _MOST_CAUSES or not all(map(_is_diagnosis, report.diagnosis)):
        raise DoubtfulReport("causes of no known kind")
    if report.errors and report.rows:
        raise DoubtfulReport("annotations of a file that is not valid")


def _is_diagnosis(one: Diagnosis) -> bool:
    return one.cause in CAUSES and 0 <= one.explains <= one.of < _MOST and abs(one.by or 0) < _MOST


def _refuse_odd_rows(columns: Columns, tokens: Tokens, task: Task, dataset: DataSet, labels: int) -> None:
    note, start, length = columns.note, columns.start, columns.length
    if int(note.min()) < 0 or int(note.max()) >= len(dataset.roll):
        raise DoubtfulReport("notes that there are not")
    firsts = note[np.flatnonzero(np.diff(note, prepend=-1))]
    if len(np.unique(firsts)) < len(firsts):
        raise DoubtfulReport("a note in two places")
    if int(start.min()) < 0 or int(length.min()) < 1:
        raise DoubtfulReport("annotations of nothing")
    if dataset.texts is not None and bool((start.astype(np.int64) + length > dataset.texts.sizes[note]).any()):
        raise DoubtfulReport("annotations beyond their notes")
    if int(columns.label.min()) < -1 or int(columns.label.max()) >= labels:
        raise DoubtfulReport("labels without a name")
    sure = columns.confidence[~np.isnan(columns.confidence)]
    if (len(sure) < len(columns) and task.confidence_required) or bool(((sure < 0) | (sure > 100)).any()):
        raise DoubtfulReport("confidences that are none")
    _refuse_odd_tokens(tokens, length)


def _refuse_odd_tokens(tokens: Tokens, length: NDArray[np.int32]) -> None:
    if int(tokens.words.min()) < 0 or int(tokens.words.sum(dtype=np.int64)) != len(tokens.begin):
        raise DoubtfulReport("another number of tokens than it counted")
    if not len(tokens.begin):
        return
    ends: Ints = tokens.begin.astype(np.int64) + tokens.size
    owner = np.repeat(np.arange(len(length)), tokens.words)
    if int(tokens.begin.min()) < 0 or int(tokens.size.min()) < 1 or bool((ends > length[owner]).any()):
        raise DoubtfulReport("tokens beyond their texts")
    if bool(((tokens.begin[1:] <= ends[:-1]) & (owner[1:] == owner[:-1])).any()):
        raise DoubtfulReport("tokens that are not apart")

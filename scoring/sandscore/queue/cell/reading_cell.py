"""The cell in which a prediction file is read: one process a file, forked from one that has seen no gold.

The process that sees gold makes the first of them before it reads anything, and sends it descriptors: of a file that
was handed in, and of an empty one for the report. That first process reads notes, which are the organiser's, and for
each file makes a cell that reads the file behind a filter of system calls, within limits of memory and time.
"""

import errno
import gc
import mmap
import os
import resource
import signal
import socket
import tempfile
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.annotation_loader import AnnotationLoader
from sandscore.annotations.column_builder import Gathered
from sandscore.annotations.data_set import DataSet, WholeNamesNeededError
from sandscore.annotations.label_codes import vocabulary
from sandscore.annotations.note_loader import NotesLoader
from sandscore.annotations.note_texts import GatheredTexts, NoteTexts
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.arrays import as_bytes, np
from sandscore.base.byte_sources import opened
from sandscore.base.errors import InfrastructureFault, ParticipantFault, SandscoreError
from sandscore.base.file_marks import Marks, marks_of, settled
from sandscore.base.removable_rooms import compiled, part_of_a_room
from sandscore.queue.cell.cell_report import CellReport, believed, read_report, report_of, write_report
from sandscore.queue.cell.system_call_filter import (
    close_all_but,
    confine,
    die_with_parent,
    filter_in_force,
    fork_bare,
    leave_namespaces,
)
from sandscore.queue.children.child_messages import TOO_COSTLY
from sandscore.queue.gold_reference import ReadPredictions, Reference
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.queue.cell.plain_cells import PlainCells

_LEAST_MEMORY, _MEMORY_A_BYTE = 512 << 20, 4
_LEAST_SECONDS, _BYTES_A_SECOND = 10, 1_000_000
_REPORT_A_BYTE = 16
"""Bytes of a report for each byte of the file, at the very most: each letter a token."""
_LONGEST_REQUEST = 1 << 17
_HASHED = 1 << 22


class TooCostly(ParticipantFault):
    """A file whose reading takes more than any file of its size may."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{TOO_COSTLY}: reading the file takes more {what}")


class CellRequest(Struct, frozen=True):
    """Which file is to be read beside which notes; its descriptor and that of the report come along."""

    task: Task
    notes: str
    size: int
    whole_names: bool
    complete: bool
    index: str | None = None
    """Of whose notes' half the notes are taken, where they are those of the file."""


class CellEnd(IntEnum):
    """How a cell says that it ended; a signal's number, below zero, where it could say nothing."""

    DONE = 0
    OUT_OF_MEMORY = 3
    NO_ROOM = 4
    BROKEN = 5


class CellAnswer(Struct, frozen=True):
    """How the cell ended."""

    end: int


def _plain_cells(*, usable: bool) -> "PlainCells | None":
    """The quick way, where there is a kernel to read."""
    if not compiled():
        return None
    from sandscore.queue.cell.plain_cells import PlainCells

    return PlainCells(usable=usable)


class ReadingCells:
    """The process that makes cells, seen from the one that sees gold; to be made before gold is read."""

    def __init__(self) -> None:
        self.filtered = filter_in_force()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._process = os.fork()
        if not self._process:
            ours.close()
            _make_cells(theirs, filtered=self.filtered)
        theirs.close()
        self._line = ours
        self._plain = _plain_cells(usable=self.filtered)

    def read(self, reference: Reference, predictions: Path, *, complete: bool) -> ReadPredictions | None:
        """What a cell makes of a file; None where notes must be told apart by their whole names."""
        task, dataset = reference.task, reference.loaded.dataset
        with opened(predictions) as source, predictions.open("rb") as given:
            size, sha256 = len(source.data), source.sha256()
            read = self._plain and self._plain.read(task, dataset, given.fileno(), size, complete=complete)
            read = read or self._closely(reference, given.fileno(), size, complete)
        return read and replace(read, sha256=sha256)

    def _closely(self, reference: Reference, given: int, size: int, complete: bool) -> ReadPredictions | None:
        """By whoever can say what is wrong with it."""
        index = None if reference.index is None else str(reference.index)
        whole_names = reference.loaded.dataset.whole_names
        request = CellRequest(reference.task, str(reference.notes), size, whole_names, complete, index)
        with tempfile.TemporaryFile(prefix="sandscore-") as report:
            self._send(request, given, report.fileno())
            self._wait(size)
            said, arrays = read_report(report.fileno())
        if said.whole_names:
            return None
        return believed(said, arrays, reference.task, reference.loaded.dataset, complete=complete)

    @property
    def processes(self) -> tuple[int, ...]:
        """Those that make cells."""
        return (self._process, *([self._plain.process] if self._plain and self._plain.process else []))

    def hang_up(self) -> None:
        """No more cells; the process that makes them ends after the last, and with its parent at the latest."""
        if self._plain:
            self._plain.hang_up()
        self._line.close()

    def close(self) -> None:
        """No more cells, and nobody left who makes any."""
        self.hang_up()
        if self._plain:
            self._plain.close()
        os.waitpid(self._process, 0)

    def _send(self, request: CellRequest, *descriptors: int) -> None:
        try:
            socket.send_fds(self._line, [msgspec.json.encode(request)], descriptors)
        except OSError:
            self._lost()

    def _wait(self, size: int) -> None:
        try:
            told = self._line.recv(_LONGEST_REQUEST)
        except OSError:
            told = b""
        if not told:
            self._lost()
        end = msgspec.json.decode(told, type=CellAnswer).end
        if end == CellEnd.OUT_OF_MEMORY:
            raise TooCostly(f"memory than 512 MB and {_MEMORY_A_BYTE} bytes for each of its {size:,}")
        if end == -signal.SIGXCPU:
            raise TooCostly(f"time than {_seconds(size)} s of a processor")
        if end == CellEnd.NO_ROOM:
            raise InfrastructureFault(f"no room in {tempfile.gettempdir()} for what is read of a file")
        if end != CellEnd.DONE:
            raise InfrastructureFault(f"the process that reads what teams hand in ended without a report ({end})")

    def _lost(self) -> NoReturn:
        """Another cannot be made: whatever was forked now would hold gold."""
        raise SystemExit(InfrastructureFault.exit_code)


class _KeptNotes(Struct, frozen=True):
    dataset: DataSet
    marks: Marks


def _make_cells(line: socket.socket, *, filtered: bool) -> NoReturn:
    """Until the other end is closed."""
    try:
        die_with_parent()
        close_all_but(line.fileno(), 2)
        leave_namespaces()
        kept: dict[tuple[Task, str, bool], _KeptNotes] = {}
        while True:
            told, descriptors, *_ = socket.recv_fds(line, _LONGEST_REQUEST, 2)
            if not told:
                break
            request = msgspec.json.decode(told, type=CellRequest)
            line.send(msgspec.json.encode(CellAnswer(_ended(request, kept, descriptors, filtered=filtered))))
            for descriptor in descriptors:
                os.close(descriptor)
    finally:
        os._exit(0)


def _ended(
    request: CellRequest, kept: dict[tuple[Task, str, bool], _KeptNotes], descriptors: list[int], *, filtered: bool
) -> int:
    try:
        dataset = _noted(request, kept)
    except (OSError, WholeNamesNeededError):
        return CellEnd.BROKEN
    limits = _limits(request.size)
    cell = fork_bare()
    if not cell:
        _read_and_leave(request, dataset, limits, *descriptors, filtered=filtered)
    return os.waitstatus_to_exitcode(os.waitpid(cell, 0)[1])


def _noted(request: CellRequest, kept: dict[tuple[Task, str, bool], _KeptNotes]) -> DataSet:
    """The notes as their file is now, in memory that is only to be read."""
    key, marks = (request.task, request.notes, request.whole_names), marks_of(Path(request.notes))
    known = kept.pop(key, None)
    if known is None or known.marks != marks:
        known = None
        known = _KeptNotes(_loaded(request), marks)
    if settled(marks):
        kept.clear()  # of several data sets only the last: cells know of no other
        kept[key] = known
    return known.dataset


def _loaded(request: CellRequest) -> DataSet:
    task = request.task
    dataset = _indexed(request) or _read_notes(request)
    compiled().notes_of(dataset)  # once, and not in each cell
    _find_all_that_is_imported_late(task, dataset)
    gc.collect()
    gc.freeze()
    return dataset


def _indexed(request: CellRequest) -> DataSet | None:
    """The notes of the index, which maps memory that all workers share; None where it is not of the file as it is."""
    opened_notes = part_of_a_room("gold_index.index_file:opened_notes")
    if request.index is None or opened_notes is None:
        return None
    try:
        found = opened_notes(Path(request.index), request.task)
        found.refuse_others(None, Path(request.notes))
    except SandscoreError:
        return None
    return found.dataset if found.dataset.whole_names == request.whole_names else None


def _read_notes(request: CellRequest) -> DataSet:
    dataset = DataSet(vocabulary(request.task, request.task.label), whole_names=request.whole_names)
    with opened(request.notes) as source:
        texts = GatheredTexts(len(source.data))
        NotesLoader(dataset, ProblemCollector(request.notes), texts).load(memoryview(source.data))
    if dataset.texts is not None:
        dataset.texts = _read_only(dataset.texts)
    return dataset


def _read_only(texts: NoteTexts) -> NoteTexts:
    """The same in memory that nobody can write to."""
    laid = texts.laid
    if not len(laid.texts):
        return texts
    held = os.memfd_create("notes")
    os.truncate(held, len(laid.texts))
    with mmap.mmap(held, len(laid.texts)) as writable:
        writable.write(as_bytes(laid.texts))
    mapped = mmap.mmap(held, len(laid.texts), access=mmap.ACCESS_READ)
    os.close(held)
    return NoteTexts(memoryview(mapped), np.diff(laid.begin), laid.chars, laid.marks, spooled=False)


def _find_all_that_is_imported_late(task: Task, dataset: DataSet) -> None:
    """A cell can open no file: what explains problems is loaded here, by reading what is wrong in every way."""
    odd = [{}, {"start": -1, "length": "x", "stert": 1}, {"start": 0, "length": 1, "text": "\u0001", "confidence": 300}]
    odd.append({"start": 0, "length": 2, "text": "ab", "confidence": 1} | dict.fromkeys(task.label_fields, "odd"))
    name = {"resourceSource": {"name": dataset.roll.ids[0] if dataset.roll.ids else "x"}}
    records = [{"annotationSource": name, task.array: odd}, {"annotationSource": name, task.array: odd}, 1, {}]
    content = msgspec.json.encode(records)
    for data in (content, content[1:-1].replace(b"}]},", b"}]}\n"), content[:-1], b'[{"a":1,"a":"\\ud800"}]', b"[NaN]"):
        _read(task, dataset, bytearray(data), ProblemCollector("", task.array), complete=True)


def _read_and_leave(
    request: CellRequest,
    dataset: DataSet,
    limits: dict[int, tuple[int, int]],
    given: int,
    report: int,
    *,
    filtered: bool,
) -> NoReturn:
    end = CellEnd.BROKEN
    try:
        die_with_parent()
        data = mmap.mmap(given, request.size, access=mmap.ACCESS_COPY) if request.size else bytearray()
        close_all_but(report)
        for which, limit in limits.items():
            resource.setrlimit(which, limit)
        if confine() or not filtered:
            write_report(report, *_told(request, dataset, data))
            end = CellEnd.DONE
    except MemoryError:
        end = CellEnd.OUT_OF_MEMORY
    except OSError as fault:
        end = _ENDS.get(fault.errno or 0, CellEnd.BROKEN)
    finally:
        os._exit(end)


_ENDS = {
    errno.ENOMEM: CellEnd.OUT_OF_MEMORY,
    errno.EFBIG: CellEnd.OUT_OF_MEMORY,
    errno.ENOSPC: CellEnd.NO_ROOM,
}


def _told(request: CellRequest, dataset: DataSet, data: mmap.mmap | bytearray) -> tuple[CellReport, list[Any]]:
    found = ProblemCollector("predictions", request.task.array)
    try:
        return _read(request.task, dataset, data, found, complete=request.complete)
    except WholeNamesNeededError:
        return CellReport(whole_names=True), []


def _read(
    task: Task, dataset: DataSet, data: mmap.mmap | bytearray, found: ProblemCollector, *, complete: bool
) -> tuple[CellReport, list[Any]]:
    own = replace(dataset, vocabulary=vocabulary(task, task.label))
    loader = AnnotationLoader(task, own, found, gathered=Gathered(spilling=False))
    columns = loader.load(memoryview(data), missing="error" if complete else "warning")
    loader.diagnose(memoryview(data), columns)
    return report_of(columns, own.vocabulary.names, found)


def _limits(size: int) -> dict[int, tuple[int, int]]:
    """Beyond what is in use here, as it will be in the cell: libraries and notes, which are there for every file."""
    with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 (nothing is imported for it)
        used = int(file.read().split()[0]) * mmap.PAGESIZE
    memory, written = used + _LEAST_MEMORY + (_MEMORY_A_BYTE + 1) * size, _LEAST_MEMORY + _REPORT_A_BYTE * size
    return {
        resource.RLIMIT_AS: (memory, memory),
        resource.RLIMIT_CPU: (_seconds(size), _seconds(size) + 1),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (written, written),
    }


def _seconds(size: int) -> int:
    return _LEAST_SECONDS - -size // _BYTES_A_SECOND

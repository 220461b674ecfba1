"""Plain files, about which there is nothing to be said: read the quick way, by another program.

Seen from the process that sees gold, which believes nothing of what comes back.
"""

import fcntl
import marshal
import os
import socket
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

import sandscore
from sandscore.annotations.annotation_loader import say_clashes, say_missing
from sandscore.annotations.column_builder import KINDS
from sandscore.annotations.data_set import DataSet
from sandscore.annotations.label_codes import ABSENT, vocabulary
from sandscore.annotations.note_checks import Positions, Reporter
from sandscore.annotations.problem_collector import Noted, ProblemCollector
from sandscore.base.arrays import Values, as_bytes
from sandscore.base.removable_rooms import compiled
from sandscore.base.strict_json import pointer
from sandscore.kernel.block_readers import written_form
from sandscore.queue.cell.cell_report import Arrays, DoubtfulReport, believed_columns
from sandscore.queue.cell.plain_reading import HEAD, LARGEST, READ
from sandscore.queue.gold_reference import ReadPredictions
from sandscore.task_table.task import Task

MOST_NOTES = 1 << 26
"""Bytes of notes' texts, and of their names, that are held once more for it."""
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from sandscore.queue.cell.plain_reading import serve"
_LONGEST_ANSWER = 16
_ALIGNED = 8
_SEALABLE, _SEAL, _SEALED = 2, 1033, 1 | 2 | 4 | 8
"""Memory with a descriptor may be given seals; all of them: it stays as it is for good."""
_PASSED_ON = ("SANDSCORE_LANES",)
_CLASHING = ("repeats", "overlaps")
_ROWS = ("start", "length", "label", "words")


class PlainCells:
    """A program that is started anew, so that nothing of this process's memory is in it, once there is a use for it."""

    def __init__(self, *, usable: bool) -> None:
        self._usable = usable and sys.platform == "linux" and bool(sys.executable)
        self._line: socket.socket | None = None
        self._report = -1
        self.process: int | None = None
        self._known: DataSet | None = None

    def read(self, task: Task, dataset: DataSet, given: int, size: int, *, complete: bool) -> ReadPredictions | None:
        """What the file holds; None where somebody has to look at it more closely."""
        if not self._usable or not 0 < size <= LARGEST:
            return None
        image = None if self._known is dataset else _image(dataset)
        if image is None and self._known is not dataset:
            return None
        said = _said_form(task), size, None if image is None else image.told
        try:
            taken = self._asked(marshal.dumps(said), given, image)
        finally:
            if image is not None:
                os.close(image.descriptor)
        self._known = dataset if self._usable else None
        return None if taken is None else _believed(taken, task, dataset, complete=complete)

    def hang_up(self) -> None:
        """No more files; it ends."""
        self._usable = False
        if self._line is not None:
            self._line.close()
            os.close(self._report)
            self._line = None

    def close(self) -> None:
        """It ends, and is waited for."""
        self.hang_up()
        if self.process is not None:
            os.waitpid(self.process, 0)
            self.process = None

    def _asked(self, request: bytes, given: int, image: "_NotesImage | None") -> bytearray | None:
        """The report; without the program, for whatever reason, all goes on as if there were none."""
        try:
            line = self._line or self._started()
            os.ftruncate(self._report, 0)
            os.lseek(self._report, 0, os.SEEK_SET)
            descriptors = [given, self._report, *([] if image is None else [image.descriptor])]
            socket.send_fds(line, [request], descriptors)
            answer = line.recv(_LONGEST_ANSWER)
        except OSError:
            answer = b""
        if not answer:
            self.hang_up()
        return self._told() if answer == READ else None

    def _started(self) -> socket.socket:
        self._report = os.memfd_create("report")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            theirs.set_inheritable(True)
            root = str(Path(sandscore.__file__).parents[1])
            program = f"{_PROGRAM}; serve({theirs.fileno()})"
            variables = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
            self.process = os.posix_spawn(sys.executable, [sys.executable, "-I", "-S", "-c", program, root], variables)
        self._line = ours
        return ours

    def _told(self) -> bytearray:
        taken = bytearray(os.fstat(self._report).st_size)
        os.preadv(self._report, [taken], 0)
        return taken


@lru_cache(maxsize=16)
def _said_form(task: Task) -> tuple[bytes, tuple[bytes, ...], int]:
    form = written_form(task, want_tokens=True)
    return form.array, tuple(form.names), form.required


class _NotesImage(Struct, frozen=True):
    """Notes as the kernel needs them, in memory that nobody can change; ``told`` says where what is."""

    descriptor: int
    told: tuple[int, tuple[int, ...], bool]


def _image(dataset: DataSet) -> _NotesImage | None:
    known = compiled().notes_of(dataset)
    if not known.findable or not known.texts:
        return None
    arrays = [*known.texts, *known.names]
    size = sum(array.nbytes + -array.nbytes % _ALIGNED for array in arrays)
    if size > MOST_NOTES:
        return None
    offsets, end, descriptor = [], 0, os.memfd_create("notes", _SEALABLE)
    try:
        os.truncate(descriptor, size + _ALIGNED)
        for array in arrays:
            offsets.append(end)
            _written(descriptor, array, end)
            end += array.nbytes + -array.nbytes % _ALIGNED
        fcntl.fcntl(descriptor, _SEAL, _SEALED)
    except OSError:
        os.close(descriptor)
        return None
    return _NotesImage(
        descriptor, (size + _ALIGNED, (*offsets, len(dataset.roll), len(arrays[-1])), dataset.whole_names)
    )


def _written(descriptor: int, array: Values, at: int) -> None:
    rest = as_bytes(array)
    while rest:
        done = os.pwrite(descriptor, rest, at)
        rest, at = rest[done:], at + done


def _believed(taken: bytearray, task: Task, dataset: DataSet, *, complete: bool) -> ReadPredictions | None:
    """What a report says, once all of it was looked at; None where there is more to be said about the file."""
    if len(taken) < HEAD.size:
        raise DoubtfulReport("nothing")
    *counts, labels_size, seconds_size = HEAD.unpack_from(taken)
    if min(*counts, labels_size, seconds_size) < 0:
        raise DoubtfulReport("fewer rows than none")
    spelt = bytes(taken[HEAD.size : HEAD.size + labels_size + seconds_size])
    arrays = _arrays(taken, HEAD.size + len(spelt) + -len(spelt) % _ALIGNED, counts)
    labels = vocabulary(task, task.label)
    try:
        codes = [labels[one.decode()] for one in spelt[:labels_size].split(b"\0")[:-1]]
        seconds = vocabulary(task, task.second_label)
        seconds.learn([one.decode() for one in spelt[labels_size:].split(b"\0")[:-1]])
    except (KeyError, UnicodeDecodeError):
        return None
    numbers, sizes = arrays.pop("numbers"), arrays.pop("per_record")
    known = tuple(_places(arrays.pop(name), counts[0]) for name in _CLASHING)
    found = _notes(numbers, sizes, counts[0], len(dataset.roll))
    if (complete and not found.all()) or 0 < float(np.fmax.reduce(arrays["confidence"])) <= 1:
        return None  # that is an error, and they may be shares where percents are meant
    if int(arrays["label"].min()) < ABSENT or int(arrays["label"].max()) >= len(codes):
        raise DoubtfulReport("labels without a name")
    arrays["note"] = np.repeat(numbers, sizes)
    arrays["label"] = np.array([ABSENT, *codes], np.int32)[arrays["label"] + 1]
    columns = believed_columns(arrays, task, dataset, labels)
    read = ReadPredictions(columns, labels, ProblemCollector("predictions", task.array))
    _say_clashes(read, dataset, sizes, known)
    say_missing(read.findings, dataset, found.tobytes(), "warning")
    return read


def _places(rows: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    if len(rows) and (int(rows[0]) < 0 or int(rows[-1]) >= count or bool((np.diff(rows) <= 0).any())):
        raise DoubtfulReport("annotations that there are not")
    return rows


def _notes(numbers: NDArray[np.int32], sizes: NDArray[np.int32], rows: int, notes: int) -> NDArray[np.bool_]:
    """Which notes the file has an entry for."""
    if int(numbers.min()) < 0 or int(numbers.max()) >= notes or int(sizes.min()) < 0:
        raise DoubtfulReport("notes that there are not")
    if int(sizes.sum(dtype=np.int64)) != rows:
        raise DoubtfulReport("another number of annotations than it counted")
    found = np.zeros(notes, np.bool_)
    found[numbers] = True
    if np.count_nonzero(found) < len(numbers):
        raise DoubtfulReport("a note in two places")
    return found


def _say_clashes(
    read: ReadPredictions, dataset: DataSet, sizes: NDArray[np.int32], known: tuple[NDArray[np.int32], ...]
) -> None:
    if not any(map(len, known)):
        return
    places = Positions()
    places.add_run(0, 0, sizes)
    noted = Noted(), Noted()
    for one, found in zip(noted, known, strict=True):
        one.add(found)
    reporter = Reporter(dataset, read.findings, places, lambda *path: pointer(path))
    say_clashes(read.findings, *noted, lambda row: reporter.describe(row, int(read.columns.note[row])))


def _arrays(taken: bytearray, at: int, counts: list[int]) -> Arrays:
    rows, tokens, records, *clashing = counts
    wanted = {"confidence": rows, "numbers": records, "per_record": records} | dict.fromkeys(_ROWS, rows)
    wanted |= {"begin": tokens, "size": tokens} | dict(zip(_CLASHING, clashing, strict=True))
    if not rows:
        raise DoubtfulReport("a file that holds nothing")
    arrays: Arrays = {}
    for name, count in wanted.items():
        kind = np.dtype(KINDS.get(name, np.int32))
        if at + count * kind.itemsize > len(taken):
            raise DoubtfulReport("more rows than it wrote")
        arrays[name] = np.frombuffer(taken, kind, count, at) if count else np.zeros(0, kind)
        at += count * kind.itemsize
    if at != len(taken):
        raise DoubtfulReport("fewer rows than it wrote")
    return arrays

"""The cell: what it may not do, what it may not cost, what it does not hold, and what is not believed of it."""

import ctypes
import json
import mmap
import os
import platform
import resource
import secrets
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from bounds.pathological import PATHOLOGICAL, Pathological
from queue_samples import GOLD, HALF, RIGHT, TEXTS, annotations

from sandscore.annotations.annotation_loader import AnnotationLoader
from sandscore.annotations.input_files import Inputs, Loaded, load_files
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.queue.cell import cell_need, cell_report, reading_cell, system_call_filter
from sandscore.queue.cell.cell_report import DoubtfulReport, believed, read_report, report_of, write_report
from sandscore.queue.cell.reading_cell import ReadingCells, TooCostly
from sandscore.queue.gold_reference import Reference
from sandscore.records.challenge import Challenge
from sandscore.records.diagnosis import Diagnosis
from sandscore.task_table.task import find_task

DATE = find_task("date")
CAUSE = {"cause": "shift", "scope": "file", "explains": 3, "of": 3, "fixable": True}


@pytest.fixture
def cells() -> Iterator[ReadingCells]:
    made = ReadingCells()
    yield made
    made.close()


def sample(folder: Path, gold: bytes | None = None) -> Reference:
    notes = [{"identifier": name, "text": text} for name, text in TEXTS.items()]
    (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (folder / "date.json").write_bytes(annotations(GOLD) if gold is None else gold)
    return Reference(DATE, folder / "date.json", folder / "notes.json")


def behind_the_filter(work: Callable[[], object]) -> str:
    """What becomes of some work in a process that was put behind the filter."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        said = "done"
        try:
            assert system_call_filter.confine()
            work()
        except BaseException as fault:
            said = type(fault).__name__
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, "rb") as told:  # noqa: PTH123 (a descriptor, not a path)
        return told.read().decode()


@pytest.mark.parametrize(
    ("work", "said"),
    [
        pytest.param(lambda: os.open("/dev/null", os.O_RDONLY), "PermissionError", id="open a file"),
        pytest.param(lambda: list(Path("/").iterdir()), "PermissionError", id="list a folder"),
        pytest.param(Path("/").stat, "PermissionError", id="look at a file"),
        pytest.param(Path("/nowhere").unlink, "PermissionError", id="remove a file"),
        pytest.param(socket.socket, "PermissionError", id="make a socket"),
        pytest.param(os.fork, "PermissionError", id="make a process"),
        pytest.param(lambda: os.execv("/bin/true", ["true"]), "PermissionError", id="run a program"),
        pytest.param(lambda: os.kill(os.getppid(), 0), "PermissionError", id="signal the parent"),
        pytest.param(os.pipe, "PermissionError", id="make a pipe"),
        pytest.param(lambda: os.dup(1), "PermissionError", id="make a descriptor"),
        pytest.param(lambda: os.memfd_create("x"), "PermissionError", id="make a file in memory"),
        pytest.param(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC), "PermissionError", id="code"),
        pytest.param(lambda: mmap.mmap(-1, 1 << 24).write(b"x"), "done", id="use memory"),
        pytest.param(lambda: np.ones(1 << 22).sum(), "done", id="compute"),
        pytest.param(lambda: bytearray(1 << 26), "done", id="use much memory"),
    ],
)
def test_what_the_filter_permits(work: Callable[[], object], said: str) -> None:
    assert behind_the_filter(work) == said


def test_the_filter_is_the_same_on_both_machines() -> None:
    """Each of its instructions has eight bytes; the two lists name the same calls."""
    lengths = {len(system_call_filter.program(machine)) for machine in ("x86_64", "aarch64")}
    assert len(lengths) == 1
    assert lengths.pop() % 8 == 0
    assert system_call_filter._ALLOWED["x86_64"].keys() == system_call_filter._ALLOWED["aarch64"].keys()


def test_numbers_of_calls_are_those_of_this_machine() -> None:
    """As the C library's ``syscall`` has them: getpid and gettid give what Python gives."""
    call = ctypes.CDLL(None).syscall
    known = system_call_filter._ALLOWED[platform.machine()]
    assert call(known["getpid"]) == os.getpid()
    assert call(known["gettid"]) == __import__("threading").get_native_id()
    told, before = (ctypes.c_int64 * 2)(), int(time.time())
    assert call(known["gettimeofday"], told, None) == 0
    assert before <= told[0] <= time.time()


def test_numbers_of_calls_of_the_other_machine() -> None:
    """As the kernel's ``asm-generic/unistd.h`` has them, in the order of their numbers."""
    named = {**system_call_filter._ALLOWED["aarch64"], **system_call_filter._NOT_TO_BE_RUN["aarch64"]}
    assert (
        sorted(named, key=lambda name: named[name])
        == (
            "close lseek read write writev pread64 pwrite64 fstat exit exit_group futex clock_gettime sched_yield "
            "restart_syscall sigaltstack rt_sigaction rt_sigprocmask rt_sigreturn getrusage gettimeofday getpid gettid "
            "brk munmap mremap mmap mprotect madvise getrandom"
        ).split()
    )
    assert sorted(named.values()) == [
        57, 62, 63, 64, 66, 67, 68, 80, 93, 94, 98, 113, 124, 128, 132, 134, 135, 139, 165, 169, 172, 178, 214, 215,
        216, 222, 226, 233, 278,
    ]  # fmt: skip


def test_nobody_may_look_into_a_cell() -> None:
    def work() -> None:
        system_call_filter.die_with_parent()
        assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 0, "PR_GET_DUMPABLE"

    child = os.fork()
    if not child:
        done = 1
        try:
            work()
            done = 0
        finally:
            os._exit(done)
    assert os.waitpid(child, 0)[1] == 0


def test_what_a_cell_may_use_of_this_machine() -> None:
    """For a file of 2.5 MB: half a GiB beyond what is in use, and 5 bytes for each of its own; 13 seconds; a report of
    half a GiB and 16 bytes for each of the file's."""
    size, mib = 2_500_000, 1 << 20
    used = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
    limits = reading_cell._limits(size)
    assert limits[resource.RLIMIT_AS][0] == pytest.approx(used + 512 * mib + 5 * size, abs=16 * mib)
    assert limits[resource.RLIMIT_FSIZE] == (512 * mib + 16 * size,) * 2
    assert limits[resource.RLIMIT_CPU] == (13, 14)
    assert limits[resource.RLIMIT_CORE] == (0, 0)


def test_a_file_that_takes_too_much_memory_is_the_teams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_cell, "_LEAST_MEMORY", 0)
    monkeypatch.setattr(reading_cell, "_MEMORY_A_BYTE", 0)
    cells, reference = ReadingCells(), sample(tmp_path)
    given = tmp_path / "predictions.json"
    given.write_bytes(b"[" + b",".join([annotations(RIGHT)[1:-1]] * 200_000) + b"]")  # more than freed memory holds
    try:
        with pytest.raises(TooCostly, match=r"^too_costly: .* more memory than .* bytes for each of its"):
            cells.read(reference, given, complete=False)
    finally:
        cells.close()


def test_a_file_that_takes_too_long_is_the_teams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: Any, **__: Any) -> None:
        while True:
            time.process_time()

    reference = sample(tmp_path)
    given = tmp_path / "predictions.json"
    given.write_bytes(b"{}")  # nothing that a plain cell takes
    monkeypatch.setattr(reading_cell, "_LEAST_SECONDS", 0)
    monkeypatch.setattr(reading_cell, "_find_all_that_is_imported_late", lambda *_: None)
    monkeypatch.setattr(AnnotationLoader, "load", slow)
    cells = ReadingCells()
    with pytest.raises(TooCostly, match=r"^too_costly: reading the file takes more time than 1 s of a processor$"):
        cells.read(reference, given, complete=False)
    cells.close()


def test_a_cell_that_dies_is_nobodys_of_the_teams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = sample(tmp_path)
    given = tmp_path / "predictions.json"
    given.write_bytes(b"{}")
    monkeypatch.setattr(reading_cell, "_find_all_that_is_imported_late", lambda *_: None)
    monkeypatch.setattr(AnnotationLoader, "load", lambda *_, **__: os.abort())
    cells = ReadingCells()
    with pytest.raises(InfrastructureFault, match="ended without a report"):
        cells.read(reference, given, complete=False)
    cells.close()


def memory_of(process: int) -> bytes:
    """All that a process can read of its own."""
    found = []
    with Path(f"/proc/{process}/maps").open() as maps, Path(f"/proc/{process}/mem").open("rb") as memory:
        for line in maps:
            where, rights = line.split()[:2]
            if "r" in rights and "[v" not in line:
                first, last = (int(end, 16) for end in where.split("-"))
                memory.seek(first)
                try:
                    found.append(memory.read(last - first))
                except OSError:
                    continue
    return b"".join(found)


def test_where_cells_are_made_there_is_no_gold(tmp_path: Path, cells: ReadingCells) -> None:
    """A word of gold drawn after the process was made; one of the notes is found there, so the search works."""
    secret = secrets.token_hex(12)
    labelled = json.loads(annotations(GOLD))
    labelled[0]["textDateAnnotations"][0]["dateFormat"] = secret
    reference = sample(tmp_path, json.dumps(labelled).encode())
    given = tmp_path / "predictions.json"
    given.write_bytes(annotations(HALF))
    assert cells.read(reference, given, complete=False) is not None
    assert secret in reference.loaded.dataset.vocabulary.names
    assert len(cells.processes) == 2
    for process in cells.processes:
        held = memory_of(process)
        assert next(iter(TEXTS.values())).encode() in held
        assert secret.encode() not in held
        descriptors = {str(one.readlink()) for one in Path(f"/proc/{process}/fd").iterdir()}
        assert not any(str(tmp_path) in one for one in descriptors)


@pytest.mark.parametrize("lines", [False, True], ids=["array", "lines"])
def test_a_cell_finds_what_the_library_finds(tmp_path: Path, cells: ReadingCells, lines: bool) -> None:
    """And needs no file for it that it cannot open: whatever a team hands in, a report comes of it."""
    reference = sample(tmp_path)
    given = tmp_path / "predictions.json"
    for one in PATHOLOGICAL:
        given.write_bytes(one.made(12_000, lines=lines))
        expected = load_files(DATE, Inputs(reference.gold, given, reference.notes))
        read = cells.read(reference, given, complete=False)
        if read is None:
            continue
        found, wanted = read.findings, expected.findings["predictions"]
        assert (found.counts, found.errors) == (wanted.counts, wanted.errors), one.name
        assert {problem.message for problem in found.problems} <= {problem.message for problem in wanted.problems}


def test_a_cell_names_the_cause(tmp_path: Path, cells: ReadingCells) -> None:
    """Every start one too large, by hand; the gate decides who is told."""
    reference, given = sample(tmp_path), tmp_path / "predictions.json"
    given.write_bytes(annotations({note: [(at + 1, text) for at, text in spans] for note, spans in RIGHT.items()}))
    read = cells.read(reference, given, complete=False)
    assert read is not None
    assert read.findings.diagnosis == (Diagnosis("shift", "file", 3, 3, True, -1),)


def loaded(tmp_path: Path, given: bytes) -> Loaded:
    reference = sample(tmp_path)
    (tmp_path / "given.json").write_bytes(given)
    return load_files(DATE, Inputs(predictions=tmp_path / "given.json", notes=reference.notes))


def told(tmp_path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Takes a right report in which something was changed."""
    was = loaded(tmp_path, annotations(RIGHT))
    report, arrays = report_of(was.columns["predictions"], was.dataset.vocabulary.names, was.findings["predictions"])
    names = ("note", "start", "length", "label", "confidence", "words", "begin", "size")
    held = {name: array.copy() for name, array in zip(names, arrays, strict=True)}
    fields = msgspec.to_builtins(report)
    change(fields, held)
    with tempfile.TemporaryFile() as file:
        write_report(file.fileno(), msgspec.convert(fields, type(report)), [held[name] for name in names])
        said, columns = read_report(file.fileno())
    believed(said, columns, DATE, was.dataset, complete=False)


def test_a_thousand_problems_of_each_kind_are_handed_over() -> None:
    found = ProblemCollector("predictions", DATE.array)
    for place in range(1001):
        for code in ("overlap", "schema"):
            found.add(code, (place, 0), "", None, "odd")
    assert Counter(one.code for one in cell_report._first(found)) == {"overlap": 1000, "schema": 1000}


def setting(column: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    def change(_: dict[str, Any], held: dict[str, Any]) -> None:
        held[column][-1] = value

    return change


def out_of_order(_: dict[str, Any], held: dict[str, Any]) -> None:
    held["note"][:3] = [0, 1, 0]


def saying(**said: Any) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda fields, _: fields.update(said)


def test_a_right_report_is_believed(tmp_path: Path) -> None:
    told(tmp_path, lambda *_: None)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        pytest.param(setting("note", 99), "notes that there are not", id="another note"),
        pytest.param(setting("note", -1), "notes that there are not", id="no note"),
        pytest.param(out_of_order, "a note in two places", id="out of order"),
        pytest.param(setting("start", -1), "annotations of nothing", id="before its note"),
        pytest.param(setting("length", 0), "annotations of nothing", id="empty"),
        pytest.param(setting("start", 1 << 30), "beyond their notes", id="beyond its note"),
        pytest.param(setting("length", (1 << 31) - 1), "beyond their notes", id="too long"),
        pytest.param(setting("label", 7), "labels without a name", id="another label"),
        pytest.param(setting("label", -2), "labels without a name", id="no label"),
        pytest.param(setting("confidence", 101.0), "confidences that are none", id="too sure"),
        pytest.param(setting("confidence", float("-inf")), "confidences that are none", id="not sure"),
        pytest.param(setting("words", 9), "another number of tokens", id="more tokens"),
        pytest.param(setting("words", -1), "another number of tokens", id="fewer tokens"),
        pytest.param(setting("begin", 500), "tokens beyond their texts", id="token beyond"),
        pytest.param(setting("size", 0), "tokens beyond their texts", id="token of nothing"),
        pytest.param(saying(labels=["b", "b"]), "labels in another order, or given twice", id="label twice"),
        pytest.param(saying(labels=[""]), "labels in another order, or given twice", id="label without a name"),
        pytest.param(saying(counts={"other": 1}), "problems of no known kind", id="unknown code"),
        pytest.param(saying(counts={"overlap": -1}), "problems of no known kind", id="negative count"),
        pytest.param(saying(errors=1), "another number of errors", id="error without a code"),
        pytest.param(saying(counts={"schema": 1}), "another number of errors", id="code without an error"),
        pytest.param(saying(counts={"schema": 1}, errors=1), "of a file that is not valid", id="rows of a bad file"),
        pytest.param(saying(diagnosis=[CAUSE | {"cause": "gold"}]), "causes of no known kind", id="unknown cause"),
        pytest.param(saying(diagnosis=[CAUSE | {"explains": 4}]), "causes of no known kind", id="explains too much"),
        pytest.param(saying(diagnosis=[CAUSE] * 99), "causes of no known kind", id="many causes"),
        pytest.param(saying(rows=1 << 40), "more rows than it wrote", id="too many rows"),
        pytest.param(saying(rows=-1), "fewer rows than none", id="negative rows"),
        pytest.param(saying(tokens=0), "fewer rows than it wrote", id="fewer tokens than written"),
    ],
)  # fmt: skip
def test_nothing_of_a_false_report_is_believed(tmp_path: Path, change: Any, what: str) -> None:
    with pytest.raises(DoubtfulReport, match=what):
        told(tmp_path, change)


@pytest.mark.parametrize("content", [b"", b"\xff" * 8, b"\x02" + bytes(7) + b"[]" + bytes(6), b"\x09" + bytes(15)])
def test_what_is_no_report_is_refused(content: bytes) -> None:
    with tempfile.TemporaryFile() as file:
        os.write(file.fileno(), content)
        with pytest.raises(DoubtfulReport):
            read_report(file.fileno())


@pytest.mark.parametrize(
    ("length", "what"), [(64 << 20, "something that is no report"), ((64 << 20) + 1, "more than it wrote")]
)
def test_the_head_of_a_report_is_64_mib_at_most(length: int, what: str) -> None:
    with tempfile.TemporaryFile() as file:
        os.write(file.fileno(), length.to_bytes(8, "little"))
        file.truncate(65 << 20)
        with pytest.raises(DoubtfulReport, match=what):
            read_report(file.fileno())


@pytest.mark.parametrize(
    ("data", "refused"), [(None, True), ({"notes": "public", "gold": "public"}, False), ({"notes": "public"}, True)]
)
def test_hidden_data_are_refused_without_a_filter(
    data: Any, refused: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cell_need, "filter_in_force", lambda: False)
    monkeypatch.setattr(cell_need, "_warned", [])
    challenge = Challenge.model_validate({"challenge": "c", "data": data})
    assert cell_need.cell_finding().level == "note"
    if refused:
        with pytest.raises(OrganiserFault, match="no filter of system calls"):
            cell_need.require_cells(challenge)
    else:
        cell_need.require_cells(challenge)
        cell_need.require_cells(challenge)
        assert capsys.readouterr().err.count("no filter of system calls") == 1


def test_this_machine_has_the_filter() -> None:
    assert system_call_filter.filter_in_force()
    assert cell_need.cell_finding().level == "ok"
    assert Pathological("none").made(4, lines=True) == b"{}\n{}\n"

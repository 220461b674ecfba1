"""Plain cells: what they find is what an ordinary one finds, and what they are not sure of they leave to it."""

import ctypes
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_corpus import FORMS, corpus
from queue_samples import GOLD, RIGHT, TEXTS, annotations

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.kernel.block_readers import written_form
from sandscore.kernel.kernel_library import kernel
from sandscore.queue.cell import plain_cells, plain_reading
from sandscore.queue.cell.cell_report import DoubtfulReport
from sandscore.queue.cell.plain_cells import PlainCells
from sandscore.queue.cell.plain_reading import HEAD, PlainReader
from sandscore.queue.cell.reading_cell import ReadingCells
from sandscore.queue.cell.system_call_filter import own_program
from sandscore.queue.gold_reference import ReadPredictions, Reference
from sandscore.task_table.task import Task, find_task

DATE = find_task("date")
ROWS = ("note", "start", "length", "confidence")


@pytest.fixture(scope="module")
def cells() -> Iterator[PlainCells]:
    made = PlainCells(usable=True)
    yield made
    made.close()


def reference(folder: Path, task: Task = DATE, notes: Any = None) -> Reference:
    said = [{"identifier": name, "text": text} for name, text in TEXTS.items()] if notes is None else notes
    (folder / "notes.json").write_text(json.dumps(said), encoding="utf-8")
    (folder / "gold.json").write_bytes(annotations(GOLD) if notes is None else b"[]")
    return Reference(task, folder / "gold.json", folder / "notes.json")


def plainly(cells: PlainCells, known: Reference, content: bytes, *, complete: bool = False) -> ReadPredictions | None:
    given = known.gold.with_name("given.json")
    given.write_bytes(content)
    with given.open("rb") as file:
        return cells.read(known.task, known.loaded.dataset, file.fileno(), len(content), complete=complete)


def must_agree(read: ReadPredictions, known: Reference) -> None:
    """With what the library makes of the same file."""
    expected = load_files(known.task, Inputs(predictions=known.gold.with_name("given.json"), notes=known.notes))
    columns, found = expected.columns["predictions"], expected.findings["predictions"]
    for name in ROWS:
        np.testing.assert_array_equal(getattr(read.columns, name), getattr(columns, name), name)
    assert read.columns.tokens is not None
    assert columns.tokens is not None
    for name in ("words", "begin", "size"):
        np.testing.assert_array_equal(getattr(read.columns.tokens, name), getattr(columns.tokens, name), name)
    named = [[labels.names[code] if code >= 0 else None for code in held.label.tolist()] for labels, held in (
        (read.vocabulary, read.columns), (expected.dataset.vocabulary, columns))]  # fmt: skip
    assert named[0] == named[1]
    assert read.vocabulary.names == expected.dataset.vocabulary.names
    assert (read.findings.counts, read.findings.errors) == (found.counts, 0)
    assert read.findings.problems == found.problems


@pytest.mark.parametrize("name", ["date", "address", "covid-symptom"])
def test_what_is_found_is_what_the_library_finds(name: str, cells: PlainCells, tmp_path: Path) -> None:
    task = find_task(name)
    taken = said = 0
    for seed in range(24):
        notes, records = corpus(task, seed)
        if len({one["text"] for one in notes}) < len(notes):
            continue
        known = reference(tmp_path, task, notes)
        written = FORMS[[*FORMS][seed % len(FORMS)]](records[: len(records) - seed % 3], bool(seed % 2))
        read = plainly(cells, known, written.encode("utf-8", "surrogatepass"))
        if read is not None:
            must_agree(read, known)
            taken, said = taken + 1, said + bool(read.findings.counts)
    assert taken > 5  # of 24, of which some are wrong on purpose
    assert said > 2


REPEATED = [(8, "10/26/2020"), (8, "10/26/2020"), (23, "10/27"), (23, "10/27/2020")]


def test_what_there_is_to_say_of_a_plain_file_is_said(cells: PlainCells, tmp_path: Path) -> None:
    """By hand: the second of the first note repeats the first, the fourth overlaps the third, and n3 is missing."""
    known = reference(tmp_path)
    read = plainly(cells, known, annotations({"n2": GOLD["n2"], "n1": REPEATED}))
    assert read is not None
    where = [(one.code, one.pointer, one.note) for one in read.findings.problems]
    array = DATE.array
    assert where == [
        ("duplicate", f"/1/{array}/1", "n1"),
        ("overlap", f"/1/{array}/3", "n1"),
        ("missing-note", "", "n3"),
    ]
    assert read.columns.note.tolist() == [1, 0, 0, 0, 0]
    assert plainly(cells, known, annotations({"n2": GOLD["n2"], "n1": REPEATED}), complete=True) is None


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"[]", id="nothing"),
        pytest.param(b"{}", id="one note"),
        pytest.param(b"\x1f\x8b", id="packed"),
        pytest.param(b"\xef\xbb\xbf" + annotations(RIGHT), id="byte order mark"),
        pytest.param(annotations({"n1": [], "n2": [], "n3": []}), id="no annotation"),
        pytest.param(annotations({"n1": [(9, "10/26/2020")]}), id="another place"),
        pytest.param(annotations({"n4": [(8, "10/26/2020")]}), id="another note"),
        pytest.param(annotations({"n1": GOLD["n1"], "a/n1": []}), id="a note twice"),
        pytest.param(annotations(RIGHT).replace(b'"start"', b'"confidence": 0.5, "start"'), id="shares"),
        pytest.param(annotations(RIGHT).replace(b'"start"', b'"start": 1, "start"'), id="twice the same"),
        pytest.param(annotations(RIGHT)[:-1], id="cut short"),
    ],
)
def test_what_is_odd_is_left_to_an_ordinary_cell(content: bytes, cells: PlainCells, tmp_path: Path) -> None:
    assert plainly(cells, reference(tmp_path), content) is None


def test_labels_that_are_new_near_the_end_cost_no_second_reading(cells: PlainCells, tmp_path: Path) -> None:
    """Each is learnt where it is met, in the order of the file, however much was read before."""
    labels = ["M/D"] * 1300 + [f"M/D {number}" for number in range(200)]
    known = reference(tmp_path, notes=[{"identifier": "n1", "text": "1 " * len(labels)}])
    rows = [
        {"start": 2 * at, "length": 1, "text": "1", "dateFormat": label, "confidence": 90}
        for at, label in enumerate(labels)
    ]
    named = {"annotationSource": {"resourceSource": {"name": "n1"}}, DATE.array: rows}
    read = plainly(cells, known, json.dumps([named]).encode())
    assert read is not None
    must_agree(read, known)
    assert read.vocabulary.names == list(dict.fromkeys(labels))


def test_more_labels_than_are_learnt_are_left_to_an_ordinary_cell(cells: PlainCells, tmp_path: Path) -> None:
    known = reference(tmp_path, notes=[{"identifier": "n1", "text": "1 " * 300}])
    rows = [
        {"start": 2 * at, "length": 1, "text": "1", "dateFormat": f"M/D {at}", "confidence": 90} for at in range(300)
    ]
    named = {"annotationSource": {"resourceSource": {"name": "n1"}}, DATE.array: rows}
    assert plainly(cells, known, json.dumps([named]).encode()) is None
    named[DATE.array] = rows[:256]
    assert plainly(cells, known, json.dumps([named]).encode()) is not None


def test_a_plain_file_needs_no_ordinary_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And where the program is gone the ordinary one reads the same."""
    cells, known, given = ReadingCells(), reference(tmp_path), tmp_path / "given.json"
    given.write_bytes(annotations(RIGHT))
    with monkeypatch.context() as patch:
        patch.setattr(cells, "_closely", None)
        first = cells.read(known, given, complete=False)
    os.kill(cells.processes[1], signal.SIGKILL)
    second = cells.read(known, given, complete=False)
    cells.close()
    assert first is not None
    assert second is not None
    assert first.sha256 == second.sha256
    np.testing.assert_array_equal(first.columns.start, second.columns.start)
    assert first.columns.start.tolist() == [8, 23, 11]


def test_notes_are_held_where_nobody_can_change_them(tmp_path: Path) -> None:
    image = plain_cells._image(reference(tmp_path).loaded.dataset)
    assert image is not None
    assert TEXTS["n1"].encode() in os.pread(image.descriptor, 1 << 16, 0)
    with pytest.raises(PermissionError):
        os.pwrite(image.descriptor, b"x", 0)
    os.close(image.descriptor)


FINDER = ctypes.CFUNCTYPE(ctypes.c_int32, *(ctypes.c_void_p,) * 3)


def behind(work: Callable[[], object], folder: Path) -> tuple[bool, bool]:
    """Whether a plain cell that does this where it would read makes a report, and whether the next one does."""
    known = reference(folder)
    image = plain_cells._image(known.loaded.dataset)
    assert image is not None
    library, program = kernel(), own_program()
    assert library is not None
    assert program is not None
    given = folder / "given.json"
    given.write_bytes(annotations(RIGHT))
    form = written_form(DATE, want_tokens=True)
    said = form.array, tuple(form.names), form.required
    reader = PlainReader(library, program)
    reader.know(image.descriptor, *image.told)
    os.close(image.descriptor)
    report = os.memfd_create("report")
    find, instead = reader._find, FINDER(lambda *_: (work() and 0) or 0)
    with given.open("rb") as file:
        asked = said, given.stat().st_size, file.fileno(), report
        reader._find = ctypes.cast(instead, ctypes.c_void_p)
        first = reader.read(*asked), os.fstat(report).st_size > 0
        reader._find = find
        second = reader.read(*asked), os.fstat(report).st_size > 0
    os.close(report)
    assert first[0] == first[1]
    assert second[0] == second[1]
    return first[0], second[0]


def doing(work: Callable[[], object]) -> Callable[[], None]:
    """Ends the process well where the work can be done: that would be taken for a report."""

    def done() -> None:
        work()
        os._exit(0)

    return done


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(os.abort, id="dies"),
        pytest.param(lambda: os.open("/dev/null", os.O_RDONLY), id="opens a file"),
        pytest.param(lambda: os.kill(os.getppid(), 0), id="signals"),
        pytest.param(lambda: bytearray(1 << 27), id="takes much memory"),
        pytest.param(lambda: os.read(0, 1), id="reads what it does not hold"),
        pytest.param(lambda: os.read(1, 1), id="reads what its parent holds"),
        pytest.param(lambda: [one for one in range(1 << 10) if is_open(one)][1], id="holds more than its report"),
    ],
)
def test_one_plain_cell_does_not_harm_the_next(work: Callable[[], object], tmp_path: Path) -> None:
    assert behind(doing(work), tmp_path) == (False, True)


def is_open(descriptor: int) -> bool:
    try:
        return bool(os.fstat(descriptor))
    except OSError:
        return False


@pytest.mark.parametrize(("fault", "part"), [("no report", 0), ("cut", 100)])
def test_a_report_that_cannot_be_written_is_none(
    fault: str, part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a descriptor there is no process; with room for 100 bytes that one ends badly."""
    known, report = reference(tmp_path), os.memfd_create("report")
    image, library, program = plain_cells._image(known.loaded.dataset), kernel(), own_program()
    assert image is not None
    assert library is not None
    assert program is not None
    monkeypatch.setattr(plain_reading, "_WRITTEN", 0)
    monkeypatch.setattr(plain_reading, "LONGEST_REQUEST", part)
    reader = PlainReader(library, program)
    reader.know(image.descriptor, *image.told)
    form, given = written_form(DATE, want_tokens=True), tmp_path / "given.json"
    given.write_bytes(annotations(RIGHT))
    with given.open("rb") as file:
        said = (form.array, tuple(form.names), form.required), given.stat().st_size, file.fileno()
        assert not reader.read(*said, report if part else 0)
    assert os.fstat(report).st_size == part
    os.close(image.descriptor)
    os.close(report)


KEPT_BACK = """
from sandscore.kernel.kernel_library import kernel
from sandscore.queue.cell.plain_reading import _python_kept_back
print(_python_kept_back(kernel()))
print(open("/proc/self/smaps").read())
"""


def test_cells_do_not_have_the_memory_of_python() -> None:
    """By what the system says of each map: "dc" is one that children do not get."""
    ran = subprocess.run([sys.executable, "-c", KEPT_BACK], capture_output=True, text=True, check=True)
    apart, _, maps = ran.stdout.partition("\n")
    kept, size, name = {"yes": 0, "no": 0}, 0, ""
    withheld: dict[str, set[bool]] = {}
    for line in maps.strip().splitlines():
        first, *rest = line.split()
        if not first.endswith(":"):
            name = rest[4] if len(rest) > 4 else ""
        elif first == "Size:":
            size = int(rest[0]) << 10
        elif first == "VmFlags:":
            withheld.setdefault(Path(name).name.partition("-")[0].partition(".")[0], set()).add("dc" in rest)
            kept["yes" if "dc" in rest else "no"] += size
    assert 0 < int(apart) <= kept["yes"]
    assert kept["no"] < kept["yes"] // 2
    assert withheld["[heap]"] == {True}
    assert [withheld[one] for one in ("kernel", "libc", "[stack]")] == [{False}] * 3


def test_maps_that_are_spared_hold_nothing_that_is_needed() -> None:
    here = ctypes.create_string_buffer(1 << 20)
    needed = ctypes.addressof(here), ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value or 0
    spare = [*plain_reading._spare(needed)]
    assert spare
    assert not any(begin <= at < end for at in needed for begin, end in spare)


def report_of(folder: Path, cells: PlainCells) -> tuple[bytearray, Reference]:
    known = reference(folder)
    assert plainly(cells, known, annotations({"n1": REPEATED, "n2": GOLD["n2"], "n3": []})) is not None
    return cells._told(), known


def test_a_right_report_is_believed(tmp_path: Path, cells: PlainCells) -> None:
    """Rows, tokens, records, repeats and overlaps, by hand; no labels."""
    taken, known = report_of(tmp_path, cells)
    assert HEAD.unpack_from(taken) == (5, 5, 3, 1, 1, 0, 0)
    assert plain_cells._believed(taken, DATE, known.loaded.dataset, complete=True) is not None


HEADED, INTS = HEAD.size, 4
AT = {name: HEADED + 5 * 8 + 12 * i + 12 for i, name in enumerate(("numbers", "per_record"), -1)}
AT |= {name: HEADED + 5 * 8 + 24 + 20 * i for i, name in enumerate(("start", "length", "label", "words"))}
AT |= {"begin": HEADED + 144, "size": HEADED + 164, "repeats": HEADED + 184, "overlaps": HEADED + 188}
"""Where the arrays of that report begin: five confidences of eight bytes, then numbers of four."""


@pytest.mark.parametrize(
    ("at", "value", "what"),
    [
        pytest.param(AT["numbers"], 3, "notes that there are not", id="another note"),
        pytest.param(AT["numbers"], -1, "notes that there are not", id="no note"),
        pytest.param(AT["numbers"], 1, "a note in two places", id="a note twice"),
        pytest.param(AT["per_record"], -1, "notes that there are not", id="fewer than none"),
        pytest.param(AT["per_record"], 5, "another number of annotations", id="one more"),
        pytest.param(AT["start"], -1, "annotations of nothing", id="before its note"),
        pytest.param(AT["start"], 1 << 20, "beyond their notes", id="beyond its note"),
        pytest.param(AT["label"], 0, "labels without a name", id="a label"),
        pytest.param(AT["label"], -2, "labels without a name", id="less than no label"),
        pytest.param(AT["words"], 2, "another number of tokens", id="more tokens"),
        pytest.param(AT["size"], 99, "tokens beyond their texts", id="token beyond"),
        pytest.param(AT["repeats"], 5, "annotations that there are not", id="repeats beyond"),
        pytest.param(AT["overlaps"], -1, "annotations that there are not", id="overlaps before"),
    ],
)
def test_nothing_of_a_false_report_is_believed(
    at: int, value: int, what: str, tmp_path: Path, cells: PlainCells
) -> None:
    taken, known = report_of(tmp_path, cells)
    struct.pack_into("i", taken, at, value)
    with pytest.raises(DoubtfulReport, match=what):
        plain_cells._believed(taken, DATE, known.loaded.dataset, complete=False)


@pytest.mark.parametrize(
    ("which", "value", "what"),
    [(0, 0, "holds nothing"), (0, 1 << 40, "more rows"), (1, 4, "fewer rows"), (2, -1, "fewer rows than none")],
)
def test_nothing_of_a_false_count_is_believed(
    which: int, value: int, what: str, tmp_path: Path, cells: PlainCells
) -> None:
    taken, known = report_of(tmp_path, cells)
    struct.pack_into("q", taken, 8 * which, value)
    with pytest.raises(DoubtfulReport, match=what):
        plain_cells._believed(taken, DATE, known.loaded.dataset, complete=False)
    with pytest.raises(DoubtfulReport, match="nothing"):
        plain_cells._believed(taken[:8], DATE, known.loaded.dataset, complete=False)


def test_nothing_of_an_annotation_between_rows_and_tokens_is_believed(tmp_path: Path, cells: PlainCells) -> None:
    """Two annotations of two words each: the third does not repeat another, for there is none."""
    known = reference(tmp_path)
    twice = {"n1": [(0, "Seen on"), (0, "Seen on")], "n2": [], "n3": []}
    assert plainly(cells, known, annotations(twice)) is not None
    taken = cells._told()
    assert HEAD.unpack_from(taken)[:5] == (2, 4, 3, 1, 0)
    assert struct.unpack_from("i", taken, len(taken) - INTS) == (1,), "the second repeats the first"
    struct.pack_into("i", taken, len(taken) - INTS, 2)
    with pytest.raises(DoubtfulReport, match="annotations that there are not"):
        plain_cells._believed(taken, DATE, known.loaded.dataset, complete=False)


@pytest.mark.parametrize(("most", "plain"), [(0, True), (1, False), (2, True), (100, True)])
def test_shares_in_place_of_percents_are_left_to_an_ordinary_cell(
    most: int, plain: bool, tmp_path: Path, cells: PlainCells
) -> None:
    known, given = reference(tmp_path), json.loads(annotations(RIGHT))
    for one in given:
        for at, span in enumerate(one["textDateAnnotations"]):
            span["confidence"] = 0 if at else most
    read = plainly(cells, known, json.dumps(given).encode())
    assert (read is not None) == plain

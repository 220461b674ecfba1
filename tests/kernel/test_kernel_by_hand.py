"""What the kernel takes of a small block, and what it does not: ``block_readers``, ``compiled_calls``.

The numbers are those of the JSON as it stands here; offsets are counted by hand.
"""

import json
import math
import random
import struct
from collections.abc import Sequence
from contextlib import nullcontext
from ctypes import byref
from fractions import Fraction
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_comparison import no_kernel

from sandscore.annotations.columns import Columns, Tokens, small_of
from sandscore.annotations.data_set import DataSet, NoteRoll
from sandscore.annotations.label_codes import ABSENT, LabelCodes, vocabulary
from sandscore.annotations.note_checks import clashes
from sandscore.annotations.note_runs import runs_of
from sandscore.annotations.note_texts import GatheredTexts
from sandscore.base.arrays import as_bytes, packed, room_for, seen_as
from sandscore.kernel import kernel_library
from sandscore.kernel.block_readers import AnnotationReader, KernelBlock, KernelNotes, NoteReader
from sandscore.kernel.kernel_library import address
from sandscore.measures.challenge_measures import ratio_sums
from sandscore.task_table.task import TASKS, Task, find_task

DATE, TWO = find_task("date"), next(task for task in TASKS.values() if task.second_label)


def written(task: Task, *notes: list[dict[str, Any]]) -> memoryview:
    """A record a note, called n0, n1, …"""
    sources = ({"resourceSource": {"name": f"a/n{number}"}} for number in range(len(notes)))
    records = [{"annotationSource": source, task.array: rows} for source, rows in zip(sources, notes, strict=True)]
    return memoryview(bytearray(json.dumps(records).encode()))


def reader(task: Task, *, tokens: bool = True) -> tuple[AnnotationReader, DataSet]:
    library = kernel_library.kernel()
    assert library is not None
    labels = vocabulary(task, task.label)
    dataset = DataSet(labels)
    return AnnotationReader(library, task, dataset, KernelNotes(library, dataset), want_tokens=tokens), dataset


def taken(task: Task, *notes: list[dict[str, Any]], tokens: bool = True) -> tuple[KernelBlock, DataSet]:
    read, dataset = reader(task, tokens=tokens)
    block = read.read(written(task, *notes), lines=False)
    assert block is not None, "the kernel refused it"
    return block, dataset


def row(start: int, text: str, **more: object) -> dict[str, Any]:
    return {"start": start, "length": len(text), "text": text} | more


def test_what_a_block_holds() -> None:
    first = [row(3, "May 2nd", dateFormat="MM", confidence=12.5), row(20, "1999", dateFormat="YYYY", confidence=7)]
    block, dataset = taken(DATE, first, [], [row(0, "x", confidence=100)])
    assert block.names == ["a/n0", "a/n1", "a/n2"]
    assert block.sizes.tolist() == [2, 0, 1]
    columns = block.columns(np.array([5, 6, 7], np.int32))
    assert columns.note.tolist() == [5, 5, 7]
    assert columns.start.tolist() == [3, 20, 0]
    assert columns.length.tolist() == [7, 4, 1]
    assert columns.confidence.tolist() == [12.5, 7, 100]
    names = dataset.vocabulary.names
    assert [names[code] if code != ABSENT else None for code in columns.label.tolist()] == ["MM", "YYYY", None]
    assert columns.tokens is not None
    assert columns.tokens.words.tolist() == [2, 1, 1]
    assert columns.tokens.begin.tolist() == [0, 4, 0, 0]
    assert columns.tokens.size.tolist() == [3, 3, 4, 1]


def test_without_tokens_there_are_none() -> None:
    block, _ = taken(DATE, [row(3, "May 2nd")], tokens=False)
    assert block.columns(block.sizes).tokens is None


def test_labels_in_other_capitals_are_the_same() -> None:
    block, dataset = taken(TWO, [row(0, "a", **two_labels(capitals=True))], [row(0, "b", **two_labels(capitals=False))])
    codes = block.columns(np.zeros(len(block.sizes), np.int32)).label.tolist()
    assert codes == [1, 1]
    assert TWO.label is not None
    assert dataset.vocabulary.names == list(TWO.label_fields[TWO.label])


def two_labels(*, capitals: bool) -> dict[str, object]:
    allowed = TWO.label_fields
    assert TWO.label is not None
    assert TWO.second_label is not None
    names = allowed[TWO.label]
    return {
        "confidence": 50,
        TWO.label: names[1].upper() if capitals else names[1],
        TWO.second_label: allowed[TWO.second_label][0],
    }


def test_a_label_that_is_none_is_refused() -> None:
    read, _ = reader(TWO)
    assert TWO.label is not None
    assert read.read(written(TWO, [row(0, "a", **two_labels(capitals=True))]), lines=False) is not None
    strange = two_labels(capitals=True) | {TWO.label: "nonsense"}
    assert read.read(written(TWO, [row(0, "a", **strange)]), lines=False) is None


def test_after_four_refusals_no_more_is_tried_and_a_success_forgets_them() -> None:
    good, bad = written(DATE, [row(0, "a")]), memoryview(bytearray(b'[{"x": 1}]'))
    read, _ = reader(DATE)
    for _ in range(2):
        assert [read.read(bad, lines=False) for _ in range(3)] == [None] * 3
        assert read.read(good, lines=False) is not None
    assert [read.read(bad, lines=False) for _ in range(4)] == [None] * 4
    assert read.read(good, lines=False) is None


def test_labels_are_looked_up_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of only new labels at its end would be read from its beginning for each of them."""
    read, _ = reader(DATE)
    asked: list[str | None] = []
    known = LabelCodes.__getitem__

    def counted(self: LabelCodes, name: str | None) -> int:
        asked.append(name)
        return known(self, name)

    monkeypatch.setattr(LabelCodes, "__getitem__", counted)
    rows = [row(0, "a" * 9_000, dateFormat=f"D{number:03}") for number in range(200)]
    assert read.read(written(DATE, rows), lines=False) is None
    # label k stands near byte 9,070 k; the sum of 9,070 k passes 8 x 1,814,000 with k = 57
    assert 50 < len(asked) < 60


def test_texts_that_are_not_what_stands_there_are_told() -> None:
    texts = GatheredTexts(1000)
    library = kernel_library.kernel()
    assert library is not None
    notes = NoteReader(library, texts)
    said = [{"identifier": "n0", "patientId": "p", "text": "on May 2nd, 1999", "type": "t"}]
    assert notes.read(memoryview(bytearray(json.dumps(said).encode())), lines=False) == (["n0"], ["p"])
    notes.keep()
    dataset = DataSet(vocabulary(DATE, DATE.label), texts=texts.all(), roll=NoteRoll(["n0"]))
    read = AnnotationReader(library, DATE, dataset, KernelNotes(library, dataset), want_tokens=True)
    block = read.read(written(DATE, [row(3, "May 2nd"), row(12, "1998"), row(4, "ay")]), lines=False)
    assert block is not None
    found_texts = block.misplaced(np.zeros(len(block.sizes), np.int32))
    assert found_texts == {1: "1998"}


def test_what_repeats_and_what_overlaps_is_found_where_there_are_few() -> None:
    """By hand: the third and the sixth repeat; the fifth begins within [3, 10), the fourth within it too."""
    places = [(12, "1998"), (3, "May 2nd"), (3, "May 2nd"), (4, "ay"), (5, "y"), (5, "y")]
    block, _ = taken(DATE, [row(*place) for place in places])
    assert [found.tolist() for found in block.clashes(np.zeros(1, np.int32))] == [[2, 5], [3, 4]]
    assert [found.tolist() for found in block.clashes(np.full(1, -1, np.int32))] == [[], []]


def test_what_repeats_and_what_overlaps_is_found_where_there_are_many() -> None:
    """By hand: 300 starts from 598 down, each reaching into the next; then the first 100 of them again."""
    many = [row(2 * place, "a") for place in range(300)]
    for rows in (many, many[::-1]):
        block, _ = taken(DATE, rows)
        assert [found.tolist() for found in block.clashes(np.zeros(1, np.int32))] == [[], []]
    reaching = [row(2 * place, "abc") for place in reversed(range(300))]
    block, _ = taken(DATE, [*reaching, *reaching[:100]])
    assert [found.tolist() for found in block.clashes(np.zeros(1, np.int32))] == [[*range(300, 400)], [*range(299)]]


def test_clashes_of_a_thousand_are_what_columns_say() -> None:
    """Beside the columns' own way, which sorts with numpy: random spans on few places, near the note's begin or not."""
    draw = random.Random(20261120)
    for count, first in product((20, 25, 63, 64, 65, 1000), (0, (1 << 25) - 20, 1 << 30)):
        rows = [
            row(first + draw.randrange(count), "a" * draw.randint(1, 5), **draw.choice(({}, {"dateFormat": "MM"})))
            for _ in range(count)
        ]
        block, numbers = taken(DATE, rows)[0], np.zeros(1, np.int32)
        wanted = clashes(block.columns(numbers))
        assert [found.tolist() for found in block.clashes(numbers)] == [found.tolist() for found in wanted]


def test_parts_of_notes_with_and_without_the_kernel() -> None:
    """Places are characters, of which é has two bytes, 😀 four, and half of a pair three."""
    long = "é" * 300 + "Ann 😀"
    gathered = GatheredTexts(1000)
    gathered.add(["on May 2nd", "", long, "a\ud800b"])
    texts = gathered.all()
    rows = [(0, 3, 3), (0, 9, 1), (2, 299, 3), (2, 304, 1), (2, 305, 0), (3, 1, 2)]
    note, start, length = np.array(rows, np.int64).T
    wanted = b"May\nd\n\xc3\xa9An\n\xf0\x9f\x98\x80\n\n\xed\xa0\x80b\n"
    for there in (nullcontext, no_kernel):
        with there():
            written, sizes = texts.parts(note, start, length)
            assert (written.tobytes(), sizes.tolist()) == (wanted, [3, 1, 4, 4, 0, 4])
    for beyond in ((0, 8, 3), (0, 11, 0), (0, -1, 2)):
        with pytest.raises(IndexError):
            texts.parts(*np.array([beyond], np.int64).T)


def test_a_library_that_does_not_say_its_sources_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another library, which without sources beside it would be taken for one of a wheel."""
    import _ctypes

    monkeypatch.setattr(kernel_library, "LIBRARY", Path(_ctypes.__file__))
    assert kernel_library.kernel.__wrapped__() is None


def test_where_names_and_texts_begin() -> None:
    library = kernel_library.kernel()
    assert library is not None
    written, begin = seen_as(bytearray(b"ab\0\0c\0"), "B"), room_for(4, "q")
    assert library.find_begins(address(written), 6, 3, address(begin)) == 1
    assert begin.tolist() == [0, 3, 4, 6]
    spare = room_for(5, "q")
    for size, count in ((6, 2), (6, 4), (5, 3), (0, 1)):
        assert library.find_begins(address(written), size, count, address(spare)) == 0
    sizes, chars, marks = packed([3, 300, 0, 4], "q"), packed([3, 299, 0, 2], "q"), room_for(4, "q")
    begin = room_for(5, "q")
    assert library.lay_out_texts(address(sizes), address(chars), 4, address(begin), address(marks)) == 3
    assert (begin.tolist(), marks.tolist()) == ([0, 3, 303, 303, 307], [0, 0, 2, 2])


@pytest.mark.parametrize(
    ("said", "first", "seen", "found"),
    [
        pytest.param(["b", "x/c"], 1, (), [1, 2], id="from the second on, one with a folder"),
        pytest.param(["b", "c"], 0, (), [1, 2], id="others were expected"),
        pytest.param(["c", "a"], 2, (), [2, 0], id="more than there are behind it"),
        pytest.param(["a", "c"], 0, (), [0, 2], id="one is left out"),
        pytest.param(["ab"], 0, (), None, id="no such name"),
        pytest.param(["a", "b"], 0, (1,), None, id="one was seen before"),
        pytest.param(["a", "a"], 0, (), None, id="the same twice"),
    ],
)
def test_notes_are_known_by_their_names(
    said: list[str], first: int, seen: Sequence[int], found: list[int] | None
) -> None:
    library = kernel_library.kernel()
    assert library is not None
    rooms = {
        "names": seen_as(bytearray(b"a\0b\0c\0"), "B"),
        "begin": packed([0, 2, 4, 6], "q"),
        "slots": room_for(8, "I"),
    }
    table = kernel_library.NameTable(**{name: address(room) for name, room in rooms.items()}, count=3, slot_room=8)
    written = seen_as(bytearray("\0".join([*said, ""]).encode()), "B")
    rows = kernel_library.Rows(names=address(written), records=len(said))
    before = bytes(number in seen for number in range(3))
    after = before if found is None else bytes(number in found for number in range(3))
    for learnt in (False, True):
        marks, numbers = seen_as(bytearray(before), "B"), room_for(2, "i")
        if learnt:
            assert library.learn_names(byref(table))
            taken = library.join_names(byref(table), byref(rows), address(marks), address(numbers))
        else:
            taken = library.follow_names(byref(table), byref(rows), first, address(marks), address(numbers))
            follows = found == [*range(first, first + len(said))]
            assert taken == follows
            if not follows:
                assert bytes(marks) == before
                continue
        assert (taken, bytes(marks)) == (found is not None, after)
        assert found is None or numbers[: len(said)].tolist() == found


def test_what_columns_come_to() -> None:
    library = kernel_library.kernel()
    assert library is not None
    seen, few, beyond = room_for(4, "B"), packed([3, -1, 1, 3], "i"), packed([4], "i")
    assert library.see_labels(address(few), 4, address(seen), 4) == 1
    assert seen.tolist() == [0, 1, 0, 1]
    assert library.see_labels(address(beyond), 1, address(seen), 4) == 0
    some, none = packed([math.nan, 0.5, 7.25, math.nan], "d"), packed([math.nan], "d")
    assert library.highest_number(address(some), 4) == 7.25
    assert library.highest_number(address(none), 1) == -1
    sums, counts = room_for(3, "q"), packed([1, 2, 3, 10, 20, 30], "q")
    library.sum_counts(address(counts), 2, address(sums))
    assert sums.tolist() == [11, 22, 33]


def test_ratios_of_many_rows_to_the_last_bit() -> None:
    """As ``math.fsum`` has them; what has no counts defines nothing, and counts that no file holds are refused."""
    r = random.Random(1)
    rows = [[r.choice((0, 1, 7, r.randrange(1 << 31))) for _ in range(3)] for _ in range(5000)]
    counts = packed(chain.from_iterable(rows), "q").cast("B").cast("q", (len(rows), 3))
    pairs = [[(tp, tp + fp) for tp, fp, _ in rows], [(tp, tp + fn) for tp, _, fn in rows]]
    pairs.append([(2 * tp, 2 * tp + fp + fn) for tp, fp, fn in rows])
    values = [[part / whole for part, whole in one if whole] for one in pairs]
    found = ratio_sums(counts)
    assert found == [(math.fsum(one), len(one)) for one in values] == ratio_sums(np.asarray(counts))
    for wrong in ([1, 1 << 31, 0], [-1, 2, 2]):
        library, sums = kernel_library.kernel(), room_for(9, "q")
        assert library is not None
        assert library.sum_ratios(address(packed(wrong, "q")), 1, address(sums)) == 0


@pytest.mark.parametrize(
    ("note", "room", "runs"),
    [([-1, 2, 2, 5], 4, 3), ([2, 2, 5], 1, -1), ([5, 2], 1, -1), ([], 4, 0)],
)
def test_runs_of_notes(note: list[int], room: int, runs: int) -> None:
    """Words are 3, 1, 2 and 4; what is of no known note is a run, and the fullest is among the others."""
    library = kernel_library.kernel()
    assert library is not None
    words, notes = packed([3, 1, 2, 4][: len(note)], "i"), packed(note, "i")
    rooms = {name: room_for(room, "q") for name in ("note", "first", "size", "first_token", "tokens")}
    keys = [room_for(2 * room, "q") for _ in range(2)]
    told = kernel_library.RunRooms(*map(address, (*rooms.values(), *keys)), room=room)
    assert library.find_runs(address(notes), address(words), len(note), byref(told)) == runs
    if runs == 3:
        found = [one.tolist()[:3] for one in rooms.values()]
        assert found == [[-1, 2, 5], [0, 1, 3], [1, 2, 1], [0, 3, 6], [3, 3, 4]]
        assert (told.most_rows, told.most_tokens) == (2, 4)


def test_runs_of_notes_in_any_order() -> None:
    """Of 7 there are two, which stay as they stood and are its rows together; what is of no known note comes first."""
    note, words = [7, 7, 3, -1, -1, -1, -1, 7], [1, 2, 4, 8, 8, 8, 8, 16]
    rows = Columns(*map(small_of, (note, note, note, note)), tokens=Tokens(small_of(words)))
    runs = runs_of(rows)
    assert runs.held["most"] == (3, 19)
    found = [runs.held[name].tolist() for name in ("note", "first", "size", "first_token", "tokens")]
    assert found == [[-1, 3, 7, 7], [3, 2, 0, 7], [4, 1, 2, 1], [7, 3, 0, 39], [32, 4, 3, 16]]


def test_levels_where_what_they_are_made_of_stands() -> None:
    """All whole numbers, and one above each of them, in the rooms that what is counted was put into."""
    library, most = kernel_library.kernel(), kernel_library.WHOLE_LEVELS
    assert library is not None
    sure = [number + 0.5 for number in range(most)]
    bits = [struct.unpack("<Q", struct.pack("<d", one))[0] << 1 | 1 for one in reversed(sure)]
    rooms = room_for(2 * most, "d"), room_for(2 * most, "q"), room_for(2 * most, "q")
    as_bytes(rooms[1][most:])[:] = as_bytes(packed(bits, "Q"))
    told = kernel_library.Counting(odd=address(rooms[1][most:]), odds=most)
    told.levels[:] = [3, 2] * most
    levels = kernel_library.ConfidenceLevels(*map(address, rooms))
    library.list_levels(byref(told), address(rooms[2][most:]), byref(levels))
    assert levels.levels == 2 * most
    assert rooms[0].tolist() == sorted([*map(float, range(most)), *sure])
    assert (rooms[1].tolist(), rooms[2].tolist()) == ([3, 1] * most, [2, 1] * most)


@pytest.mark.parametrize("near", [True, False])
def test_many_levels_are_in_order(near: bool) -> None:
    """Those that differ in their last bits alone too, which the first ones do not put into order."""
    library, r = kernel_library.kernel(), random.Random(2)
    assert library is not None
    sure = [
        r.choice((3.5, 77.25)) * (1 + r.randrange(1 << 16) * 2.0**-52) if near else r.random() * 100
        for _ in range(3000)
    ]
    bits = [struct.unpack("<Q", struct.pack("<d", one))[0] << 1 for one in sure]
    odd, spare = packed(bits, "Q"), room_for(len(sure), "Q")
    told = kernel_library.Counting(odd=address(odd), odds=len(sure))
    rooms = room_for(len(sure), "d"), room_for(len(sure), "q"), room_for(len(sure), "q")
    levels = kernel_library.ConfidenceLevels(*map(address, rooms))
    library.list_levels(byref(told), address(spare), byref(levels))
    assert rooms[0].tolist()[: levels.levels] == sorted({*sure})


def test_levels_in_order_and_the_curve_over_them() -> None:
    """Four at 7, two of them right; one at 0.5, right; three at 7.5, of which one: by hand from the highest on."""
    library = kernel_library.kernel()
    assert library is not None
    bits = [struct.unpack("<Q", struct.pack("<d", sure))[0] << 1 | right for sure, right in (
        (7.5, 0), (0.5, 1), (7.5, 1), (7.5, 0),
    )]  # fmt: skip
    odd, spare = packed(bits, "Q"), room_for(4, "Q")
    told = kernel_library.Counting(odd=address(odd), odds=4)
    told.levels[14], told.levels[15] = 4, 2
    rooms = room_for(5, "d"), room_for(5, "q"), room_for(5, "q")
    levels = kernel_library.ConfidenceLevels(*map(address, rooms))
    library.list_levels(byref(told), address(spare), byref(levels))
    assert [room.tolist()[: levels.levels] for room in rooms] == [[0.5, 7.0, 7.5], [1, 4, 3], [1, 2, 1]]
    rows = [room_for(3, "d") for _ in range(3)]
    curve = kernel_library.CurveRooms(*map(address, rows), gold=5, step=2)
    assert library.walk_levels(byref(levels), byref(curve)) == 1
    assert curve.rows == 2
    assert [room.tolist()[:2] for room in rows] == [[7.5, 0.5], [1 / 3, 4 / 8], [1 / 5, 4 / 5]]
    assert (curve.best, curve.best_right, curve.best_total) == (0.5, 4, 13)
    area = Fraction(curve.area[0]) + Fraction(curve.area[1], 1 << 43) + Fraction(curve.area[2], 1 << 86)
    assert area == Fraction(1 / 3) + 2 * Fraction(3 / 7) + Fraction(4 / 8)

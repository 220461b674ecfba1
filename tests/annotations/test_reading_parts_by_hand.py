"""The parts that reading is made of, one at a time, with results counted by hand."""

import gc
from contextlib import nullcontext
from typing import Any

import msgspec
import numpy as np
import pytest
from kernel_comparison import no_kernel
from struct_values import changeable

from sandscore.annotations import column_builder, columns, note_loader, note_texts, problem_collector, record_bounds
from sandscore.annotations.column_builder import Gathered
from sandscore.annotations.columns import Columns, Tokens, distinct, floats_of, order_of, ranked, small_of
from sandscore.annotations.data_set import DataSet, NoteNames, WholeNamesNeededError
from sandscore.annotations.decoder import ClosedNote, Decoder, annotation_type, quotes, record_type
from sandscore.annotations.json_blocks import (
    JsonBlock,
    WholeJson,
    array_blocks,
    form_of,
    items,
    line_blocks,
    lines,
    rest_from,
    sure_blocks,
    trimmed,
)
from sandscore.annotations.label_codes import ABSENT, LabelCodes, normalised, renumber, vocabulary
from sandscore.annotations.note_checks import Positions, clashes, clashes_of_file, misplaced, offset_hint
from sandscore.annotations.note_runs import borders, runs_of
from sandscore.annotations.note_texts import GatheredTexts
from sandscore.annotations.problem_collector import Noted, ProblemCollector
from sandscore.annotations.record_reader import Split, collector_paused, walk
from sandscore.annotations.slow_validation import did_you_mean, meant, shortened
from sandscore.annotations.white_space_tokens import table_of, tokens_of
from sandscore.base.strict_json import JsonFault
from sandscore.kernel.block_readers import ROWS, NoteReader, Room, written_form
from sandscore.kernel.kernel_library import Rows, kernel
from sandscore.task_table.task import find_task

DATE, LOCATION, NAME = find_task("date"), find_task("location"), find_task("person-name")


def bytes_of(text: str) -> memoryview:
    return memoryview(bytearray(text.encode()))


def placed(*rows: tuple[int, int, int, int], words: list[int] | None = None) -> Columns:
    """Rows of note, start, length and label."""
    note, start, length, label = (small_of(list(column)) for column in zip(*rows, strict=True))
    confidence = np.arange(len(rows), dtype=np.float64)
    tokens = None
    if words is not None:
        tokens = Tokens(small_of(words), small_of(list(range(sum(words)))), small_of([1] * sum(words)))
    return Columns(note, start, length, label, confidence, tokens=tokens)


def records_of(block: JsonBlock, split: Split) -> list[tuple[bytes, int]]:
    """The records of a block and where each begins in the file."""
    found = [
        trimmed(block.data, begin, end)
        for bounds in split(block)
        for begin, end in zip(bounds.begins.tolist(), bounds.ends.tolist(), strict=True)
    ]
    return [(bytes(record.data), block.offset + record.offset) for record in found]


def test_an_array_is_cut_before_records_and_put_together_again() -> None:
    text = '[{"a": 1, "b": [1]} , {"a": 2},{"b": 3}, {"a": 4}]'
    data = bytes_of(text)
    blocks = [(bytes(block.data), block.offset) for block in array_blocks(data, ("a", "z"), 10)]
    assert blocks == [(b'[{"a": 1, "b": [1]} ]', 0), (b'[ {"a": 2},{"b": 3}]', 20), (b'[ {"a": 4}]', 39)]
    assert bytes(data) == text.encode()


def test_what_follows_a_broken_block_belongs_to_it() -> None:
    data = bytes_of('[{"a": 1},{"a": 2},{"a": 3}]')
    cuts = array_blocks(data, ("a",), 5)
    assert bytes(rest_from(next(cuts), data).data) == b'[{"a": 1},{"a": 2},{"a": 3}]'
    second = next(cuts)
    rest = rest_from(second, data)
    assert (bytes(rest.data), rest.offset) == (b'[{"a": 2},{"a": 3}]', 9)
    assert records_of(rest, items) == [(b'{"a": 2}', 10), (b'{"a": 3}', 19)]
    last = next(cuts)
    assert bytes(rest_from(last, data).data) == b'[{"a": 3}]'


def test_items_and_lines_know_where_they_begin() -> None:
    (block,) = array_blocks(bytes_of(' [ 1 , {"a":2}\n,3]'), ("a",))
    assert records_of(block, items) == [(b"1", 3), (b'{"a":2}', 7), (b"3", 16)]
    text = '{"a": 1}\n\n \t\r\n{"b": 2}\n{"c": 3}'
    cuts = list(line_blocks(bytes_of(text), 3))
    assert [(bytes(cut.data), cut.offset) for cut in cuts] == [
        (b'{"a": 1}\n', 0), (b"\n \t\r\n", 9), (b'{"b": 2}\n', 14), (b'{"c": 3}', 23),
    ]  # fmt: skip
    (whole,) = line_blocks(bytes_of(text))
    assert records_of(whole, lines) == [(b'{"a": 1}', 0), (b'{"b": 2}', 14), (b'{"c": 3}', 23)]


@pytest.mark.parametrize(
    ("text", "form"),
    [(" [", "array"), ('{"a": 1}', "single"), ('{"a":\n 1}', "single"), ('{"a": 1} \n {"b": 2}', "lines"),
     ('{"a": \n', "single"), ('{"a": }\n{"b": 2}', "lines"), ('{"a":' * 2000, "single")],
)  # fmt: skip
def test_forms(text: str, form: str) -> None:
    assert form_of(bytes_of(text)) == form


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [("", 1, "the file is empty"), ("  7", 3, "expected an array or an object, found '7'"),
     ("\ufeff[]", 1, "a byte order mark stands before the JSON")],
)  # fmt: skip
def test_what_is_no_form(text: str, column: int, said: str) -> None:
    with pytest.raises(JsonFault, match=said) as caught:
        form_of(bytes_of(text))
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "at", "said"),
    [("[1, 2", 5, "the file ends in the middle of a value"), ("[1, NaN]", 4, "NaN and Infinity are not JSON numbers"),
     ("[1, -Infinity]", 5, "NaN and Infinity are not JSON numbers"), ("[1 2]", 3, ", found '2'"),
     ("[" * 2000, 0, "nested deeper than 100 levels")],
)  # fmt: skip
def test_broken_grammar(text: str, at: int, said: str) -> None:
    (block,) = array_blocks(bytes_of(text), ("a",))
    with pytest.raises(JsonFault, match=said) as caught:
        list(items(block))
    assert caught.value.offset == at


def test_places_in_a_whole() -> None:
    whole = WholeJson(bytes_of("aé\nb\n\nc"))
    places = [(fault.line, fault.column) for fault in (whole.fault("", at) for at in (0, 1, 3, 4, 5, 7, 1))]
    assert places == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (4, 1), (1, 2)]
    inner = whole.within(JsonFault("x", 1, 2, 1), 4)
    assert (inner.line, inner.column, inner.offset) == (2, 2, 5)
    later = whole.within(JsonFault("x", 3, 4, 9), 4)
    assert (later.line, later.column, later.offset) == (4, 4, 13)


class Takes:
    """Takes records that are even numbers; what it is told of the others, of which it wants but so many."""

    shortest = 8

    def __init__(self, most: int = 10) -> None:
        self.most, self.counted = most, 0
        self.taken: list[tuple[int, list[Any]]] = []
        self.explained: list[tuple[int, bytes, int]] = []

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        if any(record["a"] % 2 for record in records):
            return False
        self.taken.append((number, records))
        return True

    def explain(self, item: Any, whole: WholeJson, number: int) -> None:
        self.explained.append((number, bytes(item.data), item.offset))

    def enough(self) -> bool:
        return len(self.explained) >= self.most

    def count(self, refused: int) -> None:
        self.counted += refused


def test_records_are_offered_together_then_alone_then_explained() -> None:
    takes, passed = Takes(), list[int]()
    decoder = Decoder(lambda: dict[str, int])
    walk(bytes_of('[{"a": 2}, {"a": 3}, {"a": 4}]'), decoder, ("a",), takes, passed.append)
    assert takes.taken == [(0, [{"a": 2}]), (2, [{"a": 4}])]
    assert takes.explained == [(1, b'{"a": 3}', 11)]
    assert passed == [30]
    rows = Takes()
    walk(bytes_of('{"a": 2}\n{"a": 4}\n'), decoder, ("a",), rows)
    assert rows.taken == [(0, [{"a": 2}, {"a": 4}])]
    alone = Takes()
    walk(bytes_of('{"a":\n 2}'), decoder, ("a",), alone)
    assert (alone.taken, alone.explained) == ([], [(0, b'{"a":\n 2}', 0)])


def test_after_enough_that_are_wrong_the_others_are_counted() -> None:
    """Of the five that follow the second wrong one two are right, one is odd, one is no object, one is too short."""
    takes = Takes(most=2)
    text = '[{"a": 1}, {"a": 3}, {"a": 4}, {"a": 5}, "abcdefgh", {}, {"a": 6} ]'
    walk(bytes_of(text), Decoder(lambda: dict[str, int]), ("z",), takes)
    assert [number for number, *_ in takes.explained] == [0, 1]
    assert takes.taken == [(2, [{"a": 4}]), (6, [{"a": 6}])]
    assert takes.counted == 3


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 19])
def test_records_are_found_wherever_a_chunk_ends(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commas, brackets and line ends in strings are text, a quotation mark after an odd number of backslashes too."""
    monkeypatch.setattr(record_bounds, "_CHUNK", chunk)
    kept = [r'{"a":"],\\[{"}', r'"\\\""', r'["\"\\",[1,{}]]', r'"\\"', "7", '{"b":[1,2]}']
    (block,) = array_blocks(bytes_of(" [" + " , ".join(kept) + "] "), ("z",))
    assert [record.decode() for record, _ in records_of(block, items)] == kept
    rows = JsonBlock(bytes_of("\n".join(["", *kept, " \t", "\r", "8"])), 0)
    assert [record.decode() for record, _ in records_of(rows, lines)] == [*kept, "8"]
    for empty in ("[]", "[ \n ]"):
        assert records_of(JsonBlock(bytes_of(empty), 0), items) == []


def test_where_keys_mislead_blocks_end_where_items_do() -> None:
    data = bytes_of('[{"a":"},{\\"a\\":"},{"a":2},[3,4],5]')
    blocks = [(bytes(block.data), block.offset) for block in sure_blocks(JsonBlock(data, 100), 8)]
    assert blocks == [(b'[{"a":"},{\\"a\\":"}]', 100), (b'[{"a":2}]', 118), (b"[[3,4],5]", 126)]
    with pytest.raises(JsonFault):
        next(sure_blocks(JsonBlock(bytes_of("[1,,2]"), 0)))


def test_a_file_that_breaks_is_told_of_in_its_lines() -> None:
    takes = Takes()
    with pytest.raises(JsonFault) as caught:
        walk(bytes_of('[{"a": 2},\n {"a": 4},\n {"a" 5}]'), Decoder(lambda: dict[str, int]), ("a",), takes)
    assert (caught.value.line, caught.value.column) == (3, 7)
    assert takes.taken == []


def test_the_collector_rests_and_is_left_as_it_was() -> None:
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_lines_hold_one_record_each() -> None:
    decoder = Decoder(lambda: dict[str, int])
    assert decoder.lines(bytes_of('{"a":1}\n{"b":2}\n')) == [{"a": 1}, {"b": 2}]
    assert decoder.lines(bytes_of('\n{"a":1} \n {"b":2}')) == [{"a": 1}, {"b": 2}]
    for text in ('{"a":1}{"b":2}', '{"a":\n1}', '{"a":1}\n\n{"b":2}', '{"a":1}{"b":\n2}', '{"a":"b"}'):
        assert decoder.lines(bytes_of(text)) is None, text
    assert decoder.array(bytes_of('[{"a":1}]')) == [{"a": 1}]
    assert decoder.one(bytes_of('{"a":1}')) == {"a": 1}
    assert decoder.one(bytes_of('{"a":"b"}')) is None


def test_a_later_type_once_needed_is_the_first() -> None:
    made: list[str] = []

    def kind(name: str, what: Any) -> Any:
        def make() -> Any:
            made.append(name)
            return what

        return make

    decoder = Decoder(kind("numbers", dict[str, int]), kind("texts", dict[str, str]))
    assert decoder.one(bytes_of('{"a":1}')) == {"a": 1}
    assert made == ["numbers"]
    assert decoder.one(bytes_of('{"a":"b"}')) == {"a": "b"}
    assert decoder.one(bytes_of('{"a":1}')) is None


@pytest.mark.parametrize(
    ("text", "marks"),
    [('{"a": "b"}', 4), (r'{"a": "\""}', 4), (r'{"a": "\\"}', 4), (r'{"a": "\\\""}', 4), (r'["\n\"\\"]', 2), ("[]", 0)],
)
def test_quotation_marks_of_strings(text: str, marks: int) -> None:
    assert quotes(bytes_of(text)) == marks


def test_the_quick_decoder_knows_every_property() -> None:
    """Whatever else there is, at any level, is left to the slower path, which names it."""

    def taken(record: str) -> bool:
        return Decoder(lambda: record_type(DATE)).one(bytes_of(record)) is not None

    source, row = '"resourceSource":{"name":"a"}', '"start":0,"length":1,"text":"a"'
    assert taken(f'{{"annotationSource":{{{source}}},"textDateAnnotations":[{{{row}}}]}}')
    for odd in (
        '{"annotationSource":{"resourceSource":{"name":"a","x":1}},"textDateAnnotations":[]}',
        f'{{"annotationSource":{{{source},"x":1}},"textDateAnnotations":[]}}',
        f'{{"annotationSource":{{{source}}},"textDateAnnotations":[],"x":1}}',
        f'{{"annotationSource":{{{source}}},"textDateAnnotations":[{{{row},"x":1}}]}}',
    ):
        assert not taken(odd), odd
    assert Decoder(lambda: ClosedNote).one(bytes_of('{"identifier":"a","text":"","noteType":"b"}')) is not None
    assert Decoder(lambda: ClosedNote).one(bytes_of('{"identifier":"a","text":"","x":1}')) is None


def test_labels_as_the_schema_spells_them_are_one_object_each() -> None:
    kind = annotation_type(LOCATION, exact=True)

    def row(label: str) -> str:
        return f'{{"start":0,"length":1,"text":"a","confidence":1,"locationType":"{label}"}}'

    found = Decoder(lambda: kind).array(bytes_of(f"[{row('city')},{row('city')}]"))
    assert found is not None
    one, other = found
    assert one.label is other.label
    assert Decoder(lambda: kind).one(bytes_of(row("City"))) is None
    assert Decoder(lambda: annotation_type(LOCATION)).one(bytes_of(row("City"))) is not None


def test_what_an_annotation_needs() -> None:
    def fits(task: Any, **more: Any) -> bool:
        try:
            msgspec.convert({"start": 0, "length": 1, "text": "a"} | more, annotation_type(task))
        except msgspec.ValidationError:
            return False
        return True

    assert fits(DATE)
    assert fits(DATE, dateFormat="x", confidence=100)
    assert not fits(LOCATION, confidence=0)
    assert not fits(LOCATION, locationType="city")
    assert fits(LOCATION, locationType="city", confidence=0)
    assert not fits(NAME, dateFormat="x")
    assert fits(DATE, start=2147483647, length=2147483647)
    for wrong in ({"start": -1}, {"start": 2147483648}, {"length": 0}, {"length": 2147483648}, {"confidence": -0.1}):
        assert not fits(DATE, **wrong)


def test_fields_ranked_as_tuples_and_put_in_order() -> None:
    fields = [np.array([1, 0, 1, 0]), np.array([0, 5, 0, 2])]
    keys, size = ranked(fields)
    assert keys.tolist() == [6, 5, 6, 2]
    assert size == 12
    assert order_of(keys, size).tolist() == [3, 1, 0, 2]
    assert order_of(np.array([1, 1, 2]), 3).tolist() == [0, 1, 2]
    huge = [np.array([2, 1, 2]) << 40, np.array([2, 3, 1]) << 40]
    keys, size = ranked(huge)
    assert np.argsort(keys).tolist() == [1, 2, 0]
    assert order_of(np.array([5, 1, 5, 1]), 1 << 61).tolist() == [1, 3, 0, 2]
    assert [part.tolist() for part in distinct(np.array([3, 1, 3]))] == [[1, 3], [1, 2]]
    assert [part.tolist() for part in distinct(np.zeros(0, np.int64))] == [[], []]


def test_pieces_and_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_PIECE", 2)
    rows = placed((0, 1, 1, 2), (0, 3, 1, -1), (1, 0, 1, 5))
    assert [(first, piece.start.tolist()) for first, piece in rows.pieces()] == [(0, [1, 3]), (2, [0])]
    assert rows.labels() == {2, 5}


@pytest.mark.parametrize("spill", [100, 2])
@pytest.mark.parametrize("words", [[1, 2], None])
@pytest.mark.parametrize("rest", [0, 0.5, 7])
def test_blocks_become_one(monkeypatch: pytest.MonkeyPatch, spill: int, words: list[int] | None, rest: float) -> None:
    """Whatever is believed to follow: less, as much, or more than does."""
    monkeypatch.setattr(column_builder, "SPILL", spill)
    gathered = Gathered()
    for first in (0, 10):
        gathered.add(placed((first, 1, 2, 0), (first + 1, 3, 4, -1), words=words), rest)
    assert gathered.size == 4
    assert (gathered.kept is None) is (spill == 100)
    whole = gathered.columns()
    assert (whole.note.tolist(), whole.start.tolist()) == ([0, 1, 10, 11], [1, 3, 1, 3])
    assert (whole.length.tolist(), whole.label.tolist()) == ([2, 4, 2, 4], [0, -1, 0, -1])
    assert whole.confidence.tolist() == [0, 1, 0, 1]
    assert whole.text is None
    if words is None:
        assert whole.tokens is None
    else:
        assert whole.tokens is not None
        assert whole.tokens.words.tolist() == [1, 2, 1, 2]
        assert whole.tokens.begin.tolist() == [0, 1, 2, 0, 1, 2]


def test_runs_of_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_PIECE", 3)
    rows = placed((2, 0, 1, 0), (2, 1, 1, 0), (0, 2, 1, 0), (-1, 3, 1, 0), (2, 4, 1, 0), words=[1, 0, 2, 1, 3])
    runs = runs_of(rows)
    assert runs.per_note(4).tolist() == [1, 0, 3, 0]
    assert runs.take(2, 3).start.tolist() == [0, 1, 4]
    both = runs.take(0, 3)
    assert both.start.tolist() == [2, 0, 1, 4]
    assert both.tokens is not None
    assert both.tokens.words.tolist() == [2, 1, 0, 3]
    assert both.tokens.begin.tolist() == [1, 2, 0, 4, 5, 6]
    assert list(runs.parts(2)) == [(0, 2), (2, 3)]
    assert list(runs.parts(100)) == [(0, 3)]
    assert runs.rows(1, 2) == slice(0, 0)
    assert runs.rows(0, 1) == slice(2, 3)
    wide = rows.replace(note=rows.note.astype(np.int64), label=rows.label.astype(np.int64).repeat(2)[::2])
    assert (runs_of(wide).note.tolist(), wide.labels()) == (runs.note.tolist(), rows.labels())
    assert not list(runs_of(rows[:0]).parts(2))
    backwards = runs_of(placed((2, 0, 1, 0), (1, 5, 1, 0), (0, 9, 1, 0)))
    assert backwards.take(0, 3).start.tolist() == [9, 5, 0]
    assert borders(np.array([3, 3, 3, 3]), 5) == [0, 1, 3, 4]
    assert borders(np.zeros(0, np.int64), 5) == [0, 0]


@pytest.mark.parametrize("spill", [1 << 20, 3])
def test_texts_come_back(monkeypatch: pytest.MonkeyPatch, spill: int) -> None:
    monkeypatch.setattr(note_texts, "SPILL", spill)
    monkeypatch.setattr(note_texts, "_LOOKED_AT", 4)
    forgotten: list[int] = []
    monkeypatch.setattr(note_texts, "forget", lambda texts: forgotten.append(len(texts)))
    gathered = GatheredTexts(20)
    gathered.add(["aé", ""])
    gathered.add(["\ud800b"])
    texts = gathered.all()
    assert (len(texts), texts[0], texts[2], texts[-1]) == (3, "aé", "\ud800b", "\ud800b")
    assert texts[1:] == ["", "\ud800b"]
    assert bool(forgotten) is (spill == 3)
    with pytest.raises(IndexError):
        texts[3]
    texts.passed(small_of([0, -1]))
    before = len(forgotten)
    texts.passed(small_of([2, 2]))
    assert len(forgotten) - before == (spill == 3)


def test_a_data_set_grows_until_it_is_told_not_to() -> None:
    dataset = DataSet(LabelCodes(None))
    assert (dataset.find(None), dataset.find(None)) == (0, 0)
    assert dataset.roll.ids == ["note"]
    dataset = DataSet(LabelCodes(None))
    assert (dataset.find("a"), dataset.find("b"), dataset.find("a")) == (0, 1, 0)
    dataset.extend(["c", "d"], ["p", None])
    dataset.growing = False
    assert (dataset.find("d"), dataset.find("e"), dataset.find(None)) == (3, None, None)
    assert dataset.roll.units == ["a", "b", "p", "d"]
    assert dataset.intern(["x", "y", "x"]) == [0, 1, 0]


def test_names_are_joined_on_their_last_part() -> None:
    names = NoteNames(whole=False)
    assert names.fresh(["x/a", "b"]) == ["a", "b"]
    assert names.fresh(["c", "y/c"]) is None
    assert names.fresh(["b"]) is None
    assert names.key("b") == ("b", True)
    assert names.key("c") == ("c", False)
    assert names.key("z", "q") == ("q", False)
    with pytest.raises(WholeNamesNeededError):
        names.key("y/a")
    whole = NoteNames(whole=True)
    assert whole.fresh(["x/a", "y/a"], ["a", "a"]) == ["x/a", "y/a"]


def test_labels_and_their_codes() -> None:
    values, aliases = ("city", "other"), {"elsewhere": "other"}
    spelt = [normalised(written, values, aliases) for written in (" CITY ", "Elsewhere", " ", "town", "cıty")]
    assert spelt == ["city", "other", "", None, None]
    assert normalised(" X ", None) == " X "
    codes = LabelCodes(values, aliases)
    assert [codes[name] for name in ("Other", "city", None, "", " ")] == [1, 0, ABSENT, ABSENT, ABSENT]
    with pytest.raises(KeyError):
        codes["town"]
    free = vocabulary(DATE, "dateFormat")
    assert [free[name] for name in ("b", "a", "b", "A")] == [0, 1, 0, 2]
    twin = free.copy()
    assert (twin["new"], twin["a"], free.names) == (3, 1, ["b", "a", "A"])
    other = LabelCodes(None)
    other.learn(["A", "x"])
    rows = placed((0, 0, 1, 2), (0, 1, 1, 0), (0, 2, 1, ABSENT))
    rows = Columns(rows.note, rows.start, rows.length, rows.label.copy(), rows.confidence)
    renumber(rows, free, other)
    assert rows.label.tolist() == [0, 2, ABSENT]
    assert other.names == ["A", "x", "b", "a"]


def test_tokens_of_texts() -> None:
    texts = ["a bc ", "", " ", "é\u3000\u3001\u2028d"]
    tokens = tokens_of("\n".join(["", *texts, ""]), small_of([len(text) for text in texts]))
    assert tokens.words.tolist() == [2, 0, 0, 3]
    assert tokens.begin.tolist() == [0, 2, 0, 2, 4]
    assert tokens.size.tolist() == [1, 2, 1, 1, 1]
    table = table_of(tokens)
    assert table is not None
    assert [part.tolist() for part in table.of(np.array([3, 1, 0]))] == [
        [0, 0, 0, 2, 2],
        [0, 2, 4, 0, 2],
        [1, 1, 1, 1, 2],
    ]
    assert table_of(None) is None


def test_clashes_within_a_block() -> None:
    rows = placed((0, 0, 5, 0), (0, 5, 2, 0), (0, 0, 5, 1), (0, 0, 5, 0), (-1, 0, 5, 0), (-1, 0, 5, 0), (1, 6, 1, 0))
    repeats, overlaps = clashes(rows)
    assert (repeats.tolist(), overlaps.tolist()) == ([3], [2])
    assert [part.tolist() for part in clashes(rows[4:6])] == [[], []]
    long = placed((0, 0, 9, 0), (0, 1, 1, 0), (0, 8, 4, 0), (1, 9, 1, 0))
    assert [part.tolist() for part in clashes(long)] == [[], [1, 2]]


def test_clashes_of_a_note_with_two_entries() -> None:
    rows = placed((1, 0, 5, 0), (0, 0, 5, 0), (1, 0, 5, 0), (1, 3, 5, 0))
    assert [noted.listed() for noted in clashes_of_file(rows)] == [[2], [3]]


def test_places_of_annotations() -> None:
    places = Positions()
    places.add_run(3, 0, np.array([2, 0, 3]))
    places.add(6, 5, [1, 4])
    assert [places.find(number) for number in (0, 1, 2, 4, 5, 6)] == [(3, 0), (3, 1), (5, 0), (5, 2), (6, 1), (6, 4)]


def test_texts_that_stand_elsewhere() -> None:
    assert misplaced(["abc", "xyz"], [1, -1, 0], ["x", "q", "b", "c"], [0, 0, 1, 1], [1, 2, 4]) == [3]


@pytest.mark.parametrize(
    ("note", "start", "text", "said"),
    [
        ("abc", 1, "a", "; it stands 1 character earlier, at 0"),
        ("abcab", 1, "ab", "; it stands 1 character earlier, at 0"),
        ("abcab", 2, "ab", "; it stands 1 character later, at 3"),
        ("a-b-a", 2, "a", "; it stands 2 characters earlier, at 0"),
        ("abc", 1, "", ""),
        ("abc", 1, "q", ""),
        ("abc", 1, "b", ""),
        ("😀b", 2, "b", "; it stands there counted in UTF-16 units, but offsets count code points"),
        ("éb", 2, "b", "; it stands there counted in UTF-8 bytes, but offsets count code points"),
        ("a" + " " * 1000, 1000, "a", "; it stands 1000 characters earlier, at 0"),
        ("a" + " " * 1001, 1001, "a", ""),
        (" " * 1000 + "a", 0, "a", "; it stands 1000 characters later, at 1000"),
        (" " * 1001 + "a", 0, "a", ""),
    ],
)
def test_hints(note: str, start: int, text: str, said: str) -> None:
    assert offset_hint(note, start, len(text), text) == said


def test_problems_are_counted_and_the_first_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem_collector, "LISTED", 2)
    monkeypatch.setattr(problem_collector, "_NOTED", 4)
    found = ProblemCollector("a.json", "dates")
    for record in (2, 1, 0):
        found.add("schema", (record, 0), f"/{record}", None, "x")
    found.add("overlap", (1, 1), "/1/1", None, "y")
    found.add("missing-note", (9, 9), "", "n", "z", "error")
    assert [problem.pointer for problem in found.problems] == ["/1", "/1/1", "/2", ""]
    assert (found.errors, found.counts["schema"], found.room("schema"), found.room("overlap")) == (4, 3, 0, 1)
    noted = Noted()
    for block in ([7, 9], [8], [1, 3], [2]):
        noted.add(np.array(block))
    assert (noted.count, noted.listed()) == (6, [1, 2])
    found.add_late("overlap", noted, "late")
    found.add_late("duplicate", Noted(), "never")
    with pytest.raises(ValueError, match="nobody can say"):
        found.settle()
    again = ProblemCollector("a.json")
    again.describe = lambda number: ((number, 0), f"/{number}", "n")
    again.add_late("overlap", noted, "late")
    assert [(one.pointer, one.severity) for one in again.problems] == [("/1", "warning"), ("/2", "warning")]
    assert (again.counts["overlap"], again.errors, len(again.problems)) == (6, 0, 2)


def test_values_are_shortened() -> None:
    assert shortened([1, 2, 3]) == "[1, 2, 3]"
    assert shortened([1, 2, 3, 4]) == "an array of 4"
    assert shortened(dict.fromkeys("abcd")) == "an object of 4"
    assert shortened("x" * 58) == '"' + "x" * 58 + '"'
    assert shortened("x" * 59) == '"' + "x" * 58 + "…"
    assert shortened("é\u202e") == r'"\u00e9\u202e"'


def test_hints_of_names() -> None:
    assert did_you_mean("start", {"START": 1, "starts": 2}) == ' (there is "START")'
    assert did_you_mean("start", {"stort": 2}) == ' (there is "stort")'
    assert did_you_mean("start", {"end": 2}) == did_you_mean("start", ["start"]) == ""
    assert meant("dateformat", DATE) == "; did you mean 'dateFormat'?"
    assert meant("lenght", DATE) == "; did you mean 'length'?"
    assert meant("page", DATE) == ""


def test_how_a_task_is_written() -> None:
    def required(task: Any) -> str:
        return f"{written_form(task, want_tokens=True).required:06b}"

    assert (required(DATE), required(LOCATION), required(NAME)) == ("000111", "011111", "000111")
    form = written_form(DATE, want_tokens=False)
    assert (form.array, form.array_size) == (b'textDateAnnotations"', 20)
    assert (list(form.names), list(form.sizes)) == (
        [b'start"', b'length"', b'text"', b'confidence"', b'dateFormat"', b""], [6, 7, 5, 11, 11, 0],
    )  # fmt: skip
    assert form.want_tokens == 0


def test_a_room_holds_the_largest_block() -> None:
    room = Room(Rows(), ROWS)
    room.fit(64)
    assert (len(room.held["start"]), len(room.held["begin"]), len(room.held["per_record"])) == (3, 33, 2)
    assert (room.rows.row_room, room.rows.token_room, room.rows.record_room) == (3, 33, 2)
    held = room.held["start"]
    room.fit(63)
    assert room.held["start"] is held
    room.held["names"][:4] = b"a\0b\0"
    assert (room.words("names", 4), room.words("names", 0)) == (["a", "b"], [])


def test_notes_by_the_kernel() -> None:
    library = kernel()
    assert library is not None
    texts = GatheredTexts(200)
    reader = NoteReader(library, texts)
    found = reader.read(
        bytes_of('[{"identifier":"a","text":"é"},{"identifier":"b","patientId":"p","text":""}]'), lines=False
    )
    assert found == (["a", "b"], [None, "p"])
    reader.keep()
    assert list(texts.all()) == ["é", ""]
    assert reader.read(bytes_of('[{"identifier":"a"}]'), lines=False) is None


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("annotations") == {
        "ClosedNote", "DataSet", "JudgedRecord", "NoteRecord", "_AnyArray", "_Reader", "_Resource", "_Source",
    }  # fmt: skip


def test_strings_of_notes_are_counted_as_their_json_has_them() -> None:
    """Two keys and two values; each more is a key and a value. As many as half of the quotation marks."""
    written = (
        b'[{"identifier":"a","text":"b"},{"identifier":"c","text":"d","patientId":"e"},'
        b'{"identifier":"f","text":"g","patientId":"h","type":"i"}]'
    )
    notes = msgspec.json.decode(written, type=list[ClosedNote])
    assert note_loader._strings(notes) == 4 + 6 + 8 == written.count(b'"') // 2


@pytest.mark.parametrize("compiled", [True, False])
def test_the_labels_that_occur(compiled: bool) -> None:
    for labels in ([], [-1, -1], [2, -1, 0, 2], [1], [63, 3], [64, 3], [4095, -1, 64], [3, 4096, 70]):
        numbers, sure = small_of([0] * len(labels)), floats_of([0.0] * len(labels))
        with nullcontext() if compiled else no_kernel():
            assert Columns(numbers, numbers, numbers, small_of(labels), sure).labels() == {*labels} - {-1}

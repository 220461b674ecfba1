"""Grapheme clusters, entities as they are read, maps of classes, and the folders of all tasks."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from struct_values import changeable

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.annotations.note_texts import GatheredTexts
from sandscore.base.byte_sources import NamedBytes
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.leaks import text_grids
from sandscore.leaks.grapheme_clusters import clings, cluster_pattern
from sandscore.leaks.identifier_classes import classes_of, load_class_map, of_several
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.pooling.all_tasks import task_files
from sandscore.task_table.task import TASKS

FACTS = {
    "÷ CR × LF ÷": ["\r\n"],
    "÷ LF ÷ CR ÷": ["\n", "\r"],
    "÷ a × diaeresis × joiner ÷ a ÷": ["a\u0308\u200d", "a"],
    "÷ G × I × L of Hangul ÷": ["\u1100\u1161\u11a8"],
    "÷ GA × last consonant ÷ first consonant ÷": ["\uac00\u11a8", "\u1100"],
    "÷ two flags of two letters each, and one letter ÷": ["\U0001f1e6\U0001f1e7", "\U0001f1e8\U0001f1e9", "\U0001f1ea"],
    "÷ a family joined ÷": ["\U0001f469\u200d\U0001f469\u200d\U0001f467"],
    "÷ a hand × its tone ÷": ["\U0001f476\U0001f3ff"],
    "÷ prepended sign × a ÷": ["\u0600a"],
    "÷ KA × virama × SSA × I (a conjunct since Unicode 15.1) ÷": ["\u0915\u094d\u0937\u093f"],
    "÷ KA ÷ SSA without a virama ÷": ["\u0915", "\u0937"],
    "÷ a × spacing mark ÷ b ÷": ["a\u0903", "b"],
}
"""Rules GB3 to GB13 of UAX #29, as in Unicode's GraphemeBreakTest; the tables were checked against uniseg 0.10.1."""


@pytest.mark.parametrize("fact", FACTS)
def test_grapheme_clusters(fact: str) -> None:
    assert cluster_pattern().findall("".join(FACTS[fact])) == FACTS[fact]


def test_what_clings() -> None:
    assert [clings(one) for one in ("a", "é", "漢", "\r", "\u0301", "\u200d", "\u0600", "\U0001f1e6", "\uac00")] == [
        *(False, False, False, True, True, True, True, True),
        False,
    ]


def test_entities_are_read_quickly_and_slowly_alike() -> None:
    """An unknown property sends a record to the checks that explain; in either way no warning is given of an id."""
    task = TASKS["person-name"]

    def read(**more: object) -> list[int]:
        rows = [{"start": at, "length": 1, "text": "ab"[at], "entityId": f"e{at}", **more} for at in range(2)]
        notes = [{"identifier": "n", "text": "ab"}]
        gold = [{"annotationSource": {"resourceSource": {"name": "n"}}, task.array: rows}]
        sides = NamedBytes("gold", json.dumps(gold).encode()), NamedBytes("notes", json.dumps(notes).encode())
        loaded = load_files(task, Inputs(sides[0], sides[0], sides[1]))
        assert set(loaded.findings["gold"].counts) == ({"unknown-property"} if more else set())
        entity = loaded.columns["gold"].entity
        return [] if entity is None else entity.tolist()

    assert read() == read(colour="red") == [0, 1]


def test_an_entity_is_text() -> None:
    task = TASKS["person-name"]
    rows = [{"start": 0, "length": 1, "text": "a", "entityId": 7}]
    gold = json.dumps([{"annotationSource": {"resourceSource": {"name": "n"}}, task.array: rows}]).encode()
    loaded = load_files(task, Inputs(NamedBytes("gold", gold)))
    assert dict(loaded.findings["gold"].counts)["schema"] == 1


def test_classes_of_the_table_and_of_a_file(tmp_path: Path) -> None:
    hipaa = load_hipaa_map()
    address = classes_of(TASKS["address"], None, hipaa)
    assert [address.of(name) for name in ("city", "zip", "hospital", None)] == ["quasi", "quasi", "none", "none"]
    phi = classes_of(TASKS["phi"], None, None)
    assert [phi.of(name) for name in ("PATIENT", "DATE", "DOCTOR", "ODD")] == ["direct", "quasi", "none", None]
    file = tmp_path / "map.json"
    file.write_text('{"version": "1", "classes": {"date": "direct", "address": {"city": "direct", "*": "none"}}}')
    given = load_class_map(file)
    dates, places = (classes_of(TASKS[name], given, hipaa) for name in ("date", "address"))
    assert (dates.of("YYYY"), places.of("city"), places.of("zip")) == ("direct", "direct", "none")
    assert places.digest != address.digest
    both = of_several([dates, places])
    assert [both.of(name) for name in ("date", "date/YYYY", "address/zip", "id/ssn")] == [
        "direct",
        "direct",
        "none",
        None,
    ]
    for wrong in ('{"classes": {"date": "secret"}}', "[]", '{"classes": {}}'):
        file.write_text(wrong)
        with pytest.raises(OrganiserFault, match="each class being direct, quasi or none"):
            load_class_map(file)


def test_folders_of_all_tasks(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="is not a folder"):
        task_files(tmp_path / "missing", tmp_path, {})
    with pytest.raises(UsageFault, match="no file that is called as a task is"):
        task_files(tmp_path, tmp_path, {})


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=8), st.data())
def test_characters_beyond_latin(texts: list[str], data: st.DataObject) -> None:
    """As Python counts them."""
    gathered = GatheredTexts(4 * sum(map(len, texts)))
    gathered.add(texts)
    first = data.draw(st.integers(0, len(texts)))
    numbers, points = text_grids.beyond_latin(gathered.all(), first, len(texts))
    expected = [
        (at, ord(one)) for at in range(first, len(texts)) for one in texts[at] if one >= "\u0300" or one == "\r"
    ]
    assert [*zip(numbers.tolist(), points.tolist(), strict=True)] == expected


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([], []),
        ([4], [(0, 1)]),
        ([4, 6, 1], [(0, 2), (2, 3)]),
        ([4, 7, 3, 20, 1, 9, 1], [(0, 1), (1, 3), (3, 4), (4, 6), (6, 7)]),
        ([0, 0, 11], [(0, 2), (2, 3)]),
    ],
)
def test_notes_are_looked_at_ten_characters_at_a_time(
    sizes: list[int], groups: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_grids, "_TOGETHER", 10)
    assert [*text_grids._groups(np.array(sizes, np.int64))] == groups


def test_characters_of_written_text_are_numbers() -> None:
    for text in ("", "ab", "aé漢😀"):
        written = np.frombuffer(text.encode(), np.uint8)
        assert text_grids._code_points(written).tolist() == [ord(one) for one in text]


def test_extents_of_grapheme_clusters() -> None:
    """An e with its accent and a b: two cells of three characters, also for who begins at the end of the text."""
    gathered = GatheredTexts(9)
    gathered.add(["ab", "e\u0301b"])
    note, start, end = np.ones(4, np.int64), np.array([0, 1, 2, 3]), np.array([2, 2, 3, 3])
    (told,) = text_grids.TextGrid("graphemes").laid(gathered.all(), 0, 2, [text_grids.Extents(note, start, end)])
    assert [*zip(told.start.tolist(), told.end.tolist(), strict=True)] == [(0, 1), (0, 1), (1, 2), (2, 2)]


@pytest.mark.parametrize("room", ["leaks", "pooling"])
def test_what_is_made_stays_as_it_is(room: str) -> None:
    assert changeable(room) == set()

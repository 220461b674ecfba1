"""Each cause in a file of two short notes, planted by hand: what is said of it, and the file as it should have been."""

import json
from typing import Any

import pytest

from sandscore.annotations.data_set import DataSet
from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.byte_sources import NamedBytes
from sandscore.remedies.causes import NotesShifted, RewrittenText, ShiftedStarts
from sandscore.remedies.diagnosing import Layer, Treatment
from sandscore.remedies.file_diagnosis import BOM, Remedy
from sandscore.remedies.mending import Mender
from sandscore.remedies.spots import FileSpots, NoteView, NoteViews, Spot
from sandscore.task_table.task import TASKS

DATE = TASKS["date"]
ONE, TWO = "Seen 3 May 2020 and 4 May 2020.", "Due 5 June 2021, not 6 June 2021."
TEXTS = {"n1": ONE, "n2": TWO}
Place = tuple[Any, Any, Any]
RIGHT: list[list[Place]] = [
    [(5, 10, "3 May 2020"), (20, 10, "4 May 2020")],
    [(4, 11, "5 June 2021"), (21, 11, "6 June 2021")],
]


def written(places: list[list[Place]], names: tuple[str, ...] = ("n1", "n2"), **more: Any) -> bytes:
    records = [
        {
            "annotationSource": {"resourceSource": {"name": name}},
            DATE.array: [{"start": start, "length": length, "text": text, **more} for start, length, text in of],
        }
        for name, of in zip(names, places, strict=True)
    ]
    return json.dumps(records, ensure_ascii=False).encode()


def read(texts: dict[str, str], data: bytes) -> Any:
    notes = json.dumps([{"identifier": name, "text": text} for name, text in texts.items()]).encode()
    inputs = Inputs(predictions=NamedBytes("p", data), notes=NamedBytes("notes", notes))
    return load_files(DATE, inputs, want_tokens=False, want_hashes=False)


def told(data: bytes, texts: dict[str, str] = TEXTS) -> tuple[list[tuple[Any, ...]], bytes]:
    """(cause, constant, scope, how many it explains, of how many, whether it can be mended), and the file mended."""
    loaded = read(texts, data)
    found = loaded.findings["predictions"]
    causes = [
        (one["cause"], one.get("by"), one["scope"], one["explains"], one["of"], one["fixable"])
        for one in (cause.to_dict() for cause in found.diagnosis)
    ]
    return causes, Mender(DATE, loaded.dataset, found.remedy).mended(data)


def changed(change: Any, places: list[list[Place]] = RIGHT) -> list[list[Place]]:
    return [[change(*place) for place in of] for of in places]


@pytest.mark.parametrize(
    ("code", "by", "places"),
    [
        ("shift", -2, changed(lambda start, length, text: (start + 2, length, text))),
        ("shift", 4, changed(lambda start, length, text: (start - 4, length, text))),
        ("end-exclusive", None, changed(lambda start, length, text: (start, start + length, text))),
        ("end-inclusive", None, changed(lambda start, length, text: (start, start + length - 1, text))),
        ("end-inclusive", None, changed(lambda start, length, text: (start, length - 1, text))),
        ("swapped-fields", None, changed(lambda start, length, text: (length, start, text))),
        ("case", None, changed(lambda start, length, text: (start, length, text.upper()))),
        ("whitespace", None, changed(lambda start, length, text: (start, length, text.replace(" ", "\xa0")))),
        ("whitespace", None, changed(lambda start, length, text: (start, length - 2, text.replace(" ", "")))),
    ],
)
def test_one_cause_of_the_whole_file(code: str, by: int | None, places: list[list[Place]]) -> None:
    assert told(written(places)) == ([(code, by, "file", 4, 4, True)], written(RIGHT))


@pytest.mark.parametrize(
    ("code", "begins", "wide"),
    [
        ("utf16", "😀", 2),
        ("bytes", "é", 2),
        ("bytes", "…", 3),
        ("bytes", "😀", 4),
        ("bom", "\ufeff", 0),
        ("crlf", "\r\n", 1),
    ],
)
def test_other_units(code: str, begins: str, wide: int) -> None:
    """The second note has none of what is counted otherwise, the first some before each of its dates."""
    texts = {"n1": f"{begins}Seen 3 May 2020 {begins}and 4 May 2020.", "n2": TWO}
    size, odd = len(begins), wide - len(begins)
    right = [[(size + 5, 10, "3 May 2020"), (2 * size + 20, 10, "4 May 2020")], RIGHT[1]]
    wrong = [[(size + odd + 5, 10, "3 May 2020"), (2 * (size + odd) + 20, 10, "4 May 2020")], RIGHT[1]]
    assert told(written(wrong), texts) == ([(code, None, "file", 2, 2, True)], written(right))


def test_two_causes_that_came_together() -> None:
    places = changed(lambda start, length, text: (start + 3, length, text.upper()))
    assert told(written(places)) == (
        [("shift", -3, "file", 4, 4, True), ("case", None, "file", 4, 4, True)],
        written(RIGHT),
    )


def test_each_note_by_a_number_of_its_own() -> None:
    """A third that is nowhere near: two agree, and the file stays as it is."""
    places = [[(7, 10, "3 May 2020"), (22, 10, "4 May 2020")], [(9, 11, "5 June 2021"), (26, 11, "6 June 2021")]]
    assert told(written(places)) == ([("shift", None, "note", 4, 4, True)], written(RIGHT))
    places[1].append((27, 2, "99"))
    assert told(written(places)) == ([("shift", None, "note", 4, 5, False)], written(places))


def test_what_stands_says_in_which_notes_and_from_where() -> None:
    in_two = [RIGHT[0], [(start + 1, length, text) for start, length, text in RIGHT[1]]]
    assert told(written(in_two)) == ([("shift", -1, "note", 2, 2, True)], written(RIGHT))
    tails = [[of[0], (of[1][0] + 1, *of[1][1:])] for of in RIGHT]
    assert told(written(tails)) == ([("shift", -1, "tail", 2, 2, True)], written(RIGHT))


def test_entries_under_the_name_of_the_other_note() -> None:
    causes, mended = told(written(RIGHT[::-1]))
    assert causes == [("other-note", None, "file", 4, 4, True)]
    assert mended == written(RIGHT)


def test_one_place_says_something_of_a_file_if_only_one_cause_does() -> None:
    alone = {"n1": ONE}
    assert told(written([[(7, 10, "3 May 2020")]], ("n1",)), alone)[0] == [("shift", -2, "file", 1, 1, True)]
    both = {"n1": "3 MAY 2020, 3 May 2020"}
    causes, _ = told(written([[(0, 10, "3 May 2020")]], ("n1",)), both)
    assert [(cause[0], cause[2]) for cause in causes] == [("shift", "note")]


def test_a_remainder_that_nothing_explains_is_not_mended() -> None:
    places = changed(lambda start, length, text: (start + 2, length, text))
    places[0].append((0, 4, "1999"))
    assert told(written(places)) == ([("shift", -2, "file", 4, 5, False)], written(places))


def test_confidences_from_zero_to_one() -> None:
    assert told(written(RIGHT, confidence=0.29)) == (
        [("confidence-scale", None, "file", 4, 4, True)],
        written(RIGHT, confidence=29),
    )


# The parts


def dataset() -> DataSet:
    return read(TEXTS, written(RIGHT)).dataset  # type: ignore[no-any-return]


def test_a_byte_order_mark_goes_where_the_remedy_says_so() -> None:
    right = written(RIGHT)
    assert told(BOM + right) == ([("bom", None, "file", 0, 0, True)], right)
    for marked, given, made in ((True, BOM + right, right), (True, right, right), (False, BOM + right, BOM + right)):
        assert Mender(DATE, dataset(), Remedy(marked=marked)).mended(given) == made


@pytest.mark.parametrize("odd", [("x", 10, "3 May 2020"), (5, None, "3 May 2020"), (5, 10, 7), (5.5, 10, "3 May 2020")])
def test_what_is_no_annotation_stays_as_it_is(odd: Place) -> None:
    remedy = Remedy(Treatment([Layer(ShiftedStarts(-2), "file")]))
    mended = Mender(DATE, dataset(), remedy).mended(written([[odd, (22, 10, "4 May 2020")], RIGHT[1]]))
    assert mended == written([[odd, (20, 10, "4 May 2020")], RIGHT[1]])


def test_all_layers_then_fewer() -> None:
    layer = Layer(ShiftedStarts(1), "file")
    assert [*Treatment([layer] * 3)._runs(False)] == [(0, 3), (0, 2), (0, 1), (1, 2), (2, 3)]
    assert [*Treatment([layer] * 3)._runs(True)] == [(0, 3)]


def test_causes_that_have_nothing_to_say() -> None:
    views = NoteViews(dataset())
    spot = Spot(0, 0, 5, 10, "3 MAY 2020")
    case = RewrittenText("case")
    assert case.meant(spot, views) == spot.moved(5, 10, "3 May 2020")
    assert case.meant(spot.moved(-1, 10), views) is None
    assert case.meant(spot.moved(5, 0), views) is None
    assert NotesShifted({0: -5}).meant(spot, views) == spot.moved(0, 10)
    assert NotesShifted({0: -6}).meant(spot, views) is None
    assert NotesShifted({1: 1}).meant(spot, views) is None
    assert ShiftedStarts(-6).meant(spot, views) is None


def test_borders_and_places_of_units() -> None:
    view = NoteView("a😀é\r\nb")
    assert view.borders("utf16") == [0, 1, 3, 4, 5, 6, 7]
    assert view.borders("bytes") == [0, 1, 5, 7, 8, 9, 10]
    assert view.borders("one") == [0, 1, 2, 3, 3, 4, 5]
    assert view.borders("two") is None
    assert view.borders("bom") is None
    assert [view.places("utf16", offset) for offset in (1, 2, 3, 8)] == [(1,), (), (2,), ()]
    assert view.places("one", 3) == (3, 4)
    assert view.places("bom", 3) == (3,)
    assert NoteView("a\nb").borders("two") == [0, 1, 3, 4]


def test_nothing_was_found_yet() -> None:
    found = FileSpots()
    assert (found.right, found.wrong, found.records, found.labels) == ([], [], [], {})
    assert (found.cut, found.confidences, found.fractions, found.highest) == (False, 0, False, 0.0)

"""Lines and columns of faults found in parts of a file; counted by hand, columns in characters."""

import pytest

from sandscore.annotations.json_blocks import WholeJson
from sandscore.base.strict_json import JsonFault

TEXT = 'é{\n"😀": 1}\n\n{"b": 2}\n'
DATA = TEXT.encode()


@pytest.mark.parametrize(
    ("character", "line", "column"),
    [("é", 1, 1), ("{", 1, 2), ("😀", 2, 2), ("1", 2, 6), ("b", 4, 3), ("2", 4, 7)],
)
def test_a_byte_has_a_line_and_a_column(character: str, line: int, column: int) -> None:
    at = DATA.index(character.encode())
    fault = WholeJson(memoryview(DATA)).fault("wrong", at)
    assert (fault.line, fault.column, fault.offset) == (line, column, at)


def test_places_may_be_asked_for_in_any_order() -> None:
    whole = WholeJson(memoryview(DATA))
    for at in [len(DATA), 0, 12, 5, 12, 20, 1]:
        fresh = WholeJson(memoryview(DATA)).fault("", at)
        assert (whole.fault("", at).line, whole.fault("", at).column) == (fresh.line, fresh.column)


def test_a_fault_in_a_part_is_told_in_the_whole() -> None:
    part = DATA.index(b'{"b"')
    told = WholeJson(memoryview(DATA)).within(JsonFault("wrong", 1, 3, 2), part)
    assert (told.line, told.column, told.offset, told.what) == (4, 3, part + 2, "wrong")
    later = WholeJson(memoryview(DATA)).within(JsonFault("wrong", 2, 1, 3), 2)
    assert (later.line, later.column) == (2, 1)

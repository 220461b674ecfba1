"""What is JSON to us and what is not, with line and column of the first fault (counted by hand)."""

import pytest

from sandscore.base.strict_json import JsonFault, loads


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        pytest.param(b'{"a": 1,\n "a": 2}', 2, 2, "duplicate key", id="a key twice"),
        pytest.param(b'{"\\u0061": 1, "a": 2}', 1, 15, "duplicate key", id="a key twice, once escaped"),
        pytest.param(b"[1, NaN]", 1, 5, "NaN", id="NaN"),
        pytest.param(b"[-Infinity]", 1, 2, "-Infinity", id="infinity"),
        pytest.param(b"[1e999]", 1, 2, "too large", id="a float beyond range"),
        pytest.param(b"[" + b"9" * 400 + b"]", 1, 2, "too large", id="an integer beyond range"),
        pytest.param(b'["\\ud800"]', 1, 2, "surrogate", id="half a character"),
        pytest.param(b'["a\xff"]', 1, 4, "not UTF-8", id="a byte that is not UTF-8"),
        pytest.param(b"\xef\xbb\xbf[]", 1, 1, "byte order mark", id="byte order mark"),
        pytest.param(b"[" * 101 + b"]" * 101, 1, 101, "deeper than 100", id="101 levels"),
        pytest.param(b"[" * 100_000, 1, 101, "deeper than 100", id="100,000 levels"),
        pytest.param('["é",\n  }'.encode(), 2, 3, "expecting value", id="grammar"),
        pytest.param(b"", 1, 1, "found the end", id="nothing"),
        pytest.param(b"[1] 2", 1, 5, "extra data", id="something after the end"),
    ],
)
def test_faults(text: bytes, line: int, column: int, said: str) -> None:
    with pytest.raises(JsonFault, match=said) as caught:
        loads(text)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'["\\ud83d\\ude00", "\\\\ud800"]', ["😀", "\\ud800"]),
        (b"[" * 100 + b"]" * 100, None),
        (b'"' + b"[" * 500 + b'"', "[" * 500),
        (b"1.0", 1.0),
        (b'{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}', {"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}),
        (b"9223372036854775808", 2**63),
    ],
)
def test_values(text: bytes, value: object) -> None:
    loaded = loads(text)
    assert value is None or loaded == value

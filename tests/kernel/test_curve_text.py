"""Curves that the kernel writes are those of the encoder, byte for byte."""

import math
import struct

import msgspec
import pytest
from example_numbers import up_to
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_comparison import no_kernel

from sandscore.base.arrays import packed
from sandscore.base.removable_rooms import compiled
from sandscore.kernel import kernel_counts
from sandscore.kernel.kernel_counts import rows_as_json
from sandscore.kernel.kernel_library import CURVE_ROW, address, kernel
from sandscore.measures.confidence import CurveRows
from sandscore.records.scorecard import ConfidenceCurve
from sandscore.scoring.card_building import encoded as encoded_value

NEAR = [
    math.nextafter(number, towards)
    for number in (*(10.0**place for place in range(-4, 4)), *(2.0**place for place in range(-12, 11)))
    for towards in (0.0, number, 1e9)
]
RATIO = st.tuples(st.integers(0, 10**6), st.integers(1, 10**6)).map(lambda pair: pair[0] / pair[1])
DECIMAL = st.tuples(st.integers(0, 10**18), st.integers(0, 20)).map(lambda pair: pair[0] / 10.0 ** pair[1])
ANY = (
    st.integers(0, (1 << 64) - 1).map(lambda bits: struct.unpack("d", struct.pack("Q", bits))[0]).filter(math.isfinite)
)
NUMBERS = st.floats(0, 1000) | RATIO | DECIMAL | ANY | st.sampled_from(NEAR)


def encoded(columns: tuple[list[float], ...]) -> bytes:
    return msgspec.json.encode([*zip(*columns, strict=True)])


def written(columns: tuple[list[float], ...]) -> bytes:
    library = kernel()
    assert library is not None
    return b"[" + b"".join(rows_as_json(library, tuple(packed(column, "d") for column in columns))) + b"]"


@pytest.mark.parametrize("together", [1, 2, 1024])
@settings(max_examples=up_to(400), deadline=None)
@given(rows=st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=9))
def test_as_the_encoder(together: int, rows: list[tuple[float, ...]]) -> None:
    columns = tuple([row[i] for row in rows] for i in range(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_counts, "WRITTEN_TOGETHER", together)
        assert written(columns) == encoded(columns)


@pytest.mark.parametrize("number", [0.0, 0.001, 0.1, 1 / 3, 2 / 3, 0.5, 1.0, 99.99999999999999, 100.0, 999.5])
def test_the_kernel_writes_what_curves_hold(number: float) -> None:
    library, room = kernel(), packed([0] * CURVE_ROW, "B")
    assert library is not None
    column = packed([number], "d")
    used = library.write_curve(*[address(column)] * 3, 1, address(room))
    assert bytes(room[:used]) == f"[{number},{number},{number}],".encode()


def test_a_record_with_a_long_curve() -> None:
    rows = CurveRows(*(packed([number / 3000 for number in range(2000)], "d") for _ in range(3)))
    curve = ConfidenceCurve.model_construct(average_precision=0.5, curve=rows, reason="é")
    pieces = compiled().long_curve(curve, encoded_value)
    assert pieces is not None
    assert b"".join(pieces) == encoded_value(curve)
    with no_kernel():
        assert compiled().long_curve(curve, encoded_value) is None

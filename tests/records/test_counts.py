"""Counts and the ratios made from them."""

from sandscore.records.counts import Counts, ratio


def test_ratios_of_hand_made_counts() -> None:
    counts = Counts(tp=6, fp=2, fn=4)
    assert counts.precision == 6 / 8
    assert counts.recall == 6 / 10
    assert counts.f1 == 12 / 18


def test_nothing_to_divide_by_is_undefined() -> None:
    assert ratio(0, 0) is None
    assert (Counts(fn=1).precision, Counts(fp=1).recall, Counts().f1) == (None, None, None)
    assert (Counts(fp=1).f1, Counts(fn=1).f1) == (0, 0)


def test_counts_add_up() -> None:
    assert Counts(1, 2, 3) + Counts(10, 20, 30) == Counts(11, 22, 33)

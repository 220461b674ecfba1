"""Integer counts and the ratios made from them at the very last moment."""

from msgspec import Struct


def ratio(part: int, whole: int) -> float | None:
    """``part / whole``; undefined (None) where there is nothing to divide by."""
    return part / whole if whole else None


class Counts(Struct, frozen=True):
    """True positives, false positives and false negatives: everything a ratio is made of."""

    tp: int = 0
    fp: int = 0
    fn: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn)

    @property
    def precision(self) -> float | None:
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        return ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        return ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)


def counts_of(tp: int | None, fp: int | None, fn: int | None) -> Counts | None:
    """The three together; None where one of them is not known."""
    return None if tp is None or fp is None or fn is None else Counts(tp, fp, fn)

"""A formula: the score that integer components make, so that anybody can compute it again without the measure's code.

Three forms, written the same in code, on cards and on boards: ``f_beta(2)`` or ``f_beta(1/3)`` of tp, fp and fn;
``ratio(a+b/c+d)``; ``sum(a+b)``. All are quotients of two whole numbers that add up over notes, which is what ranking
works with.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from msgspec import Struct

COUNTS = ("tp", "fp", "fn")
Direction = Literal["higher", "lower"]
"""Which scores are better."""
F1 = "f_beta(1)"
RATIO = "ratio(n/of)"
"""Of measures that say how much of something there is."""
LARGEST_WEIGHT = 10_000
_NAMES = r"[a-z][a-z0-9_]*(?:\+[a-z][a-z0-9_]*)*"
_FORM = (
    rf"(?:(?P<f>f_beta)\((?P<beta>\d{{1,4}}(?:\.\d{{1,4}}|/[1-9]\d{{0,3}})?)\)|(?P<ratio>ratio)\((?P<above>{_NAMES})/(?P<below>{_NAMES})\)"
    rf"|(?P<sum>sum)\((?P<all>{_NAMES})\))"
)


class Formula(Struct, frozen=True):
    """``above`` and ``below`` are the components' weights in the quotient; nothing is below a sum."""

    written: str
    kind: Literal["f_beta", "ratio", "sum"]
    above: tuple[tuple[str, int], ...]
    below: tuple[tuple[str, int], ...]

    def __str__(self) -> str:
        return self.written

    @property
    def components(self) -> tuple[str, ...]:
        """Every component that it reads, in the order in which they are written."""
        return tuple(dict.fromkeys(name for name, _ in (*self.above, *self.below)))

    def quotient(self, components: Mapping[str, int]) -> tuple[int, int]:
        """What is divided and by what; a sum is divided by nothing but 1."""
        over = sum(weight * components[name] for name, weight in self.above)
        under = sum(weight * components[name] for name, weight in self.below) if self.below else 1
        return over, under

    def score(self, components: Mapping[str, int]) -> float | None:
        """The score; undefined (None) where there is nothing to divide by."""
        over, under = self.quotient(components)
        return over / under if under else None


def parse_formula(written: str) -> Formula:
    """The formula behind its written form; ValueError where it has none of the three forms."""
    form = re.fullmatch(_FORM, written)
    if not form:
        raise ValueError(f"'{written[:80]}' is not a formula: write f_beta(1), ratio(a+b/c+d) or sum(a+b)")
    if form["f"]:
        return _f_beta(written, Fraction(form["beta"]) ** 2)
    if form["ratio"]:
        return Formula(written, "ratio", _each(form["above"]), _each(form["below"]))
    return Formula(written, "sum", _each(form["all"]), ())


def f_beta(beta: float) -> str | None:
    """The formula of F-beta; None for a beta that no formula can hold, being too large or of too many digits."""
    written = f"f_beta({beta:.4f})".rstrip("0)").rstrip(".") + ")" if beta else "f_beta(0)"
    try:
        parse_formula(written)
    except ValueError:
        return None
    return written if float(Fraction(written[7:-1])) == beta else None


def _f_beta(written: str, square: Fraction) -> Formula:
    recall, precision = square.numerator, square.denominator
    if recall + precision > LARGEST_WEIGHT:
        raise ValueError(f"'{written}': beta squared must be a quotient of numbers up to {LARGEST_WEIGHT:,}")
    hits = ("tp", recall + precision)
    return Formula(written, "f_beta", (hits,), (hits, ("fp", precision), ("fn", recall)))


def _each(names: str) -> tuple[tuple[str, int], ...]:
    words = names.split("+")
    return tuple((name, words.count(name)) for name in dict.fromkeys(words))

"""The beta distribution and Student's t that follows from it: what intervals need, without importing a library for it.

The incomplete beta function is a continued fraction (Lentz's way, as in Numerical Recipes); quantiles are found by
halving, which takes sixty steps and cannot go astray.
"""

import math
from functools import lru_cache

_TINY = 1e-300
_HALVINGS = 200
_STEPS, _NEAR, _MARGIN = 12, 1e-6, 1e-10
_TERMS = 20_000


def beta_share(x: float, a: float, b: float) -> float:
    """The share of a beta distribution with shapes ``a`` and ``b`` that lies below ``x``."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logarithm) * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    first = 1 - (a + b) * x / (a + 1)
    c, d = 1.0, 1.0 / (first if first > _TINY or first < -_TINY else _TINY)
    found = d
    m = 0.0
    for _ in range(1, _TERMS):
        m += 1.0
        twice = a + 2.0 * m
        step = m * (b - m) * x / ((twice - 1.0) * twice)
        below, c = 1.0 + step * d, 1.0 + step / c
        d = 1.0 / (below if below > _TINY or below < -_TINY else _TINY)
        found *= c * d
        step = -(a + m) * (a + b + m) * x / (twice * (twice + 1.0))
        below, c = 1.0 + step * d, 1.0 + step / c
        d = 1.0 / (below if below > _TINY or below < -_TINY else _TINY)
        change = c * d
        found *= change
        if -1e-15 < change - 1.0 < 1e-15:
            break
    return found


def beta_quantile(share: float, a: float, b: float) -> float:
    """Below which ``share`` of the distribution lies; small values as exactly as large ones."""
    low, high = 0.0, 1.0
    before, behind = _nearly(share, a, b)
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high) if low > 0 and high < 0.5 else (low + high) / 2
        if middle in {low, high}:
            break
        if middle < before or (middle <= behind and beta_share(middle, a, b) < share):
            low = middle
        else:
            high = middle
    return high


def _nearly(share: float, a: float, b: float) -> tuple[float, float]:
    """Between which two values the quantile lies for certain, a few steps of Newton's having come near it: outside of
    them nothing need be computed to know on which side of it one is."""
    constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    x = a / (a + b)
    for _ in range(_STEPS):
        slope = math.exp(constant + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x))
        step = (beta_share(x, a, b) - share) / slope if slope else 1.0
        if not 0 < x - step < 1:
            break
        x -= step
        if abs(step) < _NEAR * x:
            before, behind = x * (1 - _MARGIN), x * (1 + _MARGIN)
            if beta_share(before, a, b) < share < beta_share(behind, a, b):
                return before, behind
            break
    return 0.0, 1.0


@lru_cache(maxsize=256)
def t_quantile(share: float, freedom: float) -> float:
    """Student's t, for a ``share`` above one half; ``freedom`` need not be whole."""
    tail = beta_quantile(2 * share - 1, 0.5, freedom / 2)
    return math.sqrt(freedom * tail / (1 - tail))

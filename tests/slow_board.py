"""Intervals, expectations and stepdown tests once more, in plain loops from their definition: nothing of ours is used.

Speed does not matter here and there is no cleverness: every formula stands as it is printed in docs/ranking.md.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

Rows = Sequence[Sequence[float]]
Span = tuple[float, float] | None


def quantile(values: Sequence[float], share: float) -> float:
    return float(np.quantile(np.asarray(values, float), share, method="linear"))


def std(values: Sequence[float]) -> float:
    found = float(np.std(np.asarray(values, float), ddof=1))
    return 0.0 if found <= 1e-12 else found


def effective(annotations: Sequence[int]) -> float:
    return max(2.0, sum(annotations) ** 2 / sum(d * d for d in annotations) - 1)


def usable(y: Sequence[float], rep: Rows) -> tuple[list[int], list[list[float]]]:
    """Rows with a score that is defined in 99 % of the draws, and the draws in which all of them are."""
    draws = len(rep[0])
    kept = [r for r in range(len(y)) if not math.isnan(y[r])]
    kept = [r for r in kept if sum(math.isnan(v) for v in rep[r]) <= 0.01 * draws]
    whole = [b for b in range(draws) if not any(math.isnan(rep[r][b]) for r in kept)]
    if len(whole) < 0.99 * draws:
        kept = []
    return kept, [[rep[r][b] for b in whole] for r in kept]


def chosen(y: Sequence[float], rep: Rows, nu: float, bounded: bool = True, alone: bool = False) -> list[Span]:
    """The interval of each row; ``alone``: as if nobody else had been there to choose from."""
    out: list[Span] = [None] * len(y)
    if alone:
        for r in range(len(y)):
            if not math.isnan(y[r]):
                out[r] = chosen([y[r]], [rep[r]], nu, bounded)[0]
        return out
    kept, draws = usable(y, rep)
    scores = [y[r] for r in kept]
    for r, row in enumerate(kept):
        out[row] = _chosen(scores, draws, nu, bounded, r)
    return out


def _chosen(y: list[float], rep: Rows, nu: float, bounded: bool, r: int) -> Span:
    k, draws = len(y), len(rep[0])
    scale = (lambda v: math.asin(math.sqrt(v))) if bounded else (lambda v: v)
    x = [scale(v) for v in y]
    e = [[x[j] - scale(rep[j][b]) for b in range(draws)] for j in range(k)]
    sd = [std(e[j]) for j in range(k)]
    z = [[e[j][b] / sd[j] if sd[j] else 0.0 for b in range(draws)] for j in range(k)]
    if sd[r] == 0:
        return y[r], y[r]
    d = [[e[j][b] - e[r][b] for b in range(draws)] for j in range(k)]
    s = [std(d[j]) for j in range(k)]
    q = quantile([max([abs(d[j][b]) / s[j] for j in range(k) if s[j] > 0], default=0.0) for b in range(draws)], 0.95)
    apart = [max(abs(x[j] - x[r]) - q * s[j], 0.0) for j in range(k)]
    near = [j for j in range(k) if apart[j] == 0]
    pooled = math.sqrt(sum(sd[j] ** 2 for j in near) / len(near))
    below, above = [j for j in range(k) if y[j] <= y[r]], [j for j in range(k) if y[j] >= y[r]]
    down = quantile([max(z[j][b] for j in below if d[j][b] >= apart[j]) for b in range(draws)], 0.975)
    up = quantile([max(-z[j][b] for j in above if -d[j][b] >= apart[j]) for b in range(draws)], 0.975)
    g = stats.t.ppf(0.975, nu) / 1.95996
    low = x[r] - g * down * (pooled if len(below) > 1 else sd[r])
    high = x[r] + g * up * (pooled if len(above) > 1 else sd[r])
    if not bounded:
        return low, high
    return math.sin(min(max(low, 0), math.pi / 2)) ** 2, math.sin(min(max(high, 0), math.pi / 2)) ** 2


def expected(y: Sequence[float], rep: Rows) -> list[float | None]:
    out: list[float | None] = [None] * len(y)
    kept, draws = usable(y, rep)
    scores = [y[r] for r in kept]
    for r, row in enumerate(kept):
        out[row] = _expected(scores, draws, r)
    return out


def _expected(y: list[float], rep: Rows, r: int) -> float:
    k, draws = len(y), len(rep[0])
    if k == 1:
        return y[0]
    e = [[sum(rep[j]) / draws - v for v in rep[j]] for j in range(k)]
    d = [[e[j][b] - e[r][b] for b in range(draws)] for j in range(k)]
    s = [std(d[j]) for j in range(k)]
    q = quantile([max([abs(d[j][b]) / s[j] for j in range(k) if s[j] > 0], default=0.0) for b in range(draws)], 0.995)
    near = [j for j in range(k) if max(abs(y[j] - y[r]) - q * s[j], 0.0) == 0]
    n, world = len(near), list(y)
    if n > 1:
        c = np.cov(np.array([rep[j] for j in near]), ddof=1)
        noise = (np.trace(c) - n * c.mean()) / (n - 1)
        middle = sum(y[j] for j in near) / n
        seen = sum((y[j] - middle) ** 2 for j in near) / (n - 1)
        keep = math.sqrt(max(0.0, 1 - noise / seen)) if seen else 0.0
        for j in near:
            world[j] = middle + keep * (y[j] - middle)
    places = [p for p, score in enumerate(sorted(y, reverse=True)) if score == y[r]]
    luck = []
    for b in range(draws):
        standing = sorted(((world[j] + e[j][b], e[j][b]) for j in range(k)), reverse=True)
        luck += [standing[p][1] for p in places]
    return y[r] - float(np.median(luck))


def signs(seed: int, units: int, draws: int) -> list[list[int]]:
    """Of PCG64 with the seed and 1, whole 64-bit words a draw, the lowest bit first."""
    words = -(-units // 64)
    raw = [int(word) for word in np.random.PCG64([seed, 1]).random_raw(draws * words)]
    return [
        [1 if raw[draw * words + unit // 64] >> (unit % 64) & 1 else -1 for unit in range(units)]
        for draw in range(draws)
    ]


Pairwise = dict[tuple[int, int], float]


def stepdown(
    sites: Sequence[Sequence[tuple[Sequence[int], Sequence[int]]]], seed: int, draws: int
) -> tuple[Pairwise, Pairwise]:
    """p and adjusted p. ``sites[d][s]``: what system ``s`` has on a site's patients, 2 tp and 2 tp + fp + fn."""
    systems = len(sites[0])
    units = [len(site[0][0]) for site in sites]
    thrown, first = signs(seed, sum(units), draws), [sum(units[:d]) for d in range(len(sites))]

    def statistic(a: int, b: int, flips: Sequence[int] | None) -> float:
        total = 0.0
        for d, site in enumerate(sites):
            (up_a, down_a), (up_b, down_b) = site[a], site[b]
            whole_up, whole_down = sum(up_a) + sum(up_b), sum(down_a) + sum(down_b)
            sign = flips[first[d] : first[d] + units[d]] if flips else [1] * units[d]
            lead_up = sum(c * (x - y) for c, x, y in zip(sign, up_a, up_b, strict=True))
            lead_down = sum(c * (x - y) for c, x, y in zip(sign, down_a, down_b, strict=True))
            part = lead_up - whole_up / whole_down * lead_down
            if len(sites) > 1:
                part *= whole_down / (2 * sum(down_a) * sum(down_b))
            total += part
        return abs(total)

    p: Pairwise = {}
    t: Pairwise = {}
    z: dict[tuple[int, int], list[float]] = {}
    out: Pairwise = {}
    for a in range(systems):
        for b in range(a + 1, systems):
            if any(not sum(site[s][1]) for site in sites for s in (a, b)):
                continue
            seen, flipped = statistic(a, b, None), [statistic(a, b, flips) for flips in thrown]
            unit = quantile(flipped, 0.99)
            p[a, b] = (1 + sum(value >= seen - 1e-12 * unit for value in flipped)) / (draws + 1)
            out[a, b] = 1.0
            if unit:
                t[a, b], z[a, b] = seen / unit, [value / unit for value in flipped]
    left, most = sorted(t, key=lambda pair: -t[pair]), 0.0
    while left:
        pair = left[0]
        reached = sum(max(z[other][draw] for other in left) >= t[pair] - 1e-12 for draw in range(draws))
        most = max(most, (1 + reached) / (draws + 1))
        out[pair] = most
        left = left[1:]
    return p, out

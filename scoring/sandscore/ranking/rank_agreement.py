"""Agreement of the resamples with the published order, and with each other about who is ahead."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.ranking.resampling import Floats

TOPS = (1, 3)
K_BANDS = ((3.0, "tied"), (5.0, "3–5"), (20.0, "5–20"))


class Agreement(Struct, frozen=True, eq=False):
    """``wins[a, b]`` is the share of replicates in which a is ahead of b, a tie counting half.

    ``tau`` has one tau-b a replicate, NaN where it is undefined; ``top[k][s]`` is P(s is among the first k).
    """

    wins: Floats
    tau: Floats
    top: dict[int, Floats]


def agreement(scores: Floats, published: Sequence[float], tops: Sequence[int] = TOPS) -> Agreement:
    """Of replicate scores (systems, replicates; NaN comes last) with the published ranks (1 is best)."""
    systems, replicates = scores.shape
    by_place = np.argsort(published, kind="stable")
    places = np.asarray(published, np.float64)[by_place]
    scores = np.where(np.isnan(scores), -np.inf, scores)[by_place]
    won = np.full((systems, systems), replicates / 2)
    small = np.uint8 if systems <= np.iinfo(np.uint8).max else np.uint16
    ahead, equal = np.zeros((systems, replicates), small), np.ones((systems, replicates), small)
    agreed = np.zeros(replicates, np.int64)
    for a in range(systems - 1):
        behind = slice(a + 1, None)
        better, worse, tied = (
            compare(scores[a], scores[behind]).view(np.uint8) for compare in (np.greater, np.less, np.equal)
        )
        won[a, behind] = [np.count_nonzero(b) + np.count_nonzero(t) / 2 for b, t in zip(better, tied, strict=True)]
        won[behind, a] = replicates - won[a, behind]
        ahead[behind] += better
        ahead[a] += worse.sum(axis=0, dtype=small)
        equal[behind] += tied
        equal[a] += tied.sum(axis=0, dtype=small)
        apart = int(np.searchsorted(places, places[a], "right")) - a - 1
        agreed += better[apart:].sum(axis=0, dtype=small)
        agreed -= worse[apart:].sum(axis=0, dtype=small)
    back = np.argsort(by_place, kind="stable")
    shares = won[np.ix_(back, back)] / replicates
    wins = np.where(np.tri(systems, k=-1, dtype=np.bool_), 1 - shares.T, shares)
    before = ahead[back].astype(np.int32)
    top = {k: (np.clip(k - before, 0, equal[back]) / equal[back]).mean(axis=1) for k in tops}
    return Agreement(wins, tau_b(agreed, equal, places), top)


def tau_b(agreed: NDArray[np.int64], equal: NDArray[np.int32], places: Floats) -> Floats:
    """Kendall's tau-b from agreeing less disagreeing pairs, and the sizes of the tie groups."""
    pairs = len(places) * (len(places) - 1) / 2
    tied = (equal.sum(axis=0, dtype=np.int64) - len(places)) / 2
    tied_places = (np.equal.outer(places, places).sum() - len(places)) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        tau: Floats = agreed / np.sqrt((pairs - tied) * (pairs - tied_places))
    return tau


def bayes_factor(win_share: float, replicates: int) -> float:
    """DREAM's K: wins over losses among the resamples, ties half to each side, half a count added to both."""
    won = win_share * replicates
    return (won + 0.5) / (replicates - won + 0.5)


def band_of(k: float) -> str:
    """How DREAM reads a K."""
    return next((name for limit, name in K_BANDS if k <= limit), "> 20")

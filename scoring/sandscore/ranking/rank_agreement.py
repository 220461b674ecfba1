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
    scores = np.where(np.isnan(scores), -np.inf, scores)
    places = np.asarray(published, np.float64)
    wins = np.full((systems, systems), 0.5)
    ahead = np.zeros((systems, replicates), np.int32)
    equal = np.ones((systems, replicates), np.int32)
    agreed = np.zeros(replicates, np.int64)
    for a in range(systems - 1):
        others = slice(a + 1, None)
        better, worse = scores[a] > scores[others], scores[a] < scores[others]
        tied = ~(better | worse)
        won = np.count_nonzero(better, axis=1) + np.count_nonzero(tied, axis=1) / 2
        wins[a, others] = won / replicates
        wins[others, a] = 1 - won / replicates
        ahead[others] += better
        ahead[a] += np.count_nonzero(worse, axis=0).astype(np.int32)
        equal[others] += tied
        equal[a] += np.count_nonzero(tied, axis=0).astype(np.int32)
        direction = np.sign(places[others] - places[a]).astype(np.int8)[:, None]
        agreed += ((better.view(np.int8) - worse.view(np.int8)) * direction).sum(axis=0, dtype=np.int64)
    top = {k: (np.clip(k - ahead, 0, equal) / equal).mean(axis=1) for k in tops}
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

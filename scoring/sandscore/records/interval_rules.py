"""The intervals that a board has unless its challenge says otherwise, apart from the records that need them checked."""

from typing import Literal

IntervalKind = Literal["percentile_t", "percentile", "bca"]
INTERVAL: IntervalKind = "percentile_t"
RESAMPLES = 10_000
FEW_LEAKING = 5
"""With fewer leaking patients resampling misses its level: only what is exact is shown."""

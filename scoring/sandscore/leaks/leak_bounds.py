"""Upper bounds of leaks: exact over patients, and over notes of which those of a patient go together.

Clopper and Pearson (1934), one-sided; Korn and Graubard (1998) as the CDC's data presentation standard uses it. The
first holds for independent patients drawn alike and is never too low; the second does not promise its level, which
``benchmarks/leak_coverage.py`` measures.
"""

from collections.abc import Sequence

from sandscore.base.beta_distribution import beta_quantile, t_quantile
from sandscore.records.interval_rules import FEW_LEAKING

LEVEL = 0.95
BOUNDED = ("patient_leak", "note_leak")
"""The measures beside which the bound of the patients stands."""


def exact_upper(leaking: int, patients: int, level: float = LEVEL) -> float | None:
    """The largest share at which so few leaking patients are still seen with a probability of 1 − level."""
    if not patients:
        return None
    if leaking == patients:
        return 1.0
    if not leaking:
        return float(1 - (1 - level) ** (1 / patients))
    return beta_quantile(level, leaking + 1, patients - leaking)


def clustered_upper(leaking: Sequence[int], of: Sequence[int], level: float = LEVEL) -> float | None:
    """Of leaking notes, patient by patient: as many notes as the design is worth. None below five leaking patients."""
    pairs = [(k, m) for k, m in zip(leaking, of, strict=True) if m]
    patients, notes = len(pairs), sum(m for _, m in pairs)
    if sum(k > 0 for k, _ in pairs) < FEW_LEAKING:
        return None
    share = sum(k for k, _ in pairs) / notes
    if share == 1:
        return 1.0
    variance = patients / (patients - 1) * sum((k - share * m) ** 2 for k, m in pairs) / notes**2
    effect = max(1.0, variance / (share * (1 - share) / notes))
    shrunk = (t_quantile(level, notes - 1) / t_quantile(level, patients - 1)) ** 2
    worth = min(float(notes), notes / effect * shrunk)
    return beta_quantile(level, worth * share + 1, worth - worth * share)


def bounds_of(measure: str, wrong: Sequence[int], of: Sequence[int], level: float = LEVEL) -> dict[str, float | None]:
    """What a card and a board say beside the measure, of what each patient has wrong and of how much."""
    name = measure.partition("(")[0]
    if name not in BOUNDED:
        return {"bound": None, "bound_level": None}
    there = [k for k, m in zip(wrong, of, strict=True) if m]
    bound = exact_upper(sum(k > 0 for k in there), len(there), level)
    found = {"bound": bound, "bound_level": None if bound is None else level}
    return found | ({"bound_clustered": clustered_upper(wrong, of, level)} if name == "note_leak" else {})

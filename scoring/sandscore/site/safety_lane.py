"""The safety lane: of how many notes and patients something slips through, and a bound for patients to come.

A card holds the share of notes that leak, and of which patient each note is (with several annotators the share is over
all of them, and says nothing of single notes). A note in which every span of gold was
found exactly leaks nothing; so which patients leak is known where as many notes leak as have something missed, or where
each has one note. Elsewhere it is known of how many patients at most.

The bound is exact (Clopper and Pearson), one-sided, 95 %, over patients: notes of one patient go together.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from msgspec import Struct

from sandscore.base.beta_distribution import beta_quantile
from sandscore.records.board import RatioMeasure, Row

LEVEL = 0.95
_STRICT = "instance_strict"


class PatientLeak(Struct, frozen=True):
    """``n`` of ``of`` patients leak; at most so many where ``exact`` is false. ``bound`` is an upper one."""

    n: int
    of: int
    exact: bool

    @property
    def bound(self) -> float:
        return upper_bound(self.n, self.of)

    @property
    def text(self) -> str:
        return f"{'' if self.exact else 'at most '}{self.n} of {self.of}"

    @property
    def short(self) -> str:
        """For a cell."""
        return f"{'' if self.exact else '≤'}{self.n} of {self.of} (bound {self._per_cent})"

    @property
    def _per_cent(self) -> str:
        """Rounded up: a bound that is rounded down is none."""
        return f"{-int(-1000 * self.bound // 1) / 10:.1f} %"

    @property
    def bound_text(self) -> str:
        return f"at most {self._per_cent}"


class NoteLeak(Struct, frozen=True):
    """The share of notes with anything to find in which something slips through, and whose notes they are."""

    share: float | None
    patients: PatientLeak | None


def upper_bound(n: int, of: int) -> float:
    """Clopper and Pearson's, one-sided."""
    return 1.0 if n >= of else beta_quantile(LEVEL, n + 1, of - n)


def row_leak(row: Row, from_card: NoteLeak | None, *, annotators: bool = False) -> NoteLeak | None:
    """By the measures of the row where it has them, which count patients; else what its card tells.

    Where gold is that of several ``annotators`` they count each patient once for every one of them.
    """
    notes, patients = row.measures.get("note_leak"), row.measures.get("patient_leak")
    share, counted = (from_card.share, from_card.patients) if from_card else (None, None)
    if share is None and isinstance(notes, RatioMeasure):
        share = notes.value
    if isinstance(patients, RatioMeasure) and patients.n is not None and patients.of and not annotators:
        counted = PatientLeak(patients.n, patients.of, exact=True)
    return None if share is None and counted is None else NoteLeak(share, counted)


def note_leak(
    share: float | None, per_note: Mapping[str, Mapping[str, Sequence[int]]], units: Mapping[str, str]
) -> NoteLeak | None:
    """What a card says; None where it does not."""
    if share is None:
        return None
    rows = {note: row for note, of in per_note.items() if len(row := of.get(_STRICT, ())) == 3}
    with_gold = [note for note, (tp, _, fn) in rows.items() if tp + fn]
    missed = [note for note in with_gold if rows[note][2]]
    leaking = round(share * len(with_gold))
    known = len(rows) == len(per_note) and all(note in units for note in with_gold)
    if not with_gold or not known or leaking > len(missed):
        return NoteLeak(share, None)
    by_patient = sorted(Counter(units[note] for note in missed).values(), reverse=True)
    most = min(leaking, len(by_patient))
    least = sum(total < leaking for total in accumulate(by_patient[:-1], initial=0)) if leaking else 0
    return NoteLeak(share, PatientLeak(most, len({units[note] for note in with_gold}), least == most))

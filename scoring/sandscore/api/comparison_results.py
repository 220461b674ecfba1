"""The value of ``compare``: how far one card is from another, and on which notes and labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sandscore.api.output_files import save_json
from sandscore.api.results import ShownValue
from sandscore.records.counts import Counts

if TYPE_CHECKING:
    from sandscore.records.scorecard import Scorecard
    from sandscore.separation.card_comparison import CardDifference, NoteDifference

_SURE = 0.05
"""The largest p of a difference that is no chance."""


class LabelDifference(Struct, frozen=True):
    """A label on which two cards differ, and what each counts there.

    >>> comparison = ss.compare("leaderboard/cards/date-weak.json", "leaderboard/cards/date-good.json")
    >>> most = comparison.gains[0]
    >>> most.label, most.fewer_errors > 0
    ('MM/DD/YYYY', True)
    """

    label: str
    a: "Counts"
    b: "Counts"

    @property
    def fewer_errors(self) -> int:
        """How many errors b, the new one, has less than a."""
        return self.a.fp + self.a.fn - self.b.fp - self.b.fn


class Comparison(ShownValue):
    """How far b, the new one of two cards, is from a, the old one, on the same notes.

    ``difference`` is the score of b less that of a, with its 95 % interval over patients and the p of a paired
    randomisation test: the numbers of a board of these two. Above naught b has more, which is better unless less is
    better by the measure (``lower``). ``notes`` are those that differ; ``gains`` are the labels on which b makes fewer
    errors than a, ``losses`` those on which it makes more.

    >>> comparison = ss.compare("leaderboard/cards/date-weak.json", "leaderboard/cards/date-good.json")
    >>> comparison.difference > 0, comparison.p < 0.05
    (True, True)
    """

    shown_by = "value_views.views_of_values:comparison_view"

    def __init__(
        self,
        measure: str,
        cards: "tuple[Scorecard, Scorecard]",
        differs: "CardDifference",
        notes: "Sequence[NoteDifference]",
        labels: Sequence[LabelDifference],
    ) -> None:
        self.measure, self.cards = measure, cards
        self.difference, self.interval, self.p, self.patients = (
            differs.difference,
            differs.interval,
            differs.p,
            differs.units,
        )
        self.notes, self.labels = tuple(notes), tuple(labels)

    @property
    def f1(self) -> tuple[float | None, float | None]:
        """F1 of a and of b."""
        a, b = (card.measures[self.measure].ranked for card in self.cards)
        return a, b

    @property
    def lower(self) -> bool:
        """Whether less is better by this measure."""
        return getattr(self.cards[0].measures[self.measure], "direction", None) == "lower"

    def b_is_worse(self, *, for_sure: bool = True) -> bool:
        """Whether b's value is worse than a's, and ``for_sure``: p is .05 at most."""
        if self.difference is None or self.difference == 0 or (self.difference > 0) != self.lower:
            return False
        return not for_sure or (self.p is not None and self.p <= _SURE)

    @property
    def better(self) -> int:
        """On how many notes b is better than a."""
        return sum(note.better == "b" for note in self.notes)

    @property
    def worse(self) -> int:
        """On how many notes b is worse than a."""
        return sum(note.better == "a" for note in self.notes)

    @property
    def sentences(self) -> list[str]:
        """What there is to say of b, and on how many notes."""
        return [_verdict(self), f"b is better on {self.better:,} notes, worse on {self.worse:,}"]

    @property
    def gains(self) -> list[LabelDifference]:
        """Labels on which b makes fewer errors, the most first."""
        return sorted((c for c in self.labels if c.fewer_errors > 0), key=lambda change: -change.fewer_errors)

    @property
    def losses(self) -> list[LabelDifference]:
        """Labels on which b makes more errors, the most first."""
        return sorted((c for c in self.labels if c.fewer_errors < 0), key=lambda change: change.fewer_errors)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values."""
        import msgspec

        plain: dict[str, Any] = {
            "measure": self.measure,
            "f1": list(self.f1),
            "difference": self.difference,
            "interval": None if self.interval is None else list(self.interval),
            "p": self.p,
            "patients": self.patients,
            "b_is": "worse" if self.b_is_worse(for_sure=False) else "better" if self.difference else "equal",
            "b_better": self.better,
            "b_worse": self.worse,
            "notes": msgspec.to_builtins(self.notes),
            "labels": msgspec.to_builtins(self.labels),
        }
        return plain

    def save(self, path: str | Path) -> None:
        """Write the comparison as JSON."""
        save_json(path, self.to_dict())


def _verdict(found: Comparison) -> str:
    if found.difference is None:
        return f"one of the two has no {found.measure}: there is nothing to divide by"
    if not found.difference:
        return f"b is as good as a by {found.measure}"
    word = "worse" if found.b_is_worse(for_sure=False) else "better"
    sign = 1 if found.difference > 0 else -1
    ends = sorted(sign * end + 0.0 for end in found.interval or ())  # never -0.0
    spread = f", 95 % {ends[0]:.3f} to {ends[1]:.3f}" if ends else ""
    p = "" if found.p is None else f", p {found.p:.2g}"
    return f"b is {word} than a by {abs(found.difference):.3f} ({found.measure}{spread}{p})"

"""The page of one submission.

The rows per label of a score card, hardest first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from sandscore.records.board import Pair, Row
from sandscore.records.carried_run import RunCost
from sandscore.records.counts import Counts
from sandscore.site.board_columns import cost_of
from sandscore.site.board_files import CardFacts, ShownCard
from sandscore.site.board_sentences import BoardSentences
from sandscore.site.page_text import percent
from sandscore.site.plots.confidence_plot import Curve, curve_of
from sandscore.site.plots.error_plot import ErrorProfile, error_profile
from sandscore.site.safety_lane import NoteLeak
from sandscore.site.standings import Line


class LabelRow(Struct, frozen=True):
    """One label; ``gold`` is how often gold has it."""

    label: str
    counts: Counts

    @property
    def gold(self) -> int:
        return self.counts.tp + self.counts.fn

    @property
    def errors(self) -> int:
        return self.counts.fp + self.counts.fn


class LabelTable(Struct, frozen=True):
    """The measure the rows are counted by, and the rows."""

    measure: str
    rows: Sequence[LabelRow]


def label_table(per_label: Mapping[str, Mapping[str, Any]], measure: str) -> LabelTable | None:
    """By the measure where labels have it, else by one they have; None where no label is counted."""
    names = dict.fromkeys(name for row in per_label.values() for name, counts in row.items() if _counts(counts))
    if not names:
        return None
    chosen = measure if measure in names else next(iter(names))
    rows = [LabelRow(label, counts) for label, row in per_label.items() if (counts := _counts(row.get(chosen)))]
    return LabelTable(chosen, sorted(rows, key=lambda row: (-row.errors, row.label)))


def _counts(given: Any) -> Counts | None:
    if not isinstance(given, Mapping):
        return None
    numbers = [number for name in ("tp", "fp", "fn") if isinstance(number := given.get(name), int)]
    return Counts(*numbers) if len(numbers) == 3 else None


NEIGHBOURS = 5


class NeighbourComparison(Struct, frozen=True):
    """This row against another; ``delta`` and ``wins`` as seen from this one."""

    other: Line
    delta: float | None
    p: str
    wins: float | None


class Detail(Struct, frozen=True):
    """What the cards say, for one data set."""

    dataset: str
    facts: CardFacts
    labels: LabelTable | None
    errors: ErrorProfile | None
    curve: Curve | None
    leak: NoteLeak | None
    unit: str

    @property
    def said(self) -> str:
        """How much there was to find and what slips through."""
        facts = self.facts
        parts = [
            f"{_many(facts.notes, 'note')}, {_many(facts.gold_annotations or 0, 'annotation')} in gold, "
            f"{facts.predicted_annotations} predicted."
        ]
        if facts.note_leak is not None:
            parts.append(
                f"In {percent(facts.note_leak)} of the notes that hold anything to find, at least one character of it "
                "stayed uncovered."
            )
            if self.leak and (leak := self.leak.patients):
                parts.append(
                    f"Of {leak.text} {self.unit} something slips through; of {self.unit} like these, {leak.bound_text} "
                    "(95 %)."
                )
        return " ".join(parts)


class SubmissionView(Struct, frozen=True):
    """All of it."""

    line: Line
    comparisons: Sequence[NeighbourComparison]
    details: Sequence[Detail]
    cost: RunCost


def submission_view(
    said: BoardSentences,
    lines: Sequence[Line],
    at: int,
    pairs: Mapping[tuple[str, str], Pair],
    cards: Mapping[str, ShownCard],
) -> SubmissionView:
    """The row at that place; ``cards`` are its own, by data set."""
    row = lines[at].row
    near = [0, *range(max(1, at - NEIGHBOURS), min(len(lines), at + NEIGHBOURS + 1))]
    comparisons = [_comparison(said, row, lines[other], pairs) for other in near if other != at]
    details = [_detail(name, card, said.board.headline, said.unit) for name, card in cards.items()]
    return SubmissionView(lines[at], [c for c in comparisons if c], details, cost_of(row))


def _comparison(
    said: BoardSentences, row: Row, other: Line, pairs: Mapping[tuple[str, str], Pair]
) -> NeighbourComparison | None:
    ours = pairs.get((row.submission, other.row.submission))
    pair = ours or pairs.get((other.row.submission, row.submission))
    if pair is None:
        return None
    p = said.floors.p_text(pair, pair.adjusted)
    if ours:
        return NeighbourComparison(other, pair.delta, p, pair.wins)
    delta = None if pair.delta is None else -pair.delta
    return NeighbourComparison(other, delta, p, None if pair.wins is None else 1 - pair.wins)


def _many(count: int, one: str) -> str:
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def _detail(name: str, card: ShownCard, headline: str, unit: str) -> Detail:
    facts = card.facts
    strict = facts.measures.get("instance_strict")
    counts = strict.counts if strict else None
    errors = error_profile(counts.tp, facts.errors) if facts.errors and counts else None
    labels = label_table(facts.per_label, headline)
    return Detail(name or facts.dataset or "", facts, labels, errors, curve_of(facts.confidence), card.leak, unit)

"""Comparing as a call: two cards on the same notes, to their difference and where it comes from."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandscore.api.results import HEADLINE, Comparison, LabelDifference, Result
from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.ranking.card_comparison import card_difference, note_differences
from sandscore.ranking.card_reading import read_card
from sandscore.records.counts import Counts
from sandscore.records.scorecard import Scorecard

Comparable = Result | Scorecard | str | Path


def compare(a: Comparable, b: Comparable, measure: str | None = None) -> Comparison:
    """How far ``a`` is ahead of ``b`` on the same notes: results, score cards, or paths of cards.

    ``measure`` is ``instance_strict`` unless it is named. Cards that no board would put together are refused: another
    task, profile, version or gold, other notes or patients.

    >>> comparison = ss.compare("leaderboard/cards/date-good.json", "leaderboard/cards/date-weak.json", "token")
    >>> comparison.difference > 0, comparison.patients
    (True, 18)
    """
    (one, first), (two, second) = _card_of(a, "the first card"), _card_of(b, "the second card")
    cards = (one, two)
    measure = measure or HEADLINE
    differs = card_difference(cards, (first, second), measure)
    return Comparison(measure, cards, differs, note_differences(cards, measure), label_differences(cards, measure))


def label_differences(cards: tuple[Scorecard, Scorecard], measure: str) -> list[LabelDifference]:
    """The labels whose counts differ: by the measure where labels are counted by it, else by the first they have."""
    first, second = (card.per_label for card in cards)
    counted = dict.fromkeys(name for side in (first, second) for row in side.values() for name in row)
    if not counted:
        return []
    by = measure if measure in counted else next(iter(counted))
    found = []
    for label in sorted({*first, *second}):
        a, b = _counts(first.get(label, {}), by), _counts(second.get(label, {}), by)
        if a != b:
            found.append(LabelDifference(label, a, b))
    return found


def _counts(row: Mapping[str, Any], measure: str) -> Counts:
    held = row.get(measure)
    numbers = [held.get(name) for name in ("tp", "fp", "fn")] if isinstance(held, Mapping) else []
    return Counts(*(number if isinstance(number, int) else 0 for number in numbers))


def _card_of(given: object, name: str) -> tuple[Scorecard, str]:
    """The card, and what sentences call it."""
    if isinstance(given, Result):
        return given.card, name
    if isinstance(given, Scorecard):
        return given, name
    if isinstance(given, str | os.PathLike):
        return read_card(Path(given)).card, one_line(given)
    raise UsageFault(
        f"found a value of type {type(given).__name__} as {name}; expected a Result, a Scorecard or the path of a card"
    )

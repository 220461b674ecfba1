"""A score as a team is told of it, as the phase's feedback mode has it."""

from typing import Any

from msgspec.structs import replace

from sandscore.ranking.card_reading import RankedCard
from sandscore.ranking.feedback import participant_view
from sandscore.ranking.ladder import LadderState
from sandscore.records.board import BoardRules

_TOO_LONG = ("per_note", "units", "confidence")
"""Parts of a card that are left to the published card, which names notes by keyed hashes."""


def view_of(
    entry: RankedCard, rules: BoardRules, state: LadderState | None = None
) -> tuple[dict[str, Any], LadderState | None]:
    """The view, and the team's Ladder state after it."""
    if rules.ended or rules.feedback == "full":
        bare = entry.card.model_copy(update={"per_note": {}, "units": {}, "confidence": None})
        entry = replace(entry, card=bare)  # what is left out need not be made plain first
    view, after = participant_view(entry, rules, state, ended=rules.ended)
    return {name: value for name, value in view.items() if name not in _TOO_LONG}, after


def outdated(feedback: object, rules: BoardRules) -> bool:
    """Whether the team waits for more: nothing is said yet, or less than the end of the phase allows."""
    return feedback is None or (rules.ended and isinstance(feedback, dict) and "feedback" in feedback)

"""The outcome of a submission as its team may be told it: status, reason and score."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sandscore.disclosure.problem_view import code_counts, count_bits, first_code
from sandscore.disclosure.released import Audience, Item, Released, byte_bits, choice_bits, passed
from sandscore.ranking.card_reading import RankedCard
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.problem import CODES
from sandscore.records.ranking_rules import FeedbackMode, RankingRules
from sandscore.records.run_record import Outcome
from sandscore.records.scorecard import Scorecard
from sandscore.records.totals_card import totals_of

if TYPE_CHECKING:
    from sandscore.challenges.ladder import LadderState

Feedback = Mapping[str, object]
Scores = dict[str, dict[str, float | None]]
_STATUSES = 3
"""SCORED, INVALID or REJECTED."""
_REHEARSED_SECONDS = 600
"""Ends are shown at ticks this far apart."""
_ROUNDED = 10_002
"""Of a rounded score: a multiple of a ten-thousandth at the finest, or none."""
_BULKY = ("per_note", "per_unit", "units", "confidence")
"""Parts of a card that are left to the published card, which names notes by keyed hashes."""


class StatusItem(Item[str], frozen=True, kw_only=True):
    """How a submission ended; ``time_limit`` in seconds where its end shows how long an image ran."""

    status: str
    time_limit: float | None = None


class ReasonItem(Item[str], frozen=True, kw_only=True):
    """Why a submission is not scored: the whole sentence, and what it comes down to."""

    sentence: str
    about_notes: bool = True
    """False where it was known before anything met the notes, or where it is our own word."""
    rehearsal: bool = False
    counts: Mapping[str, int] | None = None
    """How often validation found each code."""
    outcome: str | None = None
    """Of a run."""
    stage: str | None = None
    image: bool = False


class ScoreItem(Item[Feedback], frozen=True, kw_only=True):
    """The exact card, and for the Ladder the team's state after it."""

    card: RankedCard
    rules: RankingRules
    ladder: "LadderState | None" = None


def status_view(item: StatusItem, _audience: Audience, policy: DisclosurePolicy) -> Released[str]:
    """Always shown; an image on hidden notes may choose by them how and when it ends."""
    if not policy.notes_hidden:
        return passed(item, item.status, "status")
    lasted = choice_bits(max(1.0, (item.time_limit or 0.0) / _REHEARSED_SECONDS))
    return passed(item, item.status, "status", choice_bits(_STATUSES) + lasted)


def reason_view(item: ReasonItem, audience: Audience, policy: DisclosurePolicy) -> Released[str]:
    """The sentence where it can tell nothing that is hidden; else outcome, stage and codes."""
    if audience is Audience.TEAM and (item.rehearsal or not item.about_notes or policy.problems == "full"):
        hidden = policy.notes_hidden and item.about_notes and not item.rehearsal
        return passed(item, item.sentence, "reason", byte_bits(item.sentence) if hidden else 0.0)
    bits = 0.0
    parts = [part for part in (item.outcome, item.stage) if part]
    if item.outcome:
        bits += choice_bits(len(Outcome) * _STAGES)
    if item.counts is not None and item.image:
        parts.append(first_code(item.counts))
        bits += choice_bits(len(CODES))
    elif item.counts is not None:
        parts.append(", ".join(_counted(code, count) for code, count in code_counts(item.counts).items()))
        bits += count_bits()
    return passed(item, f"the submission is not valid: {': '.join(parts) or 'refused'}", "reason", bits)


_STAGES = 6
"""pull, start, notes, collect, validate, or none."""


def _counted(code: str, count: int | None) -> str:
    return code if count is None else f"{code} {count:,}"


def score_view(item: ScoreItem, _audience: Audience, policy: DisclosurePolicy) -> Released[Feedback]:
    """The card without its notes, its totals, or what the feedback mode leaves of it."""
    if policy.ended or policy.feedback == "full":
        card = item.card.card
        whole = policy.cards == "notes" or not policy.gold_hidden
        totals = totals_of(card).model_dump(mode="json", exclude={"withheld"}) if not whole else {}
        dumped = totals or _without_patients(card).model_dump(mode="json", exclude={*_BULKY})
        if policy.notes_hidden:
            dumped.pop("run", None)
        return passed(item, dumped, "score", byte_bits(dumped) if policy.gold_hidden else 0.0)
    told = {"task": item.card.card.task, "team": item.card.card.team, "submission": item.card.submission}
    measures = SCORES[policy.feedback](item)
    feedback: Feedback = told | {"feedback": policy.feedback} | ({} if measures is None else {"measures": measures})
    return passed(item, feedback, "score", _score_bits(measures or {}, item) if policy.gold_hidden else 0.0)


def _without_patients(card: Scorecard) -> Scorecard:
    """Of slices and perturbed copies the scores alone."""
    nobody: Mapping[str, Mapping[str, object]] = {"per_unit": {}}
    slices = {
        name: table.model_copy(
            update={"slices": {group: one.model_copy(update=nobody) for group, one in table.slices.items()}}
        )
        for name, table in card.slices.items()
    }
    copies = {name: one.model_copy(update=nobody) for name, one in card.robustness.items()}
    return card.model_copy(update={"slices": slices, "robustness": copies})


def ladder_after(card: RankedCard, rules: RankingRules, before: "LadderState | None") -> "LadderState":
    """The team's state after one more submission."""
    from sandscore.challenges.feedback import refuse_sums
    from sandscore.challenges.ladder import LadderState, climb
    from sandscore.ranking.score_table import tabulate

    table = tabulate([card])
    refuse_sums(table, rules.feedback)
    counts = table.counts[0, :, table.measures.index(rules.headline)]
    return climb(before or LadderState(), card.submission, counts)


def _rounded(item: ScoreItem) -> Scores:
    """Where the phase is ``full`` and only the gold is hidden, a sum, which no grid can tell, has no score."""
    from sandscore.challenges.feedback import refuse_sums, rounded_score, summed, told_as
    from sandscore.ranking.score_table import tabulate

    table = tabulate([item.card])
    if item.rules.feedback == "rounded":
        refuse_sums(table, "rounded")
    sums = set(summed(table))
    return {
        name: {told_as(table, m): None if name in sums else rounded_score(table, 0, m)}
        for m, name in enumerate(table.measures)
    }


def _climbed(item: ScoreItem) -> Scores:
    from sandscore.challenges.feedback import shown_score, told_as
    from sandscore.ranking.score_table import tabulate

    state = item.ladder or ladder_after(item.card, item.rules, None)
    table = tabulate([item.card])
    place = table.measures.index(item.rules.headline)
    return {item.rules.headline: {told_as(table, place): shown_score(table, place, state.released)}}


def _blind(_: ScoreItem) -> None:
    return None


SCORES: dict[FeedbackMode, Callable[[ScoreItem], Scores | None]] = {
    "rounded": _rounded,
    "ladder": _climbed,
    "blind": _blind,
}


def _score_bits(measures: Scores, item: ScoreItem) -> float:
    """Of the Ladder: one of the places that a patient's worth makes, or none."""
    places = len(item.ladder.counts) + 2 if item.ladder is not None else _ROUNDED
    return len(measures) * choice_bits(places)


def outdated(feedback: object, policy: DisclosurePolicy) -> bool:
    """Whether the team waits for more: nothing is said yet, or less than the end of the phase allows."""
    return feedback is None or (policy.ended and isinstance(feedback, dict) and "feedback" in feedback)

"""The policy of disclosure: what may leave the house about one task in one phase, as challenge.toml has it."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct, convert
from msgspec.structs import replace

from sandscore.records.ranking_rules import CardRule, FeedbackMode, GoldHeldBy, LogRule, NotesHeldBy, ProblemRule

if TYPE_CHECKING:
    from sandscore.records.challenge import Challenge, DataChanges, Phase

Path = tuple[str | int, ...]


class DisclosurePolicy(Struct, frozen=True, kw_only=True):
    """Every rule resolved: nothing is left to a default."""

    notes: NotesHeldBy = "hidden"
    gold: GoldHeldBy = "hidden"
    practice: str | None = None
    accepted: bool = False
    """The organiser tells more than the data allow, knowingly."""
    logs: LogRule = "rehearsal"
    problems: ProblemRule = "codes"
    cards: CardRule = "totals"
    feedback: FeedbackMode = "rounded"
    """The mode that acts: an exact score of hidden gold is rounded until the phase has ended."""
    ended: bool = False
    """Every phase that uses the same gold or notes has ended."""
    opens: datetime | None = None
    closes: datetime | None = None
    text: bool = False
    """The licence of the notes allows showing their text."""
    task: str = ""
    phase: str | None = None
    has_phase: bool = False

    @property
    def notes_hidden(self) -> bool:
        """No team holds the notes: what an image prints about them is not for its team."""
        return self.notes == "hidden"

    @property
    def notes_public(self) -> bool:
        return self.notes == "public"

    @property
    def gold_hidden(self) -> bool:
        return self.gold == "hidden"

    @property
    def exact(self) -> bool:
        """Exact scores and counts may leave the house."""
        return self.ended or (not self.gold_hidden and self.feedback == "full")


CARD_RULES: tuple[CardRule, ...] = ("none", "totals", "notes")
"""From the least to the most."""


def lowered(policy: DisclosurePolicy, cards: CardRule | None) -> DisclosurePolicy:
    """The policy with no more of a card than this."""
    if cards is None or CARD_RULES.index(cards) >= CARD_RULES.index(policy.cards):
        return policy
    return replace(policy, cards=cards)


def resolved(challenge: "Challenge", phase: "Phase | None") -> DisclosurePolicy:
    """The rules of [data] and of the phase's own keys; feedback, text and what ended are for ``policy_for``."""
    keys = {**said(challenge.data), **said(phase)}
    notes, gold = keys.get("notes", "hidden"), keys.get("gold", "hidden")
    everything = notes == "public" and gold != "hidden"
    for_teams = everything or notes == "teams"
    accepted = bool(keys.pop("accept_disclosure", False))
    defaults = {
        "logs": "full" if for_teams else "rehearsal",
        "problems": "full" if for_teams else "codes",
        "cards": "notes" if everything else "totals",
    }
    facts = {
        "accepted": accepted,
        "text": challenge.publication.text and (everything or accepted),
        "opens": phase.opens if phase is not None else None,
        "closes": phase.closes if phase is not None else None,
        "phase": phase.name if phase is not None else None,
        "has_phase": phase is not None,
    }
    return convert({**defaults, **keys, **facts}, DisclosurePolicy)


def overreaching(challenge: "Challenge") -> Iterator[tuple[Path, str]]:
    """Rules that tell more than the data allow, each with the place in challenge.toml that says so."""
    if not challenge.phases:
        yield from _too_much(challenge, None, ())
    for at, phase in enumerate(challenge.phases):
        yield from _too_much(challenge, phase, ("phases", at))


def _too_much(challenge: "Challenge", phase: "Phase | None", place: Path) -> Iterator[tuple[Path, str]]:
    policy = resolved(challenge, phase)
    if policy.accepted:
        return
    where = f" in the phase '{phase.name}'" if phase is not None else ""
    everything = policy.notes_public and not policy.gold_hidden
    wanted = {
        "logs": policy.logs == "full" and policy.notes_hidden,
        "problems": policy.problems == "full" and policy.notes_hidden,
        "cards": policy.cards == "notes" and not everything,
    }
    for name, refused in wanted.items():
        if refused:
            here = place if phase is not None and getattr(phase, name) is not None else ("data",)
            yield (
                (*here, name),
                _REFUSAL.format(f"{name} = '{getattr(policy, name)}'", policy.notes, policy.gold, where),
            )
    if challenge.publication.text and not everything and (challenge.data is not None or said(phase)):
        yield ("publication", "text"), _REFUSAL.format("publication.text = true", policy.notes, policy.gold, where)


_REFUSAL = "{} tells more than notes = '{}' and gold = '{}' allow{}; accept_disclosure = true takes that upon you"


def said(changes: "DataChanges | None") -> dict[str, object]:
    """What a table says of the data, and nothing of what it leaves out."""
    if changes is None:
        return {}
    from sandscore.records.challenge import DataChanges

    return {name: value for name in DataChanges.model_fields if (value := getattr(changes, name)) is not None}

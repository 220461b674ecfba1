"""The policy in force for one task in one phase of a challenge."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from sandscore.base.errors import OrganiserFault
from sandscore.challenges.challenge_reading import chosen_phase, read_challenge, rules_for
from sandscore.records.challenge import Challenge, Phase
from sandscore.records.disclosure_policy import DisclosurePolicy, lowered, resolved, said
from sandscore.records.ranking_rules import CardRule

NOT_SAID = (
    "the challenge does not say who holds its notes and gold, so they count as hidden: teams see no log of a run on "
    "them, of problems the codes alone, no exact score before the phase has ended, and of no note by itself; where "
    'everybody may have them, this restores it: [data] with notes = "public" and gold = "public"'
)


def unsaid(challenge: Challenge) -> str | None:
    """The sentence for a challenge without [data]: what is no longer shown, and the lines that would restore it."""
    return NOT_SAID if challenge.data is None and not any(said(phase) for phase in challenge.phases) else None


def open_to_all(challenge: Challenge) -> bool:
    """Whether everybody may have everything: notes and gold of every phase."""
    policies = [resolved(challenge, phase) for phase in challenge.phases or (None,)]
    return all(policy.notes_public and not policy.gold_hidden for policy in policies)


def policy_for(
    challenge: Challenge | None, task: str, phase: str | None, together: Sequence[str] | None = None
) -> DisclosurePolicy:
    """Every rule resolved. ``together`` names the phases whose gold or notes are the same files: nothing exact leaves
    before all of them have ended. Where nobody knows, they are those that say the same of their data."""
    if challenge is None:
        return DisclosurePolicy(task=task, phase=phase)
    rules, _ = rules_for(challenge, task, phase)
    chosen = chosen_phase(challenge, phase)
    policy = resolved(challenge, chosen)
    sharing = _alike(challenge, policy) if together is None else _named(challenge, together)
    ended = rules.ended and all(one.ended for one in sharing)
    rounded = rules.feedback == "full" and policy.gold_hidden and not ended
    return replace(policy, task=task, feedback="rounded" if rounded else rules.feedback, ended=ended)


def _alike(challenge: Challenge, policy: DisclosurePolicy) -> list[Phase]:
    said = (policy.notes, policy.gold)
    return [one for one in challenge.phases if (held := resolved(challenge, one)) and (held.notes, held.gold) == said]


def _named(challenge: Challenge, names: Sequence[str]) -> list[Phase]:
    return [one for one in challenge.phases if one.name in names]


def publishing_policy(challenge: str, task: str, phase: str | None, cards: CardRule | None) -> DisclosurePolicy:
    """That of the challenge in a file, which must let something of a card out; ``cards`` may ask for less."""
    policy = lowered(policy_for(read_challenge(Path(challenge)), task, phase), cards)
    where = f"{challenge}: " + (f"the phase '{policy.phase}': " if policy.phase else "")
    if not policy.exact:
        raise OrganiserFault(f"{where}no score card may be published before every phase with these data has ended")
    if policy.cards == "none":
        raise OrganiserFault(f"{where}no score card may be published: cards = 'none'")
    return policy

"""Single facts as others may learn them: names that a participant or an organiser chose, and times."""

from sandscore.disclosure.released import Audience, Item, Released, choice_bits, passed, withheld
from sandscore.records.disclosure_policy import DisclosurePolicy


class IdentifierItem(Item[str | None], frozen=True, kw_only=True):
    """The id of a note or a patient, as the data have it."""

    identifier: str


class ToolItem(Item[str | None], frozen=True, kw_only=True):
    """A value that the participant chose: a description of a tool, the name of a file."""

    value: str


class TimingItem(Item[float | None], frozen=True, kw_only=True):
    """How long a run took, in seconds."""

    seconds: float
    rehearsal: bool = False


_TIMED_EXACTLY = 1_000
"""Times are shown to the millisecond."""


def identifier_view(item: IdentifierItem, audience: Audience, policy: DisclosurePolicy) -> Released[str | None]:
    """A real id is shown to those who hold the notes."""
    held = policy.notes_public or (audience is Audience.TEAM and not policy.notes_hidden)
    if not held:
        return withheld(item, "identifier")
    return passed(item, item.identifier, "identifier")


def tool_view(item: ToolItem, audience: Audience, policy: DisclosurePolicy) -> Released[str | None]:
    """A program that read hidden notes may have put one into its own description."""
    if policy.notes_public or (audience is Audience.TEAM and not policy.notes_hidden):
        return passed(item, item.value, "tool")
    return withheld(item, "tool")


def timing_view(item: TimingItem, audience: Audience, policy: DisclosurePolicy) -> Released[float | None]:
    """A program that read hidden notes may take as long as it likes to tell of them."""
    if policy.notes_public or (audience is Audience.TEAM and (item.rehearsal or not policy.notes_hidden)):
        bits = 0.0 if item.rehearsal or not policy.notes_hidden else choice_bits(item.seconds * _TIMED_EXACTLY)
        return passed(item, item.seconds, "timing", bits)
    return withheld(item, "timing")

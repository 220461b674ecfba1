"""The log, times and chosen names of a run as others may learn them; and a rehearsal, which its team gets whole."""

from collections.abc import Mapping

from sandscore.disclosure.released import Audience, Item, Released, choice_bits, passed, withheld
from sandscore.records.disclosure_policy import DisclosurePolicy


class LogItem(Item[str | None], frozen=True, kw_only=True):
    """A log, or the part of one that was received before the first connection that carries a note."""

    text: str
    rehearsal: bool = False
    """Of a run on practice notes."""
    before_notes: bool = False
    """Whole in the harness's hands before the first note left them."""
    reviewed: bool = False
    """A few lines that the organiser has read, and lets out."""


def log_view(item: LogItem, audience: Audience, policy: DisclosurePolicy) -> Released[str | None]:
    """The text or nothing."""
    harmless = item.rehearsal or item.before_notes or not policy.notes_hidden
    read = policy.logs == "reviewed" and item.reviewed
    shown = policy.logs == "full" or (policy.logs != "none" and harmless) or read
    if audience is Audience.PUBLIC or not shown:
        return withheld(item, "log")
    return passed(item, item.text, "log", 0.0 if harmless else 8.0 * len(item.text.encode("utf-8", "surrogatepass")))


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


class RehearsalItem(Item[Mapping[str, str] | None], frozen=True, kw_only=True):
    """The files of a rehearsal by name: record, notes, answers, problems; and the log."""

    files: Mapping[str, str]
    log: Mapping[str, str]


def rehearsal_view(
    item: RehearsalItem, audience: Audience, policy: DisclosurePolicy
) -> Released[Mapping[str, str] | None]:
    """All of it, but for the log where the organiser gives none; not a bit of what is hidden is in it."""
    if audience is not Audience.TEAM:
        return withheld(item, "rehearsal")
    log = {} if policy.logs == "none" else item.log
    return passed(item, {**item.files, **log}, "rehearsal")

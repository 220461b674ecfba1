"""What an image printed, as its team may read it: everything that was printed where no hidden note was near."""

from sandscore.disclosure.released import Audience, Item, Released, passed, withheld
from sandscore.records.disclosure_policy import DisclosurePolicy


class LogItem(Item[str | None], frozen=True, kw_only=True):
    """A log, or the part of one that was received before the first connection that carries a note."""

    text: str
    rehearsal: bool = False
    """Of a run on practice notes."""
    before_notes: bool = False
    """Whole in the harness's hands before the first note left them."""


def log_view(item: LogItem, audience: Audience, policy: DisclosurePolicy) -> Released[str | None]:
    """The text or nothing."""
    harmless = item.rehearsal or item.before_notes or not policy.notes_hidden
    shown = policy.logs == "full" or (policy.logs != "none" and harmless)
    if audience is Audience.PUBLIC or not shown:
        return withheld(item, "log")
    return passed(item, item.text, "log", 0.0 if harmless else 8.0 * len(item.text.encode("utf-8", "surrogatepass")))

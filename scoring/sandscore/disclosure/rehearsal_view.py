"""A rehearsal as its team gets it: everything, for it met practice notes alone."""

from collections.abc import Mapping

from sandscore.disclosure.released import Audience, Item, Released, passed, withheld
from sandscore.records.disclosure_policy import DisclosurePolicy


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

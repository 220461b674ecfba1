"""Cards that may stand on one board: one task, profile, version and map; one gold and one set of notes a data set."""

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from sandscore.base.errors import ParticipantFault
from sandscore.base.terminal_text import one_line
from sandscore.ranking.card_reading import RankedCard
from sandscore.records.scorecard import FormulaScore

_SAME: tuple[tuple[str, Callable[[RankedCard], object]], ...] = (
    ("task", lambda entry: entry.card.task),
    ("definition of the task", lambda entry: entry.card.definition),
    ("profile", lambda entry: entry.card.profile),
    ("version", lambda entry: entry.card.sandscore),
    ("HIPAA map", lambda entry: entry.signed("map:")),
)
_SAME_IN_DATASET: tuple[tuple[str, Callable[[RankedCard], object]], ...] = (
    ("gold", lambda entry: entry.signed("gold:")),
    ("notes", lambda entry: list(entry.card.per_note)),
    ("patients", lambda entry: [entry.card.units[note] for note in entry.card.per_note]),
)
_HIDDEN = {"notes", "patients", "definition of the task"}


def in_order(entries: Sequence[RankedCard]) -> list[RankedCard]:
    """The cards in an order that does not depend on how they were named on the command line."""
    return sorted(entries, key=lambda entry: (entry.dataset, entry.submission, entry.sha256))


def refuse_incomparable(entries: Sequence[RankedCard]) -> None:
    """Say which two cards cannot stand on one board, and why."""
    if not entries:
        raise ParticipantFault("there is no score card to rank")
    ordered = in_order(entries)
    for what, of in _SAME:
        _refuse_first_difference(ordered, what, of)
    for _, members in groupby(ordered, key=lambda entry: entry.dataset):
        group = list(members)
        for what, of in _SAME_IN_DATASET:
            _refuse_first_difference(group, what, of)
        _refuse_twice(group)
    _refuse_shared_names(ordered)
    _refuse_other_formulas(ordered)


def _refuse_first_difference(entries: Sequence[RankedCard], what: str, of: Callable[[RankedCard], object]) -> None:
    first = entries[0]
    other = next((entry for entry in entries if of(entry) != of(first)), None)
    if other is None:
        return
    where = f" in the data set '{one_line(first.dataset)}'" if what in dict(_SAME_IN_DATASET) and first.dataset else ""
    difference = "" if what in _HIDDEN else f" ({one_line(of(first))} and {one_line(of(other))})"
    raise ParticipantFault(f"{first.path} and {other.path} cannot be compared: not the same {what}{where}{difference}")


def _refuse_twice(entries: Sequence[RankedCard]) -> None:
    for one, two in pairwise(entries):
        if one.submission == two.submission:
            raise ParticipantFault(
                f"{one.path} and {two.path} are both called '{one_line(one.submission)}' on the same data set; "
                "give each submission a name of its own"
            )


def _refuse_shared_names(entries: Sequence[RankedCard]) -> None:
    owners: dict[str, RankedCard] = {}
    for entry in entries:
        first = owners.setdefault(entry.submission, entry)
        if first.card.team != entry.card.team:
            raise ParticipantFault(
                f"{first.path} and {entry.path} are both called '{one_line(entry.submission)}' but come from "
                "different teams; give each submission a name of its own"
            )


def _refuse_other_formulas(entries: Sequence[RankedCard]) -> None:
    """A measure of an installed package is one measure only where formula, direction and version are the same."""
    first: dict[str, tuple[RankedCard, object]] = {}
    for entry in entries:
        for name, score in entry.card.measures.items():
            of = (score.formula, score.direction, score.plugin) if isinstance(score, FormulaScore) else None
            one, said = first.setdefault(name, (entry, of))
            if said != of:
                what = f"not the same formula, direction or plug-in of {one_line(name)}"
                raise ParticipantFault(f"{one.path} and {entry.path} cannot be compared: {what}")

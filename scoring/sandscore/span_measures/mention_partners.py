"""neleval's overlap aggregators: the walk from the back that finds partners, and what partners are worth.

The walk is only right where no two mentions of one side overlap; elsewhere it loses partners, and the
numbers of the original can only be had by walking as it does.

Mentions as neleval holds them: inclusive ends, documents that exist only through a line of theirs.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from sandscore.documents.note_documents import annotations, last_segment, resource_name
from sandscore.task_table.task import Task


class Mention(Struct, frozen=True, gc=False):
    """One line of a neleval file; ``end`` is the last unit covered."""

    docid: str
    start: int
    end: int
    type: str | None

    def order(self) -> tuple[int, int]:
        """At one start the longer mention comes first."""
        return (self.start, -self.end)

    @property
    def key(self) -> tuple[str, int, int]:
        """Its place."""
        return self.docid, self.start, self.end

    @property
    def typed_key(self) -> tuple[str, int, int, str | None]:
        """Its place and type."""
        return self.docid, self.start, self.end, self.type

    @property
    def printed(self) -> str:
        """As the original names a mention in an error; a typed one was given the entity id NIL."""
        candidates = "[<'NIL'>]" if self.type is not None else "[]"
        return f"Annotation({self.docid!r}, {self.start}, {self.end}, {candidates})"


def mentions(records: list[dict[str, Any]], task: Task) -> list[Mention]:
    """One side in the original's own order: documents by first line, inside by (start, -end), then file order."""
    documents: dict[str, list[Mention]] = {}
    for record in records:
        docid = last_segment(resource_name(record))
        for a in annotations(record, task):
            documents.setdefault(docid, []).append(Mention(docid, a.start, a.start + a.length - 1, a.label))
    return [m for document in documents.values() for m in sorted(document, key=Mention.order)]


Credits = dict[tuple[str, str], float]


class EndBeforeStart(Exception):
    """The original stops here; it names the system mention, whichever of the two is the wrong one."""


def credit_sums(system: Sequence[Mention], gold: Sequence[Mention], *, typed: bool) -> Credits:
    """Summed credit of each side, ``system`` and ``gold``, under ``max`` and ``sum``; mentions in internal order."""
    of_system: list[list[Mention]] = [[] for _ in system]
    of_gold: list[list[Mention]] = [[] for _ in gold]
    gold_buckets = _buckets(gold, typed)
    for key, members in _buckets(system, typed).items():
        _walk(members, gold_buckets.get(key, []), (system, gold), (of_system, of_gold))
    found: Credits = {}
    for side, ours, partners in (("system", system, of_system), ("gold", gold, of_gold)):
        for way in CREDITS:
            total = 0.0
            for mention, those in zip(ours, partners, strict=True):
                total += worth(mention, those, way)
            found[side, way] = total
    return found


def worth(mention: Mention, partners: list[Mention], way: str) -> float:
    """The share of a mention that its partners cover."""
    return CREDITS[way](mention, partners) / (mention.end - mention.start + 1) if partners else 0.0


def _buckets(mentions: Sequence[Mention], typed: bool) -> dict[tuple[str, str | None], list[int]]:
    found: dict[tuple[str, str | None], list[int]] = {}
    for index, mention in enumerate(mentions):
        found.setdefault((mention.docid, mention.type if typed else None), []).append(index)
    return found


def _walk(
    system_left: list[int],
    gold_left: list[int],
    sides: tuple[Sequence[Mention], Sequence[Mention]],
    partners: tuple[list[list[Mention]], list[list[Mention]]],
) -> None:
    while system_left and gold_left:
        s, g = system_left[-1], gold_left[-1]
        ours, theirs = sides[0][s], sides[1][g]
        if ours.start > ours.end or theirs.start > theirs.end:
            raise EndBeforeStart(f"AssertionError: End is before start: {ours.printed}")
        if ours.start <= theirs.end and theirs.start <= ours.end:
            partners[0][s].append(theirs)
            partners[1][g].append(ours)
        if ours.order() > theirs.order():
            system_left.pop()
        else:
            gold_left.pop()


def _best(mention: Mention, partners: list[Mention]) -> int:
    return max(min(mention.end, p.end) - max(mention.start, p.start) for p in partners) + 1


def _together(mention: Mention, partners: list[Mention]) -> int:
    units, reached = 0, mention.start - 1
    for partner in reversed(partners):
        last = min(partner.end, mention.end)
        if last > reached:
            units += last - max(partner.start - 1, reached)
            reached = last
    return units


CREDITS: dict[str, Callable[[Mention, list[Mention]], int]] = {"max": _best, "sum": _together}

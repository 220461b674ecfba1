"""Mentions as neleval holds them: inclusive ends, documents that exist only through a line of theirs."""

from typing import Any, NamedTuple

from sandscore.measuring.profiles.inputs import annotations, last_segment, resource_name
from sandscore.tasks import Task


class Mention(NamedTuple):
    """One line of a neleval file; ``end`` is the last unit covered."""

    docid: str
    start: int
    end: int
    type: str | None

    def order(self) -> tuple[int, int]:
        """At one start the longer mention comes first."""
        return (self.start, -self.end)

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

"""Positions of annotations in their file."""

from array import array
from bisect import bisect_right


class Positions:
    """Where in the file annotations stand: each record's number and its first annotation's."""

    def __init__(self) -> None:
        self._firsts = array("q")
        self._records = array("q")
        self._kept: dict[int, list[int]] = {}

    def add(self, record: int, first: int, kept: list[int] | None = None) -> None:
        """A record whose annotations are numbered from ``first`` on; ``kept`` where some were left out."""
        self._firsts.append(first)
        self._records.append(record)
        if kept is not None:
            self._kept[record] = kept

    def add_run(self, record: int, firsts: list[int]) -> None:
        """Records that follow one another."""
        self._firsts.extend(firsts)
        self._records.extend(range(record, record + len(firsts)))

    def find(self, annotation: int) -> tuple[int, int]:
        """The record of an annotation and its place in it."""
        at = bisect_right(self._firsts, annotation) - 1
        record, offset = self._records[at], annotation - self._firsts[at]
        kept = self._kept.get(record)
        return record, offset if kept is None else kept[offset]

"""Problems as they are found: all are counted, the first ten thousand of each code are kept."""

from collections import Counter

from sandscore.records.problems import CODES, Problem, Severity

LISTED = 10_000


class Findings:
    """What is wrong with one file. ``array`` is the name of the task's list in it."""

    def __init__(self, name: str, array: str = "") -> None:
        self.name, self.array = name, array
        self.counts: Counter[str] = Counter()
        self.errors = 0
        self._kept: list[tuple[tuple[int, int], int, Problem]] = []

    def add(
        self,
        code: str,
        where: tuple[int, int],
        pointer: str,
        note: str | None,
        message: str,
        severity: Severity | None = None,
    ) -> None:
        """Record one problem at a (record, annotation) of the file."""
        problem = Problem(code, severity or CODES[code], pointer, note, message)
        self.counts[code] += 1
        self.errors += problem.severity == "error"
        if self.counts[code] <= LISTED:
            self._kept.append((where, len(self._kept), problem))

    def count_only(self, code: str, more: int) -> None:
        """Problems beyond those that are listed; of the code's usual severity."""
        if more:
            self.counts[code] += more
        self.errors += more if CODES[code] == "error" else 0

    def room(self, code: str) -> int:
        """How many more problems of the code would be listed."""
        return max(0, LISTED - self.counts[code])

    @property
    def problems(self) -> list[Problem]:
        """In the order of the file."""
        return [problem for *_, problem in sorted(self._kept, key=lambda kept: kept[:2])]

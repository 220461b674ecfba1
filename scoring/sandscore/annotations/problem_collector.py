"""Problems as they are found: all are counted, the first ten thousand of each code are kept."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.arrays import Values, packed, seen_as
from sandscore.base.removable_rooms import part_of_a_room
from sandscore.records.problem import CODES, Problem, Severity

if TYPE_CHECKING:
    from sandscore.records.diagnosis import Diagnosis

LISTED = 10_000
_NOTED = 1 << 17
_QUOTED = 1000
_UNREADABLE = ("schema", "json")

Where = tuple[int, int]
Described = tuple[Where, str, str | None]
"""Place in the file, pointer, note."""


class LateMessage(Struct, frozen=True):
    """Problems of one code with annotations that are counted, and described when somebody looks."""

    code: str
    annotations: list[int]
    message: str


class Noted:
    """Annotations that have a problem in common: all are counted, the first of them kept."""

    def __init__(self) -> None:
        self.count = self._kept = 0
        self._blocks: list[tuple[memoryview, int]] = []

    def add(self, annotations: Values, first: int = 0) -> None:
        """Further annotations, in the order of the file, counted from ``first``."""
        kept: Any = memoryview(cast("memoryview", annotations[:LISTED]))
        self.count += len(annotations)
        self._kept += len(kept)
        self._blocks.append((seen_as(bytearray(kept), kept.format), first))
        if self._kept > _NOTED:
            self._blocks, self._kept = [(packed(self.listed(), "q"), 0)], LISTED

    def listed(self) -> list[int]:
        """The first, in the order of the file."""
        return sorted(row + first for rows, first in self._blocks for row in rows)[:LISTED]


class ProblemCollector:
    """What is wrong with one file. ``array`` is the name of the task's list in it.

    ``quoting``: ``quotes`` keeps by pointer what the first texts that do not stand say, and what stands there.
    """

    def __init__(self, name: str, array: str = "", *, quoting: bool = False) -> None:
        self.name, self.array, self._quoting = name, array, quoting
        self.quotes: dict[str, tuple[str, str]] = {}
        self.counts: Counter[str] = Counter()
        self.errors = 0
        self.diagnosis: tuple[Diagnosis, ...] = ()
        self.remedy: Any = None
        self.describe: Callable[[int], Described] | None = None
        self._kept: list[tuple[Where, int, Problem]] = []
        self._late: list[LateMessage] = []

    def add(
        self,
        code: str,
        where: Where,
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

    def cut(self, clause: str) -> None:
        """Say of no problem what begins with this clause."""
        for at, (where, place, problem) in enumerate(self._kept):
            if clause in problem.message:
                self._kept[at] = where, place, replace(problem, message=problem.message.partition(clause)[0])

    def quote(self, pointer: str, said: str, stands: str) -> None:
        """What is said, and what stands there, for somebody who may see the note."""
        if self._quoting and len(self.quotes) < _QUOTED:
            self.quotes[pointer] = said, stands

    def add_late(self, code: str, noted: Noted, message: str) -> None:
        """Record a problem of each of these annotations, to be described when problems are listed."""
        if noted.count:
            self._late.append(LateMessage(code, noted.listed()[: self.room(code)], message))
            self.counts[code] += noted.count
            self.errors += noted.count if CODES[code] == "error" else 0

    def add_counted(self, code: str, count: int, severity: Severity | None = None) -> None:
        """Record further problems of a code, of which no more will be listed."""
        if count:
            self.counts[code] += count
        self.errors += count if (severity or CODES[code]) == "error" else 0

    def restore(self, counts: Mapping[str, int], errors: int, problems: Iterable[Problem]) -> None:
        """Take over what another process has found, and the first of it in the order of the file."""
        self.counts.update(counts)
        self.errors += errors
        self._kept += [((place, 0), place, problem) for place, problem in enumerate(problems)]

    def crowded(self) -> str | None:
        """The code of records that cannot be read of which so many are listed that the others are only counted."""
        return next((code for code in _UNREADABLE if self.counts[code] >= LISTED), None)

    def room(self, code: str) -> int:
        """How many more problems of the code would be listed."""
        return max(0, LISTED - self.counts[code])

    @property
    def problems(self) -> list[Problem]:
        """In the order of the file."""
        self.settle()
        return [problem for *_, problem in sorted(self._kept, key=lambda kept: kept[:2])]

    def settle(self) -> None:
        """Describe what is late, so that nobody is asked for it any more."""
        late, self._late = self._late, []
        for problem in late:
            self._describe(problem)

    def _describe(self, late: LateMessage) -> None:
        if self.describe is None:
            raise ValueError("nobody can say where these annotations stand")
        for annotation in late.annotations:
            where, pointer, note = self.describe(annotation)
            problem = Problem(late.code, CODES[late.code], pointer, note, late.message)
            self._kept.append((where, len(self._kept), problem))


def what_it_is(data: memoryview, fault: str) -> str:
    """The fault of a file that could not be read, or what the file is instead, where the room that knows is there."""
    named = part_of_a_room("remedies.foreign_bytes:named")
    return str(named(data, fault)) if named else fault

"""The values that the library's functions return."""

from collections.abc import Iterator, Mapping, Sequence
from typing import overload

from sandscore.records.problem import Problem
from sandscore.records.scorecard import Scorecard


class Problems(Sequence[Problem]):
    """What is wrong with a file, in its order; ``counts`` also counts what is too much to be listed."""

    def __init__(self, found: Sequence[Problem], counts: Mapping[str, int]) -> None:
        self._found, self.counts = found, counts

    @overload
    def __getitem__(self, place: int) -> Problem: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Problem]: ...
    def __getitem__(self, place: int | slice) -> Problem | Sequence[Problem]:
        return self._found[place]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self._found if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self._found if problem.severity == "warning"]

    @property
    def ok(self) -> bool:
        return not self.errors


class Result:
    """A score card and what was found in the predictions."""

    def __init__(self, card: Scorecard, problems: Problems) -> None:
        self.card, self.problems = card, problems

    @property
    def f1(self) -> float | None:
        return self.card.measures["instance_strict"].f1

    @property
    def card_bytes(self) -> bytes:
        from sandscore.scoring.card_building import dumped

        return dumped(self.card)

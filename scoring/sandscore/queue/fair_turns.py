"""Turns of teams: the next goes to the team with the fewest running, then the fewest run today, then the oldest.

A team that hands in a hundred at once gets its share, and whoever comes later waits for one of them, not for all.
"""

import heapq
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

_Waiting = TypeVar("_Waiting")


class Turns:
    """By team, how many are running, and how many were begun today, but for those that failed because of us."""

    def __init__(self, running: Mapping[str, int] | None = None, today: Mapping[str, int] | None = None) -> None:
        self.running, self.today = Counter(running), Counter(today)

    def begun(self, team: str) -> None:
        self.running[team] += 1
        self.today[team] += 1

    def ordered(self, waiting: Iterable[_Waiting], team_of: Callable[[_Waiting], str]) -> Iterator[_Waiting]:
        """In the order of their turns, each as if those before it had been begun; ``waiting`` comes oldest first."""
        mine: dict[str, deque[tuple[int, _Waiting]]] = {}
        for age, one in enumerate(waiting):
            mine.setdefault(team_of(one), deque()).append((age, one))
        now = Turns(self.running, self.today)
        heap = [now._next(team, queue[0][0]) for team, queue in mine.items()]
        heapq.heapify(heap)
        while heap:
            *_, team = heapq.heappop(heap)
            _, one = mine[team].popleft()
            yield one
            now.begun(team)
            if mine[team]:
                heapq.heappush(heap, now._next(team, mine[team][0][0]))

    def _next(self, team: str, age: int) -> tuple[int, int, int, str]:
        return self.running[team], self.today[team], age, team

"""Chance that is the same on every machine and Python version."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws from ``Random.random`` only: ``choice`` and ``shuffle`` may change between Python versions."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def number(self, lowest: int, highest: int) -> int:
        """A whole number, both ends included."""
        return lowest + int(self._random() * (highest - lowest + 1))

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.number(0, len(choices) - 1)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in items]

    def decimal(self, lowest: float, highest: float, places: int) -> str:
        scale = 10**places
        return f"{self.number(round(lowest * scale), round(highest * scale)) / scale:.{places}f}"

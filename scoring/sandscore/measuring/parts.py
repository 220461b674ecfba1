"""A data set in parts of some notes each: every count adds up over notes, and a part fits the processor's cache."""

from itertools import pairwise

from sandscore.measuring.sides import Sides, side_of
from sandscore.reading.files import Loaded
from sandscore.reading.runs import borders, runs_of

PART = 1 << 16


class Parts:
    """Gold and predictions of as many notes as have about ``size`` annotations; at least one part."""

    def __init__(self, loaded: Loaded, size: int = PART) -> None:
        notes = len(loaded.dataset.ids)
        self._dataset = loaded.dataset
        self._files = [runs_of(loaded.columns[role]) for role in ("gold", "predictions")]
        gold, predicted = (file.per_note(notes) for file in self._files)
        self._borders = list(pairwise(borders(gold + predicted, size)))

    def __len__(self) -> int:
        return len(self._borders)

    def __getitem__(self, part: int) -> Sides:
        first, last = self._borders[part]
        gold, predicted = (side_of(file.take(first, last), first) for file in self._files)
        return Sides(gold, predicted, last - first, first, self._dataset)

    def forget(self) -> None:
        """Give the memory of what was looked at back, where it can be read again."""
        for file in self._files:
            file.columns.forget()

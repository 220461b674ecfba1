"""Counts by the compiled kernel: every measure that says how, kinds of error and confidences, in one walk over notes.

What it does not take (files without notes, measures with rules of their own) is counted on columns, as where there is
no kernel; both give the same.
"""

import math
from collections.abc import Callable
from ctypes import CDLL, Structure, addressof, byref, memset, sizeof
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.columns import Ints, Small
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.kernel.kernel_library import (
    BY_TOKEN,
    MEASURES,
    TAKEN,
    CountedMention,
    Counting,
    Key,
    NoteRuns,
    address,
    kernel,
)
from sandscore.annotations.note_runs import Runs
from sandscore.measures.challenge_counts import Tallies, tally
from sandscore.measures.confidence import LEVEL, Levels


class PositionRooms(Protocol):
    """Where the kernel writes what it tells of positions (``told``)."""

    @property
    def told(self) -> Structure: ...
    def read(self, first: int) -> Any:
        """What was told of the notes from ``first`` on; None where it is unsure."""


RoomsFor = Callable[..., PositionRooms]
"""For so many notes and annotations of gold, and whether these have entities."""


class KernelRule(Struct, frozen=True):
    """How the kernel counts a measure; where labels are compared, by what each label stands for (``value``)."""

    kind: int
    tolerance: int = 0
    value: Small | None = None
    by_label: bool = True
    conditional: bool = False


class KernelPart(Struct, frozen=True):
    """What some notes give to the whole."""

    tallies: list[Tallies]
    boundary: int
    leaking: int
    with_gold: int
    levels: Levels
    open: Any = None
    """Of positions, where they were asked for."""


class KernelCounts:
    """Counts parts of a data set; its rooms are as large as the fullest note needs, and used again and again."""

    def __init__(
        self, library: CDLL, runs: list[Runs], rules: list[KernelRule], labels: int, rooms_for: RoomsFor | None = None
    ) -> None:
        self._library, self._runs, self._rules, self._labels = library, runs, rules, labels
        self._rooms_for = rooms_for
        self._most_rows, most_tokens = (max(most) for most in zip(*map(_fullest, runs), strict=True))
        keys = max(2 * self._most_rows, most_tokens)
        sizes = {name: self._most_rows * sizeof(CountedMention) for name in ("gold", "predicted", "spare")}
        sizes |= {name: keys * sizeof(Key) for name in ("gold_keys", "predicted_keys", "spare_keys")}
        self._rooms = {name: np.empty(size, np.uint8) for name, size in sizes.items()}
        self._rooms["loose"] = np.empty(2 * self._most_rows, np.int32)
        self._rooms["numbers"] = np.empty(8 * self._most_rows, np.int64)
        self._told = Counting(labels=labels, measures=len(rules), mention_room=self._most_rows, key_room=keys)
        for name, room in self._rooms.items():
            setattr(self._told, name, address(room))

    def count(self, first: int, last: int) -> KernelPart | None:
        """The notes from ``first`` to before ``last``; None where the columns do not hold what they should."""
        told, notes, labels = self._told, last - first, max(1, self._labels)
        per_note = np.empty((len(self._rules), notes, 3), np.int64)
        right = np.zeros((len(self._rules), labels), np.int64)
        sums = np.zeros((3, labels + 1, 2), np.int64)
        for measure, rule, rows, by_label in zip(told.measure, self._rules, per_note, right, strict=False):
            value = None if rule.value is None else address(rule.value)
            measure.kind, measure.tolerance, measure.value = rule.kind, rule.tolerance, value
            measure.per_note = address(rows)
            measure.right = address(by_label) if rule.by_label and self._labels else None
        for name, column in zip(("gold_labels", "predicted_labels", "agreed"), sums, strict=True):
            setattr(told, name, address(column))
        taken = [runs.within(first, last) for runs in self._runs]
        odd = np.empty(int(taken[1].size.sum()), np.uint64)
        told.first, told.last, told.odd, told.odd_room = first, last, address(odd), len(odd)
        told.odds = told.unsure = told.boundary = told.leaking = told.with_gold = told.labelled_pairs = 0
        memset(told.levels, 0, sizeof(told.levels))
        entities = taken[0].columns.entity is not None
        rooms = self._rooms_for(notes, int(taken[0].size.sum()), entities=entities) if self._rooms_for else None
        told.open = None if rooms is None else addressof(rooms.told)
        sides = [_side(runs, words=any(rule.kind == BY_TOKEN for rule in self._rules)) for runs in taken]
        if self._library.count_notes(byref(sides[0][0]), byref(sides[1][0]), byref(told)) != TAKEN:
            return None
        levels = _levels(told, odd[: told.odds], len(odd))
        tallies = [self._tallies(*counted, sums) for counted in zip(self._rules, per_note, right, strict=True)]
        is_open = None if rooms is None else rooms.read(first)
        return KernelPart(tallies, told.boundary, told.leaking, told.with_gold, levels, is_open)

    def _tallies(self, rule: KernelRule, per_note: Ints, right: Ints, sums: NDArray[np.int64]) -> Tallies:
        if not self._labels or not rule.by_label:
            return Tallies(per_note)
        gold, predicted = sums[:2, :-1, int(rule.kind == BY_TOKEN)]
        found, pairs = int(right.sum()), self._told.labelled_pairs
        return Tallies(per_note, tally(right, gold, predicted), (found, pairs - found) if rule.conditional else None)


def kernel_counts(
    loaded: Loaded, runs: list[Runs], rules: list[KernelRule], labels: int, rooms_for: RoomsFor | None = None
) -> KernelCounts | None:
    """Who counts these files so, positions too where there are rooms for them; None where the kernel cannot."""
    library = kernel()
    columns = [loaded.columns[role] for role in ("gold", "predictions")]
    if library is None or len(rules) > MEASURES or any(one.text is not None for one in columns):
        return None
    if any(rule.kind == BY_TOKEN for rule in rules) and any(one.tokens is None for one in columns):
        return None
    return KernelCounts(library, runs, rules, labels, rooms_for)


def _fullest(runs: Runs) -> tuple[int, int]:
    """The most annotations, and the most tokens, that a note has."""
    known = runs.note >= 0
    each = (np.bincount(runs.note[known], weights=sizes[known]) for sizes in (runs.size, runs.tokens))
    rows, tokens = (int(sizes.max(initial=0)) for sizes in each)
    return rows, tokens


def _side(runs: Runs, *, words: bool) -> tuple[NoteRuns, list[NDArray[np.generic]]]:
    """What the kernel is told of a side, and the arrays that must outlive it."""
    columns, tokens = runs.columns, runs.columns.tokens if words else None
    held: dict[str, NDArray[np.generic]] = {
        **{name: getattr(columns, name) for name in ("start", "length", "label", "confidence")},
        **({name: getattr(tokens, name) for name in ("words", "begin", "size")} if tokens else {}),
        "note": runs.note,
        "first": runs.first,
        "count": runs.size,
        "first_token": runs.first_token,
    }
    held = {name: np.ascontiguousarray(array) for name, array in held.items()}
    sizes = {"rows": len(columns), "tokens": len(tokens.begin) if tokens else 0, "runs": len(runs.note)}
    return NoteRuns(**{name: address(array) for name, array in held.items()}, **sizes), [*held.values()]


def _levels(told: Counting, odd: NDArray[np.uint64], predictions: int) -> Levels:
    """Ascending; whole numbers were counted, the others are sorted as bits, whose order is that of the numbers."""
    if told.unsure:
        return np.array([(math.nan, predictions, 0)], LEVEL)
    whole = np.array(told.levels, np.int64).reshape(-1, 2)
    there = np.flatnonzero(whole[:, 0])
    odd.sort()
    numbers = odd >> np.uint64(1)
    firsts = np.flatnonzero(np.concatenate((numbers[:1] >= 0, numbers[1:] != numbers[:-1])))
    levels = np.empty(len(firsts) + len(there), LEVEL)
    at = np.searchsorted(numbers[firsts].view(np.float64), there.astype(np.float64)) + np.arange(len(there))
    others = np.ones(len(levels), bool)
    others[at] = False
    levels["confidence"][at], levels["confidence"][others] = there, numbers[firsts].view(np.float64)
    levels["predictions"][at], levels["right"][at] = whole[there].T
    levels["predictions"][others] = np.diff(firsts, append=len(odd))
    right = np.concatenate(([0], np.cumsum((odd & np.uint64(1)).astype(np.int64))))
    levels["right"][others] = np.diff(right[np.append(firsts, len(odd))])
    return levels

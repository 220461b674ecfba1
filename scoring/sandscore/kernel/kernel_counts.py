"""Counts by the compiled kernel: every measure that says how, kinds of error and confidences, in one walk over notes.

What it does not take (files without notes, measures with rules of their own) is counted on columns, as where there is
no kernel; both give the same.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from ctypes import CDLL, Structure, addressof, byref, c_int32, c_int64, memset, sizeof
from functools import partial
from itertools import chain
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from sandscore.annotations.column_builder import SPILL
from sandscore.annotations.input_files import Loaded
from sandscore.annotations.note_runs import Runs
from sandscore.base.arrays import Kind, Values, laid_end_to_end, np, packed, room_for, rooms_for
from sandscore.base.column_files import about_to_write
from sandscore.base.exact_sums import as_double, in_units
from sandscore.kernel.kernel_library import (
    BY_LABEL,
    BY_SPAN,
    BY_TOKEN,
    CURVE_ROW,
    MEASURES,
    TAKEN,
    WHOLE_LEVELS,
    ConfidenceLevels,
    CountedMention,
    Counting,
    CurveRooms,
    Key,
    NoteRuns,
    address,
)
from sandscore.measures import challenge_measures
from sandscore.measures.challenge_counts import Tallies
from sandscore.measures.challenge_measures import ChallengeMeasure, CountingTerms, labels_of, named_counts, terms_of
from sandscore.measures.confidence import CurveRows, Levels, WeighedConfidence
from sandscore.measures.dataset_counts import Chunks, CountedPart, PositionMeasures
from sandscore.measures.hipaa_map import HipaaMap
from sandscore.measures.measure_syntax import Named
from sandscore.task_table.task import Task

WRITTEN_TOGETHER = 1024
"""Rows of a curve."""
_EMPTY = b'"curve":['
KERNEL_PART = 1 << 19
"""Of columns that wait in files; the kernel needs no room for a part's own, only for its results."""


class PositionRooms(Protocol):
    """Where the kernel writes what it tells of positions (``told``)."""

    @property
    def told(self) -> Structure: ...
    def read(self, first: int) -> Any:
        """What was told of the notes from ``first`` on; None where it is unsure."""


class KernelRule(Struct, frozen=True):
    """How the kernel counts a measure; where labels are compared, by what each label stands for (``value``)."""

    kind: int
    tolerance: int = 0
    value: memoryview | None = None
    by_label: bool = True
    conditional: bool = False


def _relaxed(terms: CountingTerms) -> KernelRule | None:
    return KernelRule(BY_SPAN, int(terms.settings["relax"])) if terms.settings["boundary"] == "end" else None


def _protected(terms: CountingTerms) -> KernelRule:
    kept = [label if protected else -1 for label, protected in enumerate(terms.protected)]
    return KernelRule(BY_LABEL, value=_values(kept), by_label=False)


_RULES: dict[Any, Callable[[CountingTerms], KernelRule | None]] = {
    challenge_measures.TokenMatch.count: lambda _: KernelRule(BY_TOKEN),
    challenge_measures.StrictMatch.count: lambda _: KernelRule(BY_SPAN),
    challenge_measures.RelaxedMatch.count: _relaxed,
    challenge_measures.LabelMatch.count: lambda terms: KernelRule(
        BY_LABEL, value=_values(range(terms.labels)), conditional=True
    ),
    challenge_measures.HipaaMatch.count: lambda terms: KernelRule(
        BY_LABEL, value=_values(terms.protected), by_label=False
    ),
    challenge_measures.HipaaOnlyMatch.count: _protected,
}
"""By what counts the same on columns."""


def rule_of(row: type[ChallengeMeasure], terms: CountingTerms) -> KernelRule | None:
    """How the kernel counts a measure; None: it cannot."""
    rule = _RULES.get(row.count)
    return rule(terms) if rule else None


def _values(by_label: Iterable[int]) -> memoryview:
    """What each label stands for; at least one."""
    return packed([*by_label, -1], "i")


RoomsFor = Callable[..., PositionRooms]
"""For so many notes and annotations of gold, and whether these have entities."""


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
        fullest = [one.held["most"] or _fullest(one) for one in runs]
        self._most_rows, most_tokens = map(max, zip(*fullest, strict=True))
        keys = max(2 * self._most_rows, most_tokens)
        sizes = {name: self._most_rows * sizeof(CountedMention) for name in ("gold", "predicted", "spare")}
        sizes |= {name: keys * sizeof(Key) for name in ("gold_keys", "predicted_keys", "spare_keys")}
        sizes |= {"loose": 2 * self._most_rows * sizeof(c_int32), "numbers": 8 * self._most_rows * sizeof(c_int64)}
        self._rooms = {name: room_for(size, "B") for name, size in sizes.items()}
        self._told = Counting(labels=labels, measures=len(rules), mention_room=self._most_rows, key_room=keys)
        for name, room in self._rooms.items():
            setattr(self._told, name, address(room))

    def count(self, first: int, last: int) -> KernelPart | None:
        """The notes from ``first`` to before ``last``; None where the columns do not hold what they should."""
        told, notes, labels = self._told, last - first, max(1, self._labels)
        taken = [runs.within(first, last) for runs in self._runs]
        golds, predictions = (int(sum(runs.held["size"])) for runs in taken)
        sure = taken[1].columns.held["confidence"]
        rooms_of_levels, per_note = _result_rooms(predictions + WHOLE_LEVELS, sure, len(self._rules), 3 * notes)
        right = [room_for(labels, "q") for _ in self._rules]
        sums = [room_for(2 * (labels + 1), "q") for _ in range(3)]
        for measure, rule, rows, by_label in zip(told.measure, self._rules, per_note, right, strict=False):
            value = None if rule.value is None else address(rule.value)
            measure.kind, measure.tolerance, measure.value = rule.kind, rule.tolerance, value
            measure.per_note = address(rows)
            measure.right = address(by_label) if rule.by_label and self._labels else None
        for name, column in zip(("gold_labels", "predicted_labels", "agreed"), sums, strict=True):
            setattr(told, name, address(column))
        told.first, told.last, told.odd_room = first, last, predictions
        told.odd = address(rooms_of_levels[1][WHOLE_LEVELS:])
        told.odds = told.unsure = told.boundary = told.leaking = told.with_gold = told.labelled_pairs = 0
        memset(told.levels, 0, sizeof(told.levels))
        entities = taken[0].columns.held["entity"] is not None
        rooms = self._rooms_for(notes, golds, entities=entities) if self._rooms_for else None
        told.open = None if rooms is None else addressof(rooms.told)
        sides = [_side(runs, words=any(rule.kind == BY_TOKEN for rule in self._rules)) for runs in taken]
        if self._library.count_notes(byref(sides[0][0]), byref(sides[1][0]), byref(told)) != TAKEN:
            return None
        levels = _levels(self._library, told, rooms_of_levels)
        tallies = [self._tallies(*counted, sums) for counted in zip(self._rules, per_note, right, strict=True)]
        is_open = None if rooms is None else rooms.read(first)
        return KernelPart(tallies, told.boundary, told.leaking, told.with_gold, levels, is_open)

    def _tallies(self, rule: KernelRule, per_note: memoryview, right: memoryview, sums: list[memoryview]) -> Tallies:
        by_note = _table(per_note)
        if not self._labels or not rule.by_label:
            return Tallies(by_note)
        gold, predicted = (one.tolist()[int(rule.kind == BY_TOKEN) : -2 : 2] for one in sums[:2])
        rows = ((tp, said - tp, there - tp) for tp, there, said in zip(right.tolist(), gold, predicted, strict=True))
        found, pairs = sum(right), self._told.labelled_pairs
        by_label = _table(packed(chain.from_iterable(rows), "q"))
        return Tallies(by_note, by_label, (found, pairs - found) if rule.conditional else None)


PartCounter = Callable[[int], tuple[CountedPart, Levels] | None]
"""What one of the parts comes to, by its number; None where it is to be counted on columns."""


def part_counter(
    library: CDLL,
    task: Task,
    loaded: Loaded,
    parts: Chunks,
    measures: list[Named],
    hipaa: HipaaMap | None,
    positions: PositionMeasures | None,
) -> PartCounter | None:
    """Who counts these files part by part; None where the kernel cannot, or does not know how to count a measure."""
    names = loaded.dataset.vocabulary.names
    rules = [rule_of(row, terms) for _, row, terms in terms_of(task, names, measures, hipaa)]
    known = [rule for rule in rules if rule is not None]
    if len(known) != len(rules):
        return None
    rooms = positions.rooms if positions else None
    counts = kernel_counts(library, loaded, parts.files, known, labels_of(task, names), rooms)
    if counts is None:
        return None
    if max(len(file.columns) for file in parts.files) > SPILL:
        parts.cut(KERNEL_PART)

    def count(number: int) -> tuple[CountedPart, Levels] | None:
        border = parts.borders[number]
        found = counts.count(*border)
        if found is None:
            return None
        told = positions.part(partial(parts.__getitem__, number), border, found.open) if positions else None
        counted = [named_counts(measure, tallies) for measure, tallies in zip(measures, found.tallies, strict=True)]
        return CountedPart(counted, found.boundary, found.leaking, found.with_gold, told), found.levels

    return count


def kernel_counts(
    library: CDLL,
    loaded: Loaded,
    runs: list[Runs],
    rules: list[KernelRule],
    labels: int,
    rooms_for: RoomsFor | None = None,
) -> KernelCounts | None:
    """Who counts these files so, positions too where there are rooms for them; None where the kernel cannot."""
    columns = [loaded.columns[role] for role in ("gold", "predictions")]
    if len(rules) > MEASURES or any(one.held["text"] is not None for one in columns):
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


def _table(rows: memoryview) -> Values:
    """Numbers in rows of three."""
    return rows.cast("B").cast("q", (len(rows) // 3, 3)) if len(rows) else np.zeros((0, 3), np.int64)


def _side(runs: Runs, *, words: bool) -> tuple[NoteRuns, list[Values]]:
    """What the kernel is told of a side, and the memory that must outlive it."""
    columns, tokens = runs.columns.held, runs.columns.tokens if words else None
    held: dict[str, Values] = {
        **{name: columns[name] for name in ("start", "length", "label", "confidence")},
        **(tokens.held if tokens else {}),
        **{name: runs.held[name] for name in ("note", "first", "first_token")},
        "count": runs.held["size"],
    }
    held = {name: one if isinstance(one, memoryview) else np.ascontiguousarray(one) for name, one in held.items()}
    sizes = {"rows": len(runs.columns), "tokens": len(held["begin"]) if tokens else 0, "runs": len(held["note"])}
    return NoteRuns(**{name: address(one) for name, one in held.items()}, **sizes), [*held.values()]


def _result_rooms(levels: int, sure: Values, rules: int, rows: int) -> tuple[list[memoryview], list[memoryview]]:
    """For what is told of levels, which is much where confidences are no whole numbers, and for each measure's rows."""
    kinds: dict[str, Kind] = {"confidence": "d", "predictions": "q", "right": "q"}
    wanted = {name: (levels, kind) for name, kind in kinds.items()}
    filled: dict[str, tuple[int, Kind]] = {str(rule): (rows, "q") for rule in range(rules)}
    if len(sure) and sure[0] % 1 > 0:
        filled = wanted | filled
    rooms = rooms_for(filled)
    of_levels = [rooms.pop(name) if name in rooms else room_for(*room) for name, room in wanted.items()]
    return of_levels, [*rooms.values()]


def _levels(library: CDLL, told: Counting, rooms: list[memoryview]) -> Levels:
    """Ascending; whole numbers were counted, the others are sorted as bits, whose order is that of the numbers.

    Those stand so far behind in the rooms for what is told of levels that none is written over before it was looked at.
    """
    if told.unsure:
        return Levels(packed([math.nan], "d"), packed([len(rooms[0]) - WHOLE_LEVELS], "q"), packed([0], "q"))
    levels, spare = ConfidenceLevels(*map(address, rooms)), rooms[2][WHOLE_LEVELS:]
    about_to_write(rooms[2], 0, (told.odds + WHOLE_LEVELS) * spare.itemsize if told.odds else 0)
    library.list_levels(byref(told), address(spare), byref(levels))
    return Levels(*(room[: levels.levels] for room in rooms))


def kernel_curve(library: CDLL, run: Levels, gold: int, step: int) -> WeighedConfidence | None:
    """The curve of levels that the kernel has counted in one go, a row of it each ``step``; None of others."""
    if not isinstance(run.held["confidence"], memoryview):
        return None
    rooms = [*rooms_for({name: (len(run) // step + 2, "d") for name in ("sure", "precision", "recall")}).values()]
    curve = CurveRooms(*map(address, rooms), gold=gold, step=step)
    held = {name: address(column) for name, column in run.held.items()}
    if not library.walk_levels(byref(ConfidenceLevels(**held, levels=len(run))), byref(curve)):
        return None
    rows = CurveRows(*(room[: curve.rows] for room in rooms))
    return WeighedConfidence(as_double(in_units(*curve.area)) / gold, curve.best, rows)


def curve_in_pieces(library: CDLL, record: Any, encoded: Callable[[object], bytes]) -> Iterator[bytes]:
    """What the record is encoded to, its curve written by the kernel."""
    before, opened, after = encoded(record.model_copy(update={"curve": []})).partition(_EMPTY)
    yield before + opened
    yield from rows_as_json(library, record.curve.columns)
    yield after


def rows_as_json(library: CDLL, columns: tuple[Values, ...]) -> Iterator[bytes]:
    """What the encoder writes between the brackets of a list of rows; it does where the kernel knows not how."""
    room = room_for(WRITTEN_TOGETHER * CURVE_ROW, "B")
    flat, before = [laid_end_to_end(column, "d") for column in columns], b""
    for first in range(0, len(flat[0]), WRITTEN_TOGETHER):
        some = [column[first : first + WRITTEN_TOGETHER] for column in flat]
        used = library.write_curve(*map(address, some), len(some[0]), address(room))
        yield before + (room[: used - 1] if used > 0 else _encoded(some))
        before = b","


def _encoded(columns: list[Values]) -> bytes:
    return msgspec.json.encode([*zip(*(column.tolist() for column in columns), strict=True)])[1:-1]

"""The diagnosis of a file: all texts that do not stand where it says, tried against every cause at once.

Named for the file is the cause that explains most, if that is nine tenths of what any cause explains; of those that
explain as much the simplest. A cause that what stands already contradicts is one of single notes, or of none. What a
cause leaves is tried again with the cause applied, so that two that came together are both found.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from sandscore.records.diagnosis import CAUSES, Diagnosis, Scope
from sandscore.remedies.causes import (
    ENDS,
    REWRITTEN,
    SHORT,
    SWAPPED,
    UNITS,
    Cause,
    NotesShifted,
    OtherNotes,
    RewrittenText,
    ShiftedStarts,
    folded,
)
from sandscore.remedies.spots import FileSpots, NoteView, NoteViews, Spot

_SHARE = 0.9
_SAMPLE = 400
_CONSTANTS = 6
_ROUNDS = 3
_LOOKED_AT = 4_000_000
"""Comparisons that looking for other notes may cost."""
_NEARER = 10
_NEAR = (-1, 1, -2, 2, -3, 3)
Mask = NDArray[np.bool_]


class _Composed(Cause):
    """Causes one after the other."""

    def __init__(self, *causes: Cause) -> None:
        self.causes = causes
        self.code = "+".join(cause.code for cause in causes)

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        made: Spot | None = spot
        for cause in self.causes:
            made = cause.meant(made, views) if made else None
        return made


class Layer(Struct, frozen=True):
    """A cause and the notes in which it is one; None is all of them."""

    cause: Cause
    scope: Scope
    notes: frozenset[int] | None = None
    since: dict[int, int] | None = None
    """Of notes that begin right: the first start that is not."""
    sure: bool = True
    """Whether no other constant would do as well."""

    @property
    def again(self) -> bool:
        """Whether undoing it twice does no harm."""
        return isinstance(self.cause, RewrittenText)

    def concerns(self, spot: Spot) -> bool:
        """Whether the cause is one where this spot is, so that what stands there may do so by chance."""
        if self.notes is not None and spot.note not in self.notes:
            return False
        return self.since is None or spot.start >= self.since.get(spot.note, 0)


class Treatment(Struct, frozen=True):
    """Causes in the order in which they are undone."""

    layers: list[Layer] = field(default_factory=list)

    def meant(self, spot: Spot, views: NoteViews) -> Spot:
        """The spot as it was meant, where its text then stands; else as it is."""
        for first, last in self._runs(views.stands(spot)):
            made = applied(spot, self.layers[first:last], views)
            if views.stands(made):
                return made
        return spot

    def _runs(self, stands: bool) -> Iterator[tuple[int, int]]:
        """All layers, then fewer; what stands already is only moved by all."""
        size = len(self.layers)
        yield 0, size
        if not stands:
            yield from ((0, last) for last in range(size - 1, 0, -1))
            yield from ((first, first + 1) for first in range(1, size))


def applied(spot: Spot, layers: Sequence[Layer], views: NoteViews) -> Spot:
    """The spot with these causes undone where they have something to say, wherever it then is."""
    made = spot
    for layer in layers:
        if layer.concerns(spot):
            made = layer.cause.meant(made, views) or made
    return made


class _Tried(Struct, frozen=True):
    """A cause and which of the spots in question it explains."""

    cause: Cause
    explained: Mask
    sure: bool = True
    last_resort: bool = False

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.explained))


def diagnosed(found: FileSpots, views: NoteViews) -> tuple[list[Diagnosis], Treatment]:
    """The causes of what does not stand, the one of the file first, and how to undo them."""
    treatment, told = Treatment(), []
    wrong, right, total = found.wrong, found.right, len(found.wrong)
    for turn in range(_ROUNDS):
        layers = _Round(wrong, right, views).layers() if wrong else []
        if not layers or (turn and not _is_remainder(layers, len(wrong))):
            break
        told += layers
        treatment.layers.extend(
            one for one, _ in layers if one.again or not any(one.cause is o.cause for o in treatment.layers)
        )
        left = [spot for spot in found.wrong if not views.stands(treatment.meant(spot, views))]
        wrong = [applied(spot, treatment.layers, views) for spot in left]
        right = [treatment.meant(spot, views) for spot in found.right]
    sure = all(layer.sure and _is_exchange(layer.cause, found.records) for layer in treatment.layers)
    fixable = bool(told) and not wrong and sure
    explains: Counter[tuple[str, Scope, int | None]] = Counter()
    for layer, count in told:
        explains[layer.cause.code, layer.scope, layer.cause.by] += count
    causes = [Diagnosis(code, scope, count, total, fixable, by) for (code, scope, by), count in explains.items()]
    return causes, treatment


def _is_remainder(layers: list[tuple[Layer, int]], left: int) -> bool:
    """Whether causes that are found behind others explain what these left, and not some of it by chance."""
    most = max(count for _, count in layers)
    return most >= _SHARE * left and (most > 2 or all(layer.cause.code != "shift" for layer, _ in layers))


def _is_exchange(cause: Cause, records: Sequence[int]) -> bool:
    """Whether each note has one entry at most when entries of other notes are where they belong."""
    if not isinstance(cause, OtherNotes):
        return True
    notes = [cause.notes.get(record, note) for record, note in enumerate(records)]
    return len(set(notes)) == len(notes)


def _alike(text: str) -> str:
    """A text of as many characters in which case, blanks, quotation marks and dashes are the same."""
    return "".join(map(_letter, text))


@cache
def _letter(character: str) -> str:
    alike = " " if character.isspace() else folded("quotes", character.lower())
    return alike if len(alike) == 1 else character


class _Round:
    """Spots that do not stand, before those that do."""

    def __init__(self, wrong: list[Spot], right: list[Spot], views: NoteViews) -> None:
        self._wrong, self._right, self._views = wrong, right, views
        step = max(1, len(wrong) // _SAMPLE)
        self._sample = wrong[::step][: 2 * _SAMPLE]
        self._votes = self._constants()

    def layers(self) -> list[tuple[Layer, int]]:
        """What is named, and how many each explains."""
        singles = self._singles()
        named = self._named(singles)
        if named and named[0][1] == len(self._wrong):
            return named
        return self._composed(singles) or named or self._of_notes(singles)

    def _explained(self, cause: Cause, spots: Sequence[Spot]) -> Mask:
        stands, meant, views = self._views.stands, cause.meant, self._views
        made = (meant(spot, views) for spot in spots)
        return np.fromiter((one is not None and stands(one) for one in made), np.bool_, len(spots))

    def _tried(self, causes: Iterable[Cause]) -> Iterator[_Tried]:
        """Causes that explain something; where there are many spots, something of a sample first."""
        for cause in causes:
            if len(self._wrong) > 4 * _SAMPLE and not self._explained(cause, self._sample).any():
                continue
            explained = self._explained(cause, self._wrong)
            if explained.any():
                yield _Tried(cause, explained)

    def _constants(self, fold: Callable[[str], str] = str) -> Counter[int]:
        """How often texts of the sample stand so many characters from where they are said to stand."""
        votes: Counter[int] = Counter()
        for spot in self._sample:
            view = self._views.of(spot.note)
            view = view if fold is str else NoteView(fold(view.text))
            places = view.occurrences(fold(spot.text), spot.start)
            votes.update(place - spot.start for place in places)
        return votes

    def _shifts(self, fold: Callable[[str], str] = str) -> list[int]:
        """Constants that more than one spot speaks for, the most frequent first."""
        votes = self._votes if fold is str else self._constants(fold)
        least = 1 if len(self._wrong) == 1 else max(2, len(self._sample) // 50)
        often = [by for by, count in votes.items() if count >= least]
        return sorted(often, key=lambda by: (-votes[by], abs(by)))[:_CONSTANTS]

    def _singles(self) -> list[_Tried]:
        """Every cause by itself, in the order of the codes."""
        shifts = list(self._tried(map(ShiftedStarts, self._shifts())))
        shifts = [one for one in shifts if one.count > 1 or len(self._wrong) == 1]
        shifts.sort(key=lambda one: (-one.count, abs(one.cause.by or 0)))
        if shifts:
            near, others = abs(shifts[0].cause.by or 0), [one for one in shifts[1:] if one.count == shifts[0].count]
            sure = all(abs(one.cause.by or 0) >= _NEARER * near for one in others)
            shifts[0] = _Tried(shifts[0].cause, shifts[0].explained, sure)
        causes: list[Cause] = [*UNITS, *ENDS, SHORT, *REWRITTEN]
        if other := self._other_notes():
            causes.append(other)
        tried = [*shifts, *self._tried([*causes, SWAPPED])]
        whole = any(one.count == len(self._wrong) for one in tried)
        if not whole and (apart := self._apart()):
            tried.append(apart)
        return tried

    def _named(self, tried: list[_Tried]) -> list[tuple[Layer, int]]:
        """The cause of the file, if one explains nearly all that any explains."""
        if not tried:
            return []
        any_explains = np.logical_or.reduce([one.explained for one in tried])
        least = _SHARE * np.count_nonzero(any_explains)
        for last_resort in (False, True):
            able = [one for one in tried if one.last_resort == last_resort and one.count >= least]
            able.sort(key=lambda one: -one.count)
            fitting = [(one, layer) for one in able if (layer := self._layer(one))]
            if fitting:
                most = fitting[0][0].count
                level = [(one, layer) for one, layer in fitting if one.count == most]
                best, layer = next((pair for pair in level if pair[1].scope == "file"), level[0])
                return [(self._cautious(layer, best, tried), best.count)]
        return []

    def _cautious(self, layer: Layer, best: _Tried, tried: list[_Tried]) -> Layer:
        """One place that several causes explain says nothing of the whole file."""
        notes = frozenset(spot.note for spot, so in zip(self._wrong, best.explained, strict=True) if so)
        rivals = [one for one in tried if one.cause.code != best.cause.code and one.count == best.count]
        if layer.scope == "file" and best.count == 1 and rivals:
            return Layer(layer.cause, "note", notes, sure=layer.sure)
        return layer

    def _layer(self, tried: _Tried) -> Layer | None:
        """Where the cause is one, going by what stands although it should not; None where that is everywhere."""
        cause = tried.cause
        contrary = [spot for spot in self._right if self._contradicts(cause, spot)]
        explained = [spot for spot, so in zip(self._wrong, tried.explained, strict=True) if so]
        notes = frozenset(spot.note for spot in explained)
        if tried.last_resort:
            return Layer(cause, "note", notes, sure=tried.sure)
        if not contrary:
            return Layer(cause, "file", sure=tried.sure)
        last: dict[int, int] = defaultdict(lambda: -1)
        for spot in contrary:
            last[spot.note] = max(last[spot.note], spot.start)
        if notes.isdisjoint(last):
            return Layer(cause, "note", notes, sure=tried.sure)
        first: dict[int, int] = {}
        for spot in explained:
            first[spot.note] = min(first.get(spot.note, spot.start), spot.start)
        if all(first[note] > last[note] for note in notes & last.keys()):
            since = {note: first.get(note, 1 << 62) for note in last}
            return Layer(cause, "tail", since=since, sure=tried.sure)
        if len(contrary) <= (1 - _SHARE) * (len(contrary) + len(explained)):
            return Layer(cause, "file", sure=tried.sure)
        return None

    def _contradicts(self, cause: Cause, spot: Spot) -> bool:
        made = cause.meant(spot, self._views)
        if made is None:
            return cause.code != "shift" or isinstance(cause, ShiftedStarts)
        if made == spot or (spot.start == 0 and (cause.by or 0) > 0):
            return False
        return not self._views.stands(made)

    def _apart(self) -> _Tried | None:
        """A constant for each note, where several spots of a note agree on one."""
        by_note: dict[int, list[Spot]] = defaultdict(list)
        for spot in self._wrong:
            by_note[spot.note].append(spot)
        contrary = {spot.note for spot in self._right if spot.start > 0}
        constants: dict[int, int] = {}
        single: dict[int, int] = {}
        for note, spots in by_note.items():
            votes: Counter[int] = Counter()
            for spot in spots[:_SAMPLE]:
                if spot.length == len(spot.text):
                    places = self._views.of(note).occurrences(spot.text, spot.start)
                    votes.update(place - spot.start for place in places)
            best = sorted(votes, key=lambda by: (-votes[by], abs(by)))[:2]
            if not best or (len(best) > 1 and votes[best[0]] == votes[best[1]]):
                continue
            if len(spots) > 1 and votes[best[0]] > len(spots) // 2:
                constants[note] = best[0]
            elif len(spots) == 1 and note not in contrary:
                single[note] = best[0]
        if not constants or len(single) > len(constants):
            return None
        cause = NotesShifted(constants | single)
        explained = self._explained(cause, self._wrong)
        return _Tried(cause, explained, last_resort=True) if explained.any() else None

    def _other_notes(self) -> OtherNotes | None:
        """For entries that do not stand in their note at all: the one other note in which they do."""
        by_record: dict[int, list[Spot]] = defaultdict(list)
        for spot in self._wrong:
            by_record[spot.record].append(spot)
        notes = len(self._views)
        records = list(by_record)[: max(1, _LOOKED_AT // max(1, notes))]
        if len(records) > _SAMPLE and len(self._places(by_record, records[:: len(records) // 100])) < 30:
            return None
        found = self._places(by_record, records)
        return OtherNotes(found) if found else None

    def _places(self, by_record: dict[int, list[Spot]], records: list[int]) -> dict[int, int]:
        probes = {record: max(by_record[record], key=lambda spot: len(spot.text)) for record in records}
        probes = {record: spot for record, spot in probes.items() if spot.length == len(spot.text) > 0 <= spot.start}
        where: dict[int, list[int]] = defaultdict(list)
        for note in range(len(self._views)):
            text = self._views.of(note).text
            for record, spot in probes.items():
                if spot.note != note and text.startswith(spot.text, spot.start):
                    where[record].append(note)
        found: dict[int, int] = {}
        for record, notes in where.items():
            cause_of = [
                note
                for note in notes
                if all(
                    self._views.stands(Spot(record, note, spot.start, spot.length, spot.text))
                    for spot in by_record[record]
                )
            ]
            if len(cause_of) == 1:
                found[record] = cause_of[0]
        return found

    def _composed(self, singles: list[_Tried]) -> list[tuple[Layer, int]]:
        """Two causes that came together, where they explain clearly more than any by itself."""
        pairs, sample = self._pairs(), self._sample[: _SAMPLE // 2]
        counts = [int(np.count_nonzero(self._explained(pair, sample))) for pair in pairs]
        most = max(counts)
        single = max((int(np.count_nonzero(self._explained(one.cause, sample))) for one in singles), default=0)
        if most < single + max(2, len(sample) // 50):
            return []
        best = [
            _Tried(pair, self._explained(pair, self._wrong))
            for pair, count in zip(pairs, counts, strict=True)
            if count == most
        ][:4]
        together = np.logical_or.reduce([one.explained for one in (*singles, best[0])])
        able = [one for one in best if one.count >= _SHARE * np.count_nonzero(together)]
        fitting = [(one, layer) for one in able if (layer := self._layer(one))]
        if not fitting:
            return []
        tried, layer = next((pair for pair in fitting if pair[1].scope == "file"), fitting[0])
        return self._parts(tried, layer)

    def _pairs(self) -> list[_Composed]:
        shifts: list[Cause] = list(map(ShiftedStarts, dict.fromkeys([*self._shifts(), *self._shifts(_alike), *_NEAR])))
        before: list[Cause] = [*ENDS, SWAPPED]
        places = [*shifts, *UNITS]
        pairs = [_Composed(first, second) for first in before for second in places]
        pairs += [_Composed(first, second) for first in shifts for second in (*ENDS, SHORT, *UNITS)]
        return pairs + [_Composed(first, second) for first in (*places, *before) for second in REWRITTEN]

    def _parts(self, tried: _Tried, layer: Layer) -> list[tuple[Layer, int]]:
        """The two causes, and how many spots each moved."""
        first, second = tried.cause.causes if isinstance(tried.cause, _Composed) else ()
        counts = [0, 0]
        for spot, so in zip(self._wrong, tried.explained, strict=True):
            if so:
                made = first.meant(spot, self._views)
                counts[0] += made != spot
                counts[1] += made is not None and second.meant(made, self._views) != made
        made_of = [Layer(cause, layer.scope, layer.notes, layer.since) for cause in (first, second)]
        return list(zip(made_of, counts, strict=True))

    def _of_notes(self, tried: list[_Tried]) -> list[tuple[Layer, int]]:
        """Causes of single notes, each of which explains nearly all that any does in its note."""
        tried = [one for one in tried if not isinstance(one.cause, OtherNotes)]
        if not tried:
            return []
        numbers = np.array([spot.note for spot in self._wrong])
        size = len(self._views)
        explained = [np.bincount(numbers[one.explained], minlength=size) for one in tried]
        any_explains = np.bincount(numbers[np.logical_or.reduce([one.explained for one in tried])], minlength=size)
        contrary = [self._contrary_notes(one.cause) for one in tried]
        chosen: dict[int, set[int]] = defaultdict(set)
        for note in np.flatnonzero(any_explains).tolist():
            able = [
                at
                for at, one in enumerate(tried)
                if explained[at][note] >= max(2, _SHARE * any_explains[note]) and note not in contrary[at]
            ]
            if able:
                chosen[max(able, key=lambda at: (explained[at][note], -at))].add(note)
        layers = []
        for at, notes in chosen.items():
            layer = Layer(tried[at].cause, "note", frozenset(notes), sure=tried[at].sure)
            layers.append((layer, int(sum(explained[at][note] for note in notes))))
        return sorted(layers, key=lambda one: (-one[1], CAUSES.index(one[0].cause.code)))

    def _contrary_notes(self, cause: Cause) -> set[int]:
        return {spot.note for spot in self._right if self._contradicts(cause, spot)}

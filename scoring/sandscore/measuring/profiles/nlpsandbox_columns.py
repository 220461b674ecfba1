"""The client's comparison of two files at once, on packed integers in place of its strings.

Only where integers say the same as the strings: starts, lengths and places that are plain non-negative integers,
texts that are strings, types that are strings, null or absent. For all else the answer is None, and whoever asks
compares entry by entry.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import eq, itemgetter, ne
from types import NoneType
from typing import Any

import numpy as np

from sandscore.measuring.profiles.nlpsandbox_comparison import Comparison, Tally
from sandscore.measuring.profiles.nlpsandbox_reading import Columns, Release
from sandscore.measuring.profiles.nlpsandbox_words import Flags, Integers, Words
from sandscore.records.counts import Counts

_ROOM = 2**61
_TYPES = {str, NoneType, object}


class UnusualError(Exception):
    """The files hold what integers cannot stand for."""


@dataclass(frozen=True, slots=True)
class Entries:
    """One side: the notes of its records, and a row an annotation in file order.

    An absent type is an object of the side's own, so that it equals none on the other.
    """

    notes: list[str]
    note: Integers
    start: Integers
    length: Integers
    texts: list[str]
    kinds: list[Any]
    words: Words


@dataclass(frozen=True, slots=True)
class Keys:
    """One side's dictionaries: which annotations are left, by ascending key, and the distinct keys of tokens.

    A note's keys lie in a range of their own, ``width`` or ``token_width`` wide.
    """

    rows: Integers
    instances: Integers
    width: int
    tokens: Integers
    token_width: int


def compare_columns(
    gold: Sequence[Any], predictions: Sequence[Any], where: Columns, release: Release
) -> Comparison | None:
    """The client's counts, or None where the files are out of the ordinary."""
    ids: dict[str, int] = {}
    try:
        sides = [_entries(records, ids, where, release) for records in (gold, predictions)]
        gold_keys, predicted_keys = _packed(sides, len(ids))
    except (UnusualError, LookupError, TypeError, OverflowError):
        return None
    return _compared(sides, gold_keys, predicted_keys, list(ids))


def _entries(records: Iterable[Any], ids: dict[str, int], where: Columns, release: Release) -> Entries:
    notes, sizes, items = [], [], list[Any]()
    for record in records:
        name, listed = record["annotationSource"]["resourceSource"]["name"], record[where.stored_list]
        if type(name) is not str or type(listed) is not list:
            raise UnusualError
        notes.append(name.rpartition("/")[2])
        sizes.append(len(listed))
        items += listed
    starts, lengths, texts = (list(map(itemgetter(name), items)) for name in ("start", "length", "text"))
    kind, absent = where.stored_type, object()
    kinds = [item.get(kind, absent) for item in items]
    if not ({*map(type, starts), *map(type, lengths)} <= {int} and {*map(type, texts)} <= {str}):
        raise UnusualError
    if not {*map(type, kinds)} <= _TYPES:
        raise UnusualError
    numbers = np.array([ids.setdefault(note, len(ids)) for note in notes], np.int64)
    return Entries(
        notes,
        np.repeat(numbers, sizes),
        np.array(starts, np.int64),
        np.array(lengths, np.int64),
        texts,
        kinds,
        release.words(texts, release.split),
    )


def _packed(sides: Sequence[Entries], notes: int) -> list[Keys]:
    """Both sides' keys: note and start, and for tokens the length as well."""
    furthest = max(int(np.abs(column).max(initial=0)) for side in sides for column in (side.start, side.length))
    reach = max(int(side.words.offset.max(initial=0)) for side in sides)
    longest = max(int(side.words.length.max(initial=0)) for side in sides) + 1
    width = furthest + reach + 1
    if width * longest * (notes + 1) >= _ROOM:
        raise UnusualError
    return [_keys(side, width, longest) for side in sides]


def _keys(side: Entries, width: int, longest: int) -> Keys:
    words = side.words
    places = side.start[words.text] + words.offset
    if side.start.min(initial=0) < 0 or places.min(initial=0) < 0:
        raise UnusualError
    tokens = np.sort((side.note[words.text] * width + places) * longest + words.length)
    keys = side.note * width + side.start
    order = np.argsort(keys, kind="stable")
    last = _last_of_equals(keys[order])
    return Keys(order[last], keys[order][last], width, tokens[_last_of_equals(tokens)], width * longest)


def _last_of_equals(ordered: Integers) -> Flags:
    return np.concatenate((ordered[1:] != ordered[:-1], np.ones(min(len(ordered), 1), np.bool_)))


def _compared(sides: Sequence[Entries], gold: Keys, predicted: Keys, notes: list[str]) -> Comparison:
    true, found = sides
    at, there = _met(predicted.instances, gold.instances)
    rows, gold_rows = predicted.rows[at], gold.rows[there]
    difference = np.abs(found.length[rows] - true.length[gold_rows])
    strict = difference == 0
    pairs = rows[strict].tolist(), gold_rows[strict].tolist()
    typed = list(map(eq, *_picked((found.kinds, true.kinds), pairs)))
    hit = predicted.instances[at] // predicted.width
    given, wanted = (keys.instances // keys.width for keys in (predicted, gold))
    token = predicted.tokens[_met(predicted.tokens, gold.tokens)[0]] // predicted.token_width
    given_tokens, wanted_tokens = (keys.tokens // keys.token_width for keys in (predicted, gold))
    return Comparison(
        tallies={
            "instance_relax": _tally(notes, hit[difference <= 2], given, wanted),
            "instance_strict": _tally(notes, hit[strict], given, wanted),
            "type": _tally(notes, hit[strict][np.array(typed, np.bool_)], given, wanted),
            "token": _tally(notes, token, given_tokens, wanted_tokens),
        },
        notes=(true.notes, found.notes),
        replaced=(len(true.note) - len(gold.rows), len(found.note) - len(predicted.rows)),
        misplacing=(true.words.misplacing, found.words.misplacing),
        other_texts=sum(map(ne, *_picked((found.texts, true.texts), pairs))),
        names_types=any(type(kind) is str and kind for kind in map(found.kinds.__getitem__, predicted.rows.tolist())),
        nothing=not len(gold.rows) and not len(predicted.rows),
    )


def _picked(columns: Iterable[list[Any]], rows: Iterable[list[int]]) -> Iterator[Iterator[Any]]:
    return (map(column.__getitem__, own) for column, own in zip(columns, rows, strict=True))


def _met(ours: Integers, theirs: Integers) -> tuple[Integers, Integers]:
    """Where the two ascending columns are equal, in each."""
    places = np.searchsorted(theirs, ours)
    inside = np.flatnonzero(places < len(theirs))
    met = inside[theirs[places[inside]] == ours[inside]]
    return met, places[met]


def _tally(notes: list[str], hit: Integers, given: Integers, wanted: Integers) -> Tally:
    tp, predicted, gold = (np.bincount(column, minlength=len(notes)) for column in (hit, given, wanted))
    rows = np.stack((tp, predicted - tp, gold - tp), axis=1)
    total = Counts(*rows.sum(axis=0).tolist())
    return Tally({note: (a, b, c) for note, (a, b, c) in zip(notes, rows.tolist(), strict=True)}, total)

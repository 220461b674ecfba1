"""The client's comparison of two files at once, on packed integers in place of its strings.

Only where integers say the same as the strings: starts, lengths and places that are plain non-negative integers,
texts that are strings, types that are strings, null or absent. For all else the answer is None, and whoever asks
compares entry by entry.

What the NLP Sandbox client counts, entry by entry.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import eq, itemgetter, ne
from types import NoneType
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.profiles.nlpsandbox.nlpsandbox_sides import ClientSide, EntryColumns, Instance, Release
from sandscore.profiles.nlpsandbox.nlpsandbox_words import Flags, Integers, TextWords
from sandscore.records.counts import Counts

Triple = tuple[int, int, int]
_Entries = Mapping[str, tuple[Any, ...]]


class ClientTally(Struct, frozen=True):
    """True positives, false positives and misses; a hit belongs to the note of the prediction."""

    per_note: Mapping[str, Triple]
    total: Counts


class ClientComparison(Struct, frozen=True):
    """The client's four passes, and where it is known to mislead. Pairs are gold, then predictions.

    ``notes`` are those of the records. ``replaced`` annotations gave way to a later one, ``misplacing`` texts
    have tokens at a place that does not hold them, ``other_texts`` match in place and length only.
    ``names_types``: some prediction has a type that is not empty.
    """

    tallies: Mapping[str, ClientTally]
    notes: tuple[list[str], list[str]]
    replaced: tuple[int, int]
    misplacing: tuple[int, int]
    other_texts: int
    names_types: bool
    nothing: bool


def compare_entries(gold: ClientSide, predicted: ClientSide) -> ClientComparison:
    """Entries meet by key, so each is matched at most once."""
    relax, strict, same_type = _instance_hits(gold.instances, predicted.instances)
    instances = gold.instances, predicted.instances
    return ClientComparison(
        tallies={
            "instance_relax": _tally(*instances, relax),
            "instance_strict": _tally(*instances, strict),
            "type": _tally(*instances, same_type),
            "token": _tally(gold.tokens, predicted.tokens, predicted.tokens.keys() & gold.tokens.keys()),
        },
        notes=(gold.notes, predicted.notes),
        replaced=(gold.read - len(gold.instances), predicted.read - len(predicted.instances)),
        misplacing=(gold.misplacing, predicted.misplacing),
        other_texts=sum(predicted.instances[key][1] != gold.instances[key][1] for key in strict),
        names_types=any(isinstance(kind, str) and kind for _, _, kind, _ in predicted.instances.values()),
        nothing=not gold.instances and not predicted.instances,
    )


def _instance_hits(
    gold: Mapping[str, Instance], predicted: Mapping[str, Instance]
) -> tuple[list[str], list[str], list[str]]:
    relax, strict, same_type = [], [], []
    for key, (_, _, kind, length) in predicted.items():
        if key not in gold:
            continue
        _, _, gold_kind, gold_length = gold[key]
        difference = abs(length - gold_length)
        if difference <= 2:
            relax.append(key)
        if difference == 0:
            strict.append(key)
            if kind == gold_kind:
                same_type.append(key)
    return relax, strict, same_type


def _tally(gold: _Entries, predicted: _Entries, hits: Collection[str]) -> ClientTally:
    hit, hit_gold = _by_note(map(predicted.__getitem__, hits)), _by_note(map(gold.__getitem__, hits))
    given, wanted = _by_note(predicted.values()), _by_note(gold.values())
    notes = given.keys() | wanted.keys()
    return ClientTally(
        {n: (hit[n], given[n] - hit[n], wanted[n] - hit_gold[n]) for n in notes},
        Counts(len(hits), given.total() - len(hits), wanted.total() - len(hits)),
    )


def _by_note(entries: Iterable[tuple[Any, ...]]) -> Counter[str]:
    return Counter(map(itemgetter(0), entries))


_ROOM = 2**61
_TYPES = {str, NoneType, object}


class UnusualEntriesError(Exception):
    """The files hold what integers cannot stand for."""


class ClientEntries(Struct, frozen=True):
    """One side: the notes of its records, and a row an annotation in file order.

    An absent type is an object of the side's own, so that it equals none on the other.
    """

    notes: list[str]
    note: Integers
    start: Integers
    length: Integers
    texts: list[str]
    kinds: list[Any]
    words: TextWords


class Keys(Struct, frozen=True):
    """One side's dictionaries: which annotations are left, by ascending key, and the distinct keys of tokens.

    A note's keys lie in a range of their own, ``width`` or ``token_width`` wide.
    """

    rows: Integers
    instances: Integers
    width: int
    tokens: Integers
    token_width: int


def compare_columns(
    gold: Sequence[Any], predictions: Sequence[Any], where: EntryColumns, release: Release
) -> ClientComparison | None:
    """The client's counts, or None where the files are out of the ordinary."""
    ids: dict[str, int] = {}
    try:
        sides = [_entries(records, ids, where, release) for records in (gold, predictions)]
        gold_keys, predicted_keys = _packed(sides, len(ids))
    except (UnusualEntriesError, LookupError, TypeError, OverflowError):
        return None
    return _compared(sides, gold_keys, predicted_keys, list(ids))


def _entries(records: Iterable[Any], ids: dict[str, int], where: EntryColumns, release: Release) -> ClientEntries:
    notes, sizes, items = [], [], list[Any]()
    for record in records:
        name, listed = record["annotationSource"]["resourceSource"]["name"], record[where.stored_list]
        if type(name) is not str or type(listed) is not list:
            raise UnusualEntriesError
        notes.append(name.rpartition("/")[2])
        sizes.append(len(listed))
        items += listed
    starts, lengths, texts = (list(map(itemgetter(name), items)) for name in ("start", "length", "text"))
    kind, absent = where.stored_type, object()
    kinds = [item.get(kind, absent) for item in items]
    if not ({*map(type, starts), *map(type, lengths)} <= {int} and {*map(type, texts)} <= {str}):
        raise UnusualEntriesError
    if not {*map(type, kinds)} <= _TYPES:
        raise UnusualEntriesError
    numbers = np.array([ids.setdefault(note, len(ids)) for note in notes], np.int64)
    return ClientEntries(
        notes,
        np.repeat(numbers, sizes),
        np.array(starts, np.int64),
        np.array(lengths, np.int64),
        texts,
        kinds,
        release.words(texts, release.split),
    )


def _packed(sides: Sequence[ClientEntries], notes: int) -> list[Keys]:
    """Both sides' keys: note and start, and for tokens the length as well."""
    furthest = max(int(np.abs(column).max(initial=0)) for side in sides for column in (side.start, side.length))
    reach = max(int(side.words.offset.max(initial=0)) for side in sides)
    longest = max(int(side.words.length.max(initial=0)) for side in sides) + 1
    width = furthest + reach + 1
    if width * longest * (notes + 1) >= _ROOM:
        raise UnusualEntriesError
    return [_keys(side, width, longest) for side in sides]


def _keys(side: ClientEntries, width: int, longest: int) -> Keys:
    words = side.words
    places = side.start[words.text] + words.offset
    if side.start.min(initial=0) < 0 or places.min(initial=0) < 0:
        raise UnusualEntriesError
    tokens = np.sort((side.note[words.text] * width + places) * longest + words.length)
    keys = side.note * width + side.start
    order = np.argsort(keys, kind="stable")
    last = _last_of_equals(keys[order])
    return Keys(order[last], keys[order][last], width, tokens[_last_of_equals(tokens)], width * longest)


def _last_of_equals(ordered: Integers) -> Flags:
    return np.concatenate((ordered[1:] != ordered[:-1], np.ones(min(len(ordered), 1), np.bool_)))


def _compared(sides: Sequence[ClientEntries], gold: Keys, predicted: Keys, notes: list[str]) -> ClientComparison:
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
    return ClientComparison(
        tallies={
            "instance_relax": _tally_columns(notes, hit[difference <= 2], given, wanted),
            "instance_strict": _tally_columns(notes, hit[strict], given, wanted),
            "type": _tally_columns(notes, hit[strict][np.array(typed, np.bool_)], given, wanted),
            "token": _tally_columns(notes, token, given_tokens, wanted_tokens),
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


def _tally_columns(notes: list[str], hit: Integers, given: Integers, wanted: Integers) -> ClientTally:
    tp, predicted, gold = (np.bincount(column, minlength=len(notes)) for column in (hit, given, wanted))
    rows = np.stack((tp, predicted - tp, gold - tp), axis=1)
    total = Counts(*rows.sum(axis=0).tolist())
    return ClientTally({note: (a, b, c) for note, (a, b, c) in zip(notes, rows.tolist(), strict=True)}, total)

"""The client's comparison of two files at once, on packed integers in place of its strings.

Only where integers say the same as the strings: starts, lengths and places that are plain non-negative integers,
texts that are strings, types that are strings, null or absent. For all else the answer is None, and whoever asks
compares entry by entry.

What the NLP Sandbox client counts, entry by entry.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress
from operator import itemgetter, ne
from types import NoneType
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.annotations.input_files import Loaded
from sandscore.documents.note_spans import NoteSpans
from sandscore.profiles.nlpsandbox.nlpsandbox_sides import ClientSide, EntryColumns, Instance, Release
from sandscore.profiles.nlpsandbox.nlpsandbox_words import Flags, Integers, TextParts, TextWords
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
_EMPTY, _NULL = 0, 1
_TYPES = {str, NoneType, object}


class UnusualEntriesError(Exception):
    """The files hold what integers cannot stand for."""


class ClientEntries(Struct, frozen=True):
    """One side: the notes of its records, and a row an annotation in file order.

    Types are numbered, the empty one and null first; an absent one has a number of the side's own, so that it equals
    none on the other. ``texts`` is None where equal places hold equal texts.
    """

    notes: list[str]
    note: Integers
    start: Integers
    length: Integers
    texts: list[str] | None
    kinds: Integers
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
    numbers: dict[str | None, int] = {"": _EMPTY, None: _NULL}
    try:
        sides = [_entries(records, (ids, numbers), where, release) for records in (gold, predictions)]
        gold_keys, predicted_keys = _packed(sides, len(ids))
    except (UnusualEntriesError, LookupError, TypeError, OverflowError):
        return None
    return _compared(sides, gold_keys, predicted_keys, list(ids))


def compare_spans(spans: NoteSpans, loaded: Loaded, where: EntryColumns, release: Release) -> ClientComparison | None:
    """The same of files that were read as columns, with their notes."""
    typed, texts = where.stored_type == where.label, loaded.dataset.texts
    if texts is None:
        return None
    sides, both, pieces = [], (spans.gold, spans.predictions), spans.words or (None, None)
    for absent, role, side, known_pieces in zip((-1, -2), ("gold", "predictions"), both, pieces, strict=True):
        found = None if known_pieces is None else known_pieces.of(np.arange(len(side.note)))
        words = TextParts(*texts.parts(side.note, side.start, side.length), found)
        known = side.label if typed else np.full(len(side.label), -1)
        notes = [*compress(spans.ids, loaded.entries[role])]
        kinds = np.where(known < 0, absent, known + _NULL + 1)
        entries = notes, side.note, side.start, side.length, None, kinds, release.words(words, release.split)
        sides.append(ClientEntries(*entries))
    try:
        gold, predicted = _packed(sides, len(spans.ids))
    except UnusualEntriesError:
        return None
    return _compared(sides, gold, predicted, spans.ids)


def _entries(
    records: Iterable[Any], known: tuple[dict[str, int], dict[str | None, int]], where: EntryColumns, release: Release
) -> ClientEntries:
    notes, sizes, items = [], [], list[Any]()
    for record in records:
        name, listed = record["annotationSource"]["resourceSource"]["name"], record[where.stored_list]
        if type(name) is not str or type(listed) is not list:
            raise UnusualEntriesError
        notes.append(name.rpartition("/")[2])
        sizes.append(len(listed))
        items += listed
    starts, lengths, texts = (list(map(itemgetter(name), items)) for name in ("start", "length", "text"))
    ids, numbers_of = known
    kind, absent = where.stored_type, object()
    try:
        kinds = [*map(itemgetter(kind), items)]
    except KeyError:  # whoever leaves out none of them is asked in half of the time
        kinds = [item.get(kind, absent) for item in items]
    distinct = dict.fromkeys(kinds)
    if not ({*map(type, starts), *map(type, lengths)} <= {int} and {*map(type, distinct)} <= _TYPES):
        raise UnusualEntriesError  # and no text that is none can be joined to others
    numbers_of[absent] = -1 - sum(type(one) is object for one in numbers_of)  # type: ignore[index]
    for one in distinct:
        numbers_of.setdefault(one, len(numbers_of))
    numbers = np.array([ids.setdefault(note, len(ids)) for note in notes], np.int64)
    return ClientEntries(
        notes,
        np.repeat(numbers, sizes),
        np.array(starts, np.int64),
        np.array(lengths, np.int64),
        texts,
        np.fromiter(map(numbers_of.__getitem__, kinds), np.int64, len(kinds)),
        release.words(TextParts.of(texts), release.split),
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
    typed = found.kinds[rows[strict]] == true.kinds[gold_rows[strict]]
    hit = predicted.instances[at] // predicted.width
    given, wanted = (keys.instances // keys.width for keys in (predicted, gold))
    token = predicted.tokens[_met(predicted.tokens, gold.tokens)[0]] // predicted.token_width
    given_tokens, wanted_tokens = (keys.tokens // keys.token_width for keys in (predicted, gold))
    return ClientComparison(
        tallies={
            "instance_relax": _tally_columns(notes, hit[difference <= 2], given, wanted),
            "instance_strict": _tally_columns(notes, hit[strict], given, wanted),
            "type": _tally_columns(notes, hit[strict][typed], given, wanted),
            "token": _tally_columns(notes, token, given_tokens, wanted_tokens),
        },
        notes=(true.notes, found.notes),
        replaced=(len(true.note) - len(gold.rows), len(found.note) - len(predicted.rows)),
        misplacing=(true.words.misplacing, found.words.misplacing),
        other_texts=_other_texts((found.texts, true.texts), (rows[strict], gold_rows[strict])),
        names_types=bool((found.kinds[predicted.rows] > _NULL).any()),
        nothing=not len(gold.rows) and not len(predicted.rows),
    )


def _other_texts(texts: tuple[list[str] | None, list[str] | None], rows: tuple[Integers, Integers]) -> int:
    if texts[0] is None or texts[1] is None:
        return 0
    own, other = (map(column.__getitem__, at.tolist()) for column, at in zip((texts[0], texts[1]), rows, strict=True))
    return sum(map(ne, own, other))


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

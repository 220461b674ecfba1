"""The i2b2 2014 evaluations of all documents at once, on columns, where offsets are plain numbers."""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore.annotations.columns import Ints, order_of, ranked
from sandscore.profiles.i2b2.i2b2_sets import EVALUATIONS, TOLERANCE, SetEvaluation, compare_relaxed
from sandscore.profiles.i2b2.i2b2_tags import ANY_CATEGORY, I2b2Tag, is_hipaa, upper

_WORD = re.compile(r"[a-zA-Z0-9]+")
_REACH = 2**40
Flags = NDArray[np.bool_]
DocumentTags = tuple[Sequence[I2b2Tag], Sequence[I2b2Tag], str]
"""Gold's tags, the system's, and the text."""


class TagKinds(Struct, frozen=True):
    """What is known of each category and TYPE: a number of the category, and one of both with TYPE in capitals."""

    category: Ints
    capital: Ints
    hipaa: Flags
    binary: Ints
    """What the binary evaluations leave of it: nothing, but of the category PHI."""


class TagRows(Struct, frozen=True):
    """Both sides' tags, or their tokens; gold's first, ``golds`` of them."""

    golds: int
    document: Ints
    kind: Ints
    start: Ints
    end: Ints

    def only(self, chosen: Flags) -> "TagRows":
        """Some of them."""
        golds = int(np.count_nonzero(chosen[: self.golds]))
        return TagRows(golds, self.document[chosen], self.kind[chosen], self.start[chosen], self.end[chosen])


class CommonSets(Struct, frozen=True):
    """The distinct members of two sets a document: a row of each, whether it is gold's, and whether both have it."""

    row: Ints
    gold: Flags
    both: Flags


def counts_of(documents: Sequence[DocumentTags]) -> Mapping[SetEvaluation, Ints] | None:
    """Hits, false ones and misses of each document; None where an offset is out of the ordinary."""
    names: dict[tuple[str, str], int] = {}
    tags = _tag_rows(documents, names)
    if tags is None:
        return None
    categories: dict[str, int] = {}
    known = _kinds(names, categories)
    counted: dict[tuple[str, bool], tuple[TagRows, CommonSets]] = {}
    tokens = _token_rows(tags, [text for _, _, text in documents])
    for hipaa in (False, True):
        rows, words = (rows.only(known.hipaa[rows.kind]) if hipaa else rows for rows in (tags, tokens))
        counted["strict", hipaa] = rows, _sets(rows, known.capital[rows.kind])
        counted["token", hipaa] = words, _sets(words, words.kind)
        counted["binary", hipaa] = rows, _sets(rows, known.binary[rows.kind])
        counted["binary token", hipaa] = words, _sets(words, np.zeros_like(words.kind))
    found: dict[SetEvaluation, Ints] = {}
    for evaluation in EVALUATIONS:
        if evaluation.equality == "relaxed":
            strict = counted["strict", evaluation.hipaa]
            found[evaluation] = _relaxed(*strict, known, documents, hipaa=evaluation.hipaa)
            continue
        rows, sets = counted[evaluation.equality, evaluation.hipaa]
        if evaluation.category:
            mine = known.category[rows.kind[sets.row]] == categories.get(evaluation.category, -1)
            sets = CommonSets(sets.row[mine], sets.gold[mine], sets.both[mine])
        found[evaluation] = _by_document(rows.document[sets.row], sets, len(documents))
    return found


def _tag_rows(documents: Sequence[DocumentTags], names: dict[tuple[str, str], int]) -> TagRows | None:
    sides = [gold for gold, _, _ in documents], [system for _, system, _ in documents]
    sizes = [len(tags) for side in sides for tags in side]
    listed = [tag for side in sides for tags in side for tag in tags]
    starts, ends = [tag.start for tag in listed], [tag.end for tag in listed]
    if min(starts, default=0) < 0 or max(max(column, default=0) for column in (starts, ends)) > _REACH:
        return None
    kinds = [names.setdefault((tag.category, tag.type), len(names)) for tag in listed]
    document = np.repeat(np.tile(np.arange(len(documents)), 2), np.array(sizes, np.int64))
    kind, start, end = (np.array(column, np.int64) for column in (kinds, starts, ends))
    golds = sum(sizes[: len(documents)])
    return None if bool((end < start).any()) else TagRows(golds, document, kind, start, end)


def _kinds(names: Iterable[tuple[str, str]], categories: dict[str, int]) -> TagKinds:
    rows = []
    capitals: dict[tuple[str, str], int] = {}
    for category, kind in names:
        capital = capitals.setdefault((category, upper(kind)), len(capitals))
        binary = capital + 1 if category == ANY_CATEGORY else 0
        hipaa = is_hipaa(I2b2Tag(category, kind, 0, 0))
        rows.append((categories.setdefault(category, len(categories)), capital, hipaa, binary))
    table = np.array(rows, np.int64).reshape(-1, 4)
    return TagKinds(table[:, 0], table[:, 1], table[:, 2] > 0, table[:, 3])


def _token_rows(tags: TagRows, texts: Sequence[str]) -> TagRows:
    """Runs of ASCII letters and digits; where there is none, the tag's end within its text."""
    starts, ends, sizes = [], [], []
    find = _WORD.finditer
    for number, start, end in zip(tags.document.tolist(), tags.start.tolist(), tags.end.tolist(), strict=True):
        text = texts[number]
        words = [word.span() for word in find(text, start, end)]
        if not words:
            last = max(start, min(end, len(text)))
            words = [(last, last)]
        sizes.append(len(words))
        for first, last in words:
            starts.append(first)
            ends.append(last)
    many = np.array(sizes, np.int64)
    document, kind = np.repeat(tags.document, many), np.repeat(tags.kind, many)
    golds = int(many[: tags.golds].sum())
    return TagRows(golds, document, kind, np.array(starts, np.int64), np.array(ends, np.int64))


def _sets(rows: TagRows, what: Ints) -> CommonSets:
    """Members are equal where ``what`` they are and both ends are."""
    of_gold = np.arange(len(rows.kind)) < rows.golds
    keys, order = _in_order([rows.document, what, rows.start, rows.end], of_gold)
    fresh = np.concatenate((np.ones(min(len(keys), 1), np.bool_), keys[1:] != keys[:-1]))
    member, order = keys[fresh] >> 1, order[fresh]
    return CommonSets(order, of_gold[order], _beside(member[1:] == member[:-1], len(order)))


def _in_order(fields: list[Ints], gold: Flags) -> tuple[Ints, Ints]:
    """Keys in order, their last bit that of gold, and where each stands."""
    keys, size = ranked(fields)
    keys = 2 * keys + gold
    order = order_of(keys, 2 * size)
    return keys[order], order


def _beside(alike: Flags, size: int) -> Flags:
    """Which are one of two neighbours that are alike."""
    both = np.zeros(size, np.bool_)
    both[1:] |= alike
    both[:-1] |= alike
    return both


def _by_document(document: Ints, sets: CommonSets, size: int) -> Ints:
    tp, fp, fn = (
        np.bincount(document[who], minlength=size)
        for who in (sets.both & sets.gold, ~sets.both & ~sets.gold, ~sets.both & sets.gold)
    )
    return np.stack((tp, fp, fn), axis=1)


def _relaxed(
    rows: TagRows, sets: CommonSets, known: TagKinds, documents: Sequence[DocumentTags], *, hipaa: bool
) -> Ints:
    """One by one where a document has several of a kind at one place; else whoever has a partner has one only."""
    tag = sets.row
    keys, order = _in_order([rows.document[tag], known.capital[rows.kind[tag]], rows.start[tag]], sets.gold)
    tag, gold = tag[order], sets.gold[order]
    near = (keys[1:] >> 1 == keys[:-1] >> 1) & (np.abs(np.diff(rows.end[tag])) <= TOLERANCE)
    found = CommonSets(tag, gold, _beside(near, len(tag)))
    counts = _by_document(rows.document[tag], found, len(documents))
    crowded = np.zeros(len(documents), np.bool_)
    crowded[rows.document[tag[1:][keys[1:] == keys[:-1]]]] = True
    for number in np.flatnonzero(crowded).tolist():
        sides = [[one for one in side if is_hipaa(one) or not hipaa] for side in documents[number][:2]]
        one_by_one = compare_relaxed(sides[0], sides[1])
        counts[number] = one_by_one.tp, one_by_one.fp, one_by_one.fn
    return counts

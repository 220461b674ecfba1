"""What the NLP Sandbox client counts, entry by entry."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sandscore.measuring.profiles.nlpsandbox_reading import Instance, Side
from sandscore.records.counts import Counts

Triple = tuple[int, int, int]
_Entries = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Tally:
    """True positives, false positives and misses; a hit belongs to the note of the prediction."""

    per_note: Mapping[str, Triple]
    total: Counts


@dataclass(frozen=True, slots=True)
class Comparison:
    """The client's four passes, and where it is known to mislead. Pairs are gold, then predictions.

    ``notes`` are those of the records. ``replaced`` annotations gave way to a later one, ``misplacing`` texts
    have tokens at a place that does not hold them, ``other_texts`` match in place and length only.
    ``names_types``: some prediction has a type that is not empty.
    """

    tallies: Mapping[str, Tally]
    notes: tuple[list[str], list[str]]
    replaced: tuple[int, int]
    misplacing: tuple[int, int]
    other_texts: int
    names_types: bool
    nothing: bool


def compare_entries(gold: Side, predicted: Side) -> Comparison:
    """Entries meet by key, so each is matched at most once."""
    relax, strict, same_type = _instance_hits(gold.instances, predicted.instances)
    instances = gold.instances, predicted.instances
    return Comparison(
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


def _tally(gold: _Entries, predicted: _Entries, hits: Collection[str]) -> Tally:
    hit, hit_gold = _by_note(map(predicted.__getitem__, hits)), _by_note(map(gold.__getitem__, hits))
    given, wanted = _by_note(predicted.values()), _by_note(gold.values())
    notes = given.keys() | wanted.keys()
    return Tally(
        {n: (hit[n], given[n] - hit[n], wanted[n] - hit_gold[n]) for n in notes},
        Counts(len(hits), given.total() - len(hits), wanted.total() - len(hits)),
    )


def _by_note(entries: Iterable[tuple[Any, ...]]) -> Counter[str]:
    return Counter(map(itemgetter(0), entries))

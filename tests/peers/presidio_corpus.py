"""Random tagged documents, hostile where the original has rules: skip words, odd white space, long lower case."""

import random
from typing import Any

WORDS = (
    *("John", "Smith", "Maria", "Lopez", "New", "York", "Mets", "Boston", "Acme", "Michael", "met", "visited"),
    *("the", "of", "and", "AND", "THE", "Dr.", "Mr.", "St.", "street", "ward", ",", ".", "-", "(", ")", "2021"),
    *("03/04", "İİ", "straße", "😀", "o'neil", "O'Neil", "\n", " \n ", "\t", "", " "),
)
TYPES = ("PERSON", "LOCATION", "ID-NUM", "PII", "DATE_TIME")


def documents(
    rng: random.Random, number: int, words: int = 25, tagged: float = 0.7, noise: float = 0.2
) -> list[dict[str, Any]]:
    """Gold runs of one type; predictions are gold with its edges, types and presence disturbed.

    ``tagged`` is the share of runs that have a type, ``noise`` that of tokens whose tag is disturbed.
    """
    return [_document(rng, rng.randint(1, 2 * words), tagged, noise) for _ in range(number)]


def _document(rng: random.Random, size: int, tagged: float, noise: float) -> dict[str, Any]:
    tokens = [rng.choice(WORDS) for _ in range(size)]
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(token) + rng.choice((0, 1, 1, 1, 2))
    gold = _runs(rng, size, tagged)
    return {"tokens": tokens, "starts": starts, "gold": gold, "predicted": _disturbed(rng, gold, noise)}


def _runs(rng: random.Random, size: int, tagged: float) -> list[str]:
    tags: list[str] = []
    while len(tags) < size:
        tags += [rng.choice(TYPES) if rng.random() < tagged else "O"] * rng.randint(1, 4)
    return tags[:size]


def _disturbed(rng: random.Random, gold: list[str], noise: float) -> list[str]:
    tags = list(gold)
    for place in range(len(tags)):
        chance = rng.random()
        if chance < noise / 2:
            tags[place] = tags[place - 1]
        elif chance < noise:
            tags[place] = rng.choice(("O", *TYPES))
    return tags

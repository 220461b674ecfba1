"""The two quick ways of the NLP Sandbox profile say what the slow ones say: rule by rule, and entry by entry.

The slow ones are those that the recorded runs of the original were checked with.
"""

import itertools
import random
from typing import Any

import pytest

from sandscore.profiles.nlpsandbox.nlpsandbox_matching import ClientComparison, compare_columns, compare_entries
from sandscore.profiles.nlpsandbox.nlpsandbox_profile import read_sides
from sandscore.profiles.nlpsandbox.nlpsandbox_sides import RELEASES, columns
from sandscore.profiles.nlpsandbox.nlpsandbox_words import TextParts, TextWords, treebank_words, words_by_rules
from sandscore.profiles.nlpsandbox.penn_treebank import place_words, tokenise, tokens_by_rules
from sandscore.profiles.profile import ProfileInput
from sandscore.task_table.task import find_task

PIECES = [
    *("a", "s", "d", "1", "é", "_", "\u0660", "ſ", "\u212a", "’", "😀", "\ud800", ""),
    *(" ", "  ", "\n", "\t", "\u3000", "\x85", "\u200b"),
    *("n't", "N'T", "'s", "'S", "'d", "'ll", "'ve", "'RE", "'", "''", "'tis", "'twas", "'Tiſ", "more'n", "d'ye"),
    *(".", "..", "...", ",", ":", "-", "--", "``", '"', "(", "]"),
    *("cannot", "CANNOT", "gimme", "gımme", "Lemme", "gonna", "gotta", "wanna"),
]
LOCATION = find_task("location")


def text(rng: random.Random, most: int = 7) -> str:
    return "".join(rng.choices(PIECES, k=rng.randint(0, most)))


def test_a_text_that_no_rule_looks_at_is_cut_at_white_space() -> None:
    rng = random.Random(20261118)
    texts = ["".join(pieces) for pieces in itertools.product(PIECES, repeat=2)] + [text(rng) for _ in range(8_000)]
    assert [tokenise(t) for t in texts] == [tokens_by_rules(t) for t in texts]
    assert 500 < sum(tokens_by_rules(t) == t.split() for t in texts) < 9_000


def by_text(texts: list[str], words: TextWords) -> list[set[tuple[int, int]]]:
    found: list[set[tuple[int, int]]] = [set() for _ in texts]
    for number, offset, length in zip(words.text.tolist(), words.offset.tolist(), words.length.tolist(), strict=True):
        found[number].add((offset, length))
    return found


@pytest.mark.parametrize("pieces", [PIECES, ["a", "1", " ", "\n", "\u3000", "é", "-", "wanna", "can"], ["x", ""]])
def test_words_of_many_texts_are_those_of_each(pieces: list[str]) -> None:
    rng = random.Random(7)
    for size in (0, 1, 2, 500, 500, 500):
        texts = ["".join(rng.choices(pieces, k=rng.randint(0, 6))) for _ in range(size)]
        parts = TextParts.of(texts)
        quick, slow = treebank_words(parts, place_words), words_by_rules(parts, place_words)
        assert by_text(texts, quick) == by_text(texts, slow)
        assert quick.misplacing == slow.misplacing


def annotation(rng: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {"start": rng.randint(0, 12), "length": rng.randint(0, 5), "text": text(rng, 4)}
    kind = rng.choice(("absent", None, "", "city", "City"))
    return found if kind == "absent" else found | {"locationType": kind}


def file(rng: random.Random) -> list[Any]:
    names = ["a/1", "b/1", "2", "a-", "a", "x/", "a-1"]
    return [
        {
            "annotationSource": {"resourceSource": {"name": rng.choice(names)}},
            "textLocationAnnotations": [annotation(rng) for _ in range(rng.randint(0, 5))],
        }
        for _ in range(rng.randint(0, 5))
    ]


def both(
    gold: list[Any], predictions: list[Any], release: str = "4.3.0"
) -> tuple[ClientComparison | None, ClientComparison]:
    given = ProfileInput(LOCATION, None, gold, predictions)
    quick = compare_columns(gold, predictions, columns(LOCATION, release), RELEASES[release])
    return quick, compare_entries(*read_sides(given, release))


def comparable(found: ClientComparison) -> Any:
    """Without notes that nothing is counted for."""
    tallies = {
        name: ({note: row for note, row in tally.per_note.items() if any(row)}, tally.total)
        for name, tally in found.tallies.items()
    }
    others = (found.notes, found.replaced, found.misplacing, found.other_texts, found.names_types, found.nothing)
    return tallies, others


@pytest.mark.parametrize("release", RELEASES)
def test_columns_count_what_entries_count(release: str) -> None:
    rng = random.Random(release)
    quick_ones = 0
    for _ in range(600):
        quick, slow = both(file(rng), file(rng), release)
        quick_ones += quick is not None
        assert quick is None or comparable(quick) == comparable(slow)
    assert quick_ones > 400


@pytest.mark.parametrize(
    "odd",
    [
        {"start": 9.0},
        {"start": True},
        {"start": "9"},
        {"start": -1},
        {"start": 2**70},
        {"start": 2**62},
        {"length": 4.0},
        {"length": True},
        {"length": None},
        {"length": 2**62},
        {"text": None},
        {"text": ["a"]},
        {"locationType": 1},
        {"locationType": float("nan")},
        {"locationType": ["city"]},
        {"start": 0, "text": '"Ann"'},
    ],
    ids=str,
)
def test_what_integers_cannot_stand_for_goes_entry_by_entry(odd: dict[str, Any]) -> None:
    usual = {"start": 3, "length": 4, "text": "Rome", "locationType": "city"}
    plain, strange = (
        [
            {
                "annotationSource": {"resourceSource": {"name": "n"}},
                "textLocationAnnotations": [usual, usual | {"start": 30} | more],
            }
        ]
        for more in ({}, odd)
    )
    where, release = columns(LOCATION, "4.3.0"), RELEASES["4.3.0"]
    assert compare_columns(plain, plain, where, release) is not None
    assert compare_columns(plain, strange, where, release) is None
    assert compare_columns(strange, plain, where, release) is None


@pytest.mark.parametrize("record", [None, 1, "x", [], {}, {"annotationSource": {"resourceSource": {"name": 1}}}])
def test_records_that_are_none_go_entry_by_entry(record: Any) -> None:
    assert compare_columns([], [record], columns(LOCATION, "4.3.0"), RELEASES["4.3.0"]) is None

"""neleval's overlap credits by hand, computed of a whole corpus at once."""

from typing import Any

import pytest
from peers.mentions import PHI

from sandscore.profiles.neleval.neleval_columns import (
    MentionCorpus,
    corpus_of,
    repeated_mentions,
    set_counts_of,
    tangled_mentions,
)
from sandscore.profiles.neleval.neleval_credits import credit_sums_of

Span = tuple[int, int, str]


def records(notes: dict[str, list[Span]]) -> list[dict[str, Any]]:
    """Spans from the first to the last character, as neleval counts."""
    return [
        {
            "annotationSource": {"resourceSource": {"name": f"x/{note}"}},
            PHI.array: [{"start": a, "length": b - a + 1, "text": "", "type": kind} for a, b, kind in spans],
        }
        for note, spans in notes.items()
    ]


def corpus(system: dict[str, list[Span]], gold: dict[str, list[Span]]) -> MentionCorpus:
    found = corpus_of(records(system), records(gold), PHI)
    assert found is not None
    return found


# gold            1-----------10      12
# system          1---5  6-----------12
def test_the_documented_example() -> None:
    """After neleval's documentation: ptp 1.714 and 1.857, rtp 1.5 and 2."""
    found = corpus({"a": [(1, 5, "A"), (6, 12, "A")]}, {"a": [(1, 10, "A"), (12, 12, "A")]})
    assert credit_sums_of(found, typed=False) == {
        ("system", "max"): 1 + 5 / 7, ("system", "sum"): 1 + 6 / 7,
        ("gold", "max"): 0.5 + 1, ("gold", "sum"): 1 + 1,
    }  # fmt: skip
    assert set_counts_of(found, typed=False) == [(0, 2, 2)]


def test_notes_and_types_keep_mentions_apart() -> None:
    found = corpus({"a": [(1, 4, "A")], "b": [(1, 4, "A"), (8, 9, "B")]}, {"b": [(1, 2, "A"), (9, 9, "A")]})
    sums = credit_sums_of(found, typed=False)
    assert (sums["system", "max"], sums["gold", "max"]) == (0.5 + 0.5, 1 + 1)
    sums = credit_sums_of(found, typed=True)
    assert (sums["system", "sum"], sums["gold", "sum"]) == (0.5, 1)
    assert set_counts_of(found, typed=True) == [(0, 1, 0), (0, 2, 2)]
    same = corpus({"a": [(1, 4, "A"), (6, 7, "B")]}, {"a": [(1, 4, "A"), (6, 7, "C")]})
    assert (set_counts_of(same, typed=False), set_counts_of(same, typed=True)) == ([(2, 0, 0)], [(1, 1, 1)])


@pytest.mark.parametrize(
    ("gold", "system", "rtp", "ptp"),
    [
        ([(1, 10), (2, 3)], [(5, 6)], 0, 0),
        ([(1, 10)], [(1, 10), (1, 10)], 1, 1),
        ([(1, 10), (1, 10)], [(1, 10)], 2, 1),
        ([(5, 5)], [(1, 5), (5, 10)], 1, 1 / 6),
        ([(1, 1), (1, 2)], [(2, 2)], 0, 0),
        ([(1, 1), (1, 2), (20, 21)], [(2, 2), (20, 20)], 0.5, 1),
        ([], [(2, 2)], 0, 0),
        ([(2, 2)], [], 0, 0),
        ([], [], 0, 0),
    ],
)
def test_the_walk_where_a_side_overlaps_itself(gold: list[Any], system: list[Any], rtp: float, ptp: float) -> None:
    """As neleval 3.1.1 prints them."""
    sides = ({"a": [(*span, "A") for span in side]} for side in (system, gold))
    sums = credit_sums_of(corpus(*sides), typed=False)
    assert sums == pytest.approx(
        {("gold", "max"): rtp, ("gold", "sum"): rtp, ("system", "max"): ptp, ("system", "sum"): ptp}
    )


def test_what_overlaps_and_what_repeats_is_counted() -> None:
    side = {"a": [(1, 9, "A"), (2, 3, "A"), (5, 6, "A"), (9, 9, "A"), (10, 10, "A")], "b": [(1, 2, "A"), (1, 2, "A")]}
    found = corpus(side, {"b": [(1, 2, "A"), (1, 2, "B"), (4, 4, "B")]})
    assert tangled_mentions(found.system, found.width) == 4
    assert tangled_mentions(found.gold, found.width) == 1
    assert (repeated_mentions(found, found.system), repeated_mentions(found, found.gold)) == (1, 0)


@pytest.mark.parametrize(
    "odd",
    [
        {"start": -1},
        {"length": 0},
        {"start": 1.0},
        {"length": True},
        {"type": 7},
        {"start": 2**53 + 1},
        {"start": 2**62},
    ],
)
def test_what_is_out_of_the_ordinary(odd: dict[str, Any]) -> None:
    side = records({"a": [(1, 2, "A")]})
    side[0][PHI.array][0].update(odd)
    assert corpus_of(side, [], PHI) is None
    assert corpus_of([], records({"a": [(0, 0, "A")]}), PHI) is not None

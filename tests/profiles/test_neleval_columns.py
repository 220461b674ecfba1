"""neleval's measures at once are those of the walk mention by mention, to the last bit, and warn of the same.

The walk is what the recorded runs of the original were checked with.
"""

import random
from typing import Any

import pytest
from peers.mentions import PHI

from sandscore.profiles.neleval import neleval_profile
from sandscore.profiles.neleval.neleval_columns import corpus_of
from sandscore.profiles.profile import ProfileInput, ProfileResult

Records = list[dict[str, Any]]


def annotation(rng: random.Random, room: int, longest: int) -> dict[str, Any]:
    found = {"start": rng.randrange(room), "length": rng.randint(1, longest), "text": ""}
    kind = rng.choice(("A", "B", "b", "", None, "absent"))
    return found if kind == "absent" else found | {"type": kind}


def side(rng: random.Random) -> Records:
    room, longest, most = rng.choice(((10, 4, 6), (200, 5, 20), (3_000, 40, 60), (30, 30, 8)))
    return [
        {
            "annotationSource": {"resourceSource": {"name": f"x/{rng.choice('abcdef')}"}},
            PHI.array: [annotation(rng, room, longest) for _ in range(rng.randrange(most))],
        }
        for _ in range(rng.randrange(6))
    ]


def evaluated(gold: Records, predictions: Records, key: str = "all") -> ProfileResult:
    return neleval_profile.evaluate(
        ProfileInput(PHI, None, gold, predictions), {"key": key, "by": "none", "overall": False}
    )


def comparable(found: ProfileResult) -> Any:
    """Notes where nothing is counted are not in both."""
    counted = {note: rows for note, rows in found.per_note.items() if any(map(any, rows.values()))}
    return counted, found.measures, found.details, found.table, found.warnings


@pytest.mark.parametrize("key", ["all", "span", "span+type"])
def test_at_once_is_one_by_one(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"{key} 20261118")
    corpora = [(side(rng), side(rng)) for _ in range(250)]
    corpora += [(gold, gold) for gold, _ in corpora[:20]]
    assert all(corpus_of(predictions, gold, PHI) for gold, predictions in corpora)
    at_once = [comparable(evaluated(*sides, key)) for sides in corpora]
    monkeypatch.setattr(neleval_profile, "corpus_of", lambda *_: None)
    assert at_once == [comparable(evaluated(*sides, key)) for sides in corpora]


@pytest.mark.parametrize(
    "odd",
    [
        {"start": -1},
        {"start": 1.0},
        {"start": True},
        {"start": 2**60},
        {"length": 0},
        {"length": 2.0},
        {"length": None},
        {"type": 7},
        {"type": ["A"]},
    ],
    ids=str,
)
def test_what_columns_cannot_hold_is_walked(odd: dict[str, Any]) -> None:
    plain = [
        {"annotationSource": {"resourceSource": {"name": "x/n"}}, PHI.array: [{"start": 1, "length": 2, "text": ""}]}
    ]
    strange = [plain[0] | {PHI.array: [{"start": 1, "length": 2, "text": "", "type": "A"} | odd]}]
    assert corpus_of(plain, plain, PHI) is not None
    assert corpus_of(plain, strange, PHI) is None
    assert corpus_of(strange, plain, PHI) is None


@pytest.mark.parametrize("record", [None, 3, {}, {"annotationSource": {"resourceSource": {"name": 5}}}])
def test_what_is_no_record_is_walked(record: Any) -> None:
    assert corpus_of([record], [], PHI) is None

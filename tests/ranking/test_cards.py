"""Cards are hostile input: each of these is a sentence that says what is wrong, never a board."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ranking_cards import as_entry, card_content

from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.ranking.card_reading import card_entry, ranked_measures, read_card

ROWS = [(2, 1, 0), (1, 0, 1)]


def card() -> dict[str, Any]:
    return card_content("a", ROWS)


def text(change: Callable[[str], str]) -> bytes:
    return change(json.dumps(card())).encode()


BAD = {
    "empty": (b"", "not JSON"),
    "cut short": (text(lambda t: t[:-9]), "not JSON: line 1, column"),
    "not UTF-8": (text(lambda t: t).replace(b"team a", b"team \xff"), "not JSON"),
    "a list": (b"[]", "not a score card"),
    "NaN": (text(lambda t: t.replace('"note_leak": null', '"note_leak": NaN')), "NaN is not a JSON number"),
    "a key twice": (text(lambda t: t.replace('"notes": 2', '"notes": 2, "notes": 2')), "duplicate key"),
    "nested without end": (b'{"a":' * 100_000, "not JSON"),
    "a number of five thousand digits": (text(lambda t: t.replace('"tp": 3', '"tp": ' + "3" * 5_000)), "not JSON"),
    "a lone surrogate": (text(lambda t: t.replace("team a", "\\ud800")), "not a score card"),
    "a count in quotes": (
        text(lambda t: t.replace("[2, 1, 0]", '["2", 1, 0]')),
        "/per_note/note-0/instance_strict/0: ",
    ),
    "a negative count": (
        text(lambda t: t.replace("[2, 1, 0]", "[2, 1, -0.5]")),
        "/per_note/note-0/instance_strict/2: ",
    ),
    "negative counts that cancel": (
        text(lambda t: t.replace("[2, 1, 0]", "[4, 1, 0]").replace("[1, 0, 1]", "[-1, 0, 1]")),
        "whole numbers from 0",
    ),
    "sums that differ": (text(lambda t: t.replace("[2, 1, 0]", "[3, 1, 0]")), "add up to tp 4, fp 1, fn 1"),
    "a ratio of its own": (text(lambda t: t.replace('"recall": 0.75', '"recall": 0.8')), "recall of instance_strict"),
    "notes miscounted": (text(lambda t: t.replace('"notes": 2', '"notes": 3')), "'notes' is 3"),
    "a note without a unit": (text(lambda t: t.replace('"note-1": "note-1"', '"other": "note-1"')), "the same notes"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused_with_a_sentence(case: str) -> None:
    content, sentence = BAD[case]
    with pytest.raises(ParticipantFault, match=r"card\.json") as refused:
        card_entry(content, "card.json")
    assert sentence in str(refused.value)


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_no_such_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(MissingFile, match=r"missing\.json|directory"):
        read_card(tmp_path / name)


def test_a_good_card_and_its_hash(tmp_path: Path) -> None:
    """SHA-256 of the file by coreutils' definition: of its bytes."""
    import hashlib

    path = tmp_path / "a.json"
    path.write_bytes(text(lambda t: t))
    entry = read_card(path)
    assert entry.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert entry.submission == "a"
    assert entry.signed("gold:") == "0123456789ab"


@pytest.mark.parametrize(
    ("changes", "name"),
    [({}, "a"), ({"submission": None}, "team a"), ({"submission": None, "team": None}, "some-file")],
    ids=["submission", "team", "file"],
)
def test_what_a_row_is_called(changes: dict[str, Any], name: str) -> None:
    assert as_entry(card() | changes, "cards/some-file.json").submission == name


def test_a_profile_may_round_its_ratios_and_have_components_of_its_own() -> None:
    changed = card()
    changed["profile"] = "nlpsandbox-client"
    changed["measures"]["instance_strict"]["f1"] = 0.75001
    changed["measures"]["partial"] = {"correct": 3, "partial": 1, "f1": 0.8}
    assert ranked_measures(as_entry(changed).card) == ("instance_strict",)


def formula_card(**changes: Any) -> bytes:
    """A card of a measure whose score is the sum of what notes count."""
    made = card()
    score = {"score": 5.0, "components": {"a": 5}, "formula": "sum(a)", "direction": "higher", "plugin": "p 1"}
    made["measures"]["covered"] = score | changes
    for rows, number in zip(made["per_note"].values(), (2, 3), strict=True):
        rows["covered"] = [number]
    return json.dumps(made).encode()


def test_components_are_the_sums_of_what_the_notes_count() -> None:
    assert "covered" in ranked_measures(card_entry(formula_card(), "a.json").card)
    for changes, said in (
        ({"components": {"a": 6}}, "add up to a 5; 'measures' differs"),
        ({"score": 6.0}, "its components make 5"),
        ({"components": {"b": 5}}, "components other than those of its formula"),
    ):
        with pytest.raises(ParticipantFault, match=said):
            card_entry(formula_card(**changes), "a.json")

"""Counts to score cards, with numbers made by hand."""

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from pydantic import BaseModel
from struct_values import changeable

from sandscore.annotations.data_set import NoteRoll
from sandscore.disclosure.keyed_names import published
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.records.scorecard import Scorecard
from sandscore.scoring import card_building
from sandscore.scoring.card_building import (
    NoteCounts,
    carried_definition,
    dumped,
    encoded,
    macro,
    signature,
    table_of,
    written,
)
from sandscore.task_table.own_tasks import definition_hash
from sandscore.task_table.task import Task, find_task

CARDS = Path(__file__).parents[2] / "leaderboard" / "cards"
OWN = Task(id="medication", array="textMedicationAnnotations", kind="medication", own=True)
HASHES = {"gold": "0123456789abcdef", "predictions": "fedcba9876543210"}
NOTES = NoteCounts(
    NoteRoll(["a", "b", "c"]), {"strict": table_of([(1, 0, 2), (3, 1, 0), (0, 0, 0)]), "sum": table_of([(4,)] * 3)}
)


def card(**changes: Any) -> Scorecard:
    parts: dict[str, Any] = {
        "sandscore": "0", "signature": "s", "task": "date", "profile": "challenge", "notes": 2,
        "gold_annotations": 3, "predicted_annotations": 2, "text_checked": True, "measures": {},
        "per_note": {"a": {"strict": (1, 0, 2)}, "b": {"strict": (3, 1, 0)}}, "units": {"a": "p", "b": "p"},
    }  # fmt: skip
    return Scorecard(**parts | changes)


def test_counts_of_one_note() -> None:
    assert NOTES["b"] == {"strict": (3, 1, 0), "sum": (4,)}
    assert NOTES["c"] == {"strict": (0, 0, 0), "sum": (4,)}
    assert (len(NOTES), list(NOTES)) == (3, ["a", "b", "c"])
    with pytest.raises(KeyError):
        NOTES["d"]


def test_counts_of_some_measures_as_one_table() -> None:
    """By note and measure; a measure that is not there has noughts."""
    found = NOTES.table(["strict", "other"])
    assert found.tolist() == [
        [[1, 0, 2], [0, 0, 0]],
        [[3, 1, 0], [0, 0, 0]],
        [[0, 0, 0], [0, 0, 0]],
    ]


def test_counts_of_all_notes_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = dict(NOTES.items())
    assert whole == {name: NOTES[name] for name in "abc"}
    monkeypatch.setattr(card_building, "_TOGETHER", 2)
    assert list(NOTES.items()) == list(whole.items())


@pytest.mark.parametrize(
    ("rows", "shape"), [([], (0, 0)), ([(1, 2, 3)], (1, 3)), ([(1,), (2,)], (2, 1)), ([()], (1, 0))]
)
def test_a_table_has_a_row_a_note(rows: list[tuple[int, ...]], shape: tuple[int, int]) -> None:
    assert table_of(rows).shape == shape
    assert table_of(rows).dtype == np.int64


def test_a_long_mapping_is_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_building, "_TOGETHER", 2)
    values = {str(number): [number] for number in range(5)}
    assert b"".join(written(values)) == b'{"0":[0],"1":[1],"2":[2],"3":[3],"4":[4]}'
    assert b"".join(written({})) == b"{}"


ODD_NAMES = ['a",', "\n\r\x1c\x85\u2028", "%b %s %", "é\\", "", '","']


@pytest.mark.parametrize("together", [1, 4, 4096])
@pytest.mark.parametrize("notes", [0, 1, 4, 5, 6])
@pytest.mark.parametrize("names", [[], ["strict"], ['f("50%")', "relax(near=2)", "é"]], ids=len)
def test_counts_are_written_in_columns_as_they_are_row_by_row(
    names: list[str], notes: int, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names that hold whatever a line, a format or JSON could stumble over; numbers of one and of many digits."""
    monkeypatch.setattr(card_building, "_TOGETHER", together)
    rows = [(number, -1, 10**18 + number) for number in range(notes)]
    whole = {note: dict.fromkeys(names, row) for note, row in zip(ODD_NAMES, rows, strict=False)}
    by_row = json.dumps(whole, separators=(",", ":"), ensure_ascii=False)
    assert (
        b"".join(written(NoteCounts(NoteRoll(ODD_NAMES[:notes]), dict.fromkeys(names, table_of(rows)))))
        == by_row.encode()
    )


def test_means_are_over_the_notes_that_define_them() -> None:
    means = macro(table_of([(1, 1, 0), (0, 0, 4), (3, 0, 1)]))
    assert means.precision == (1 / 2 + 1) / 2
    assert means.recall == (1 + 0 + 3 / 4) / 3
    assert means.f1 == pytest.approx((2 / 3 + 0 + 6 / 7) / 3)
    assert (means.notes.precision, means.notes.recall, means.notes.f1) == (2, 3, 3)


def test_means_of_nothing_are_undefined() -> None:
    means = macro(table_of([(0, 0, 0)]))
    assert (means.precision, means.recall, means.f1, means.notes.f1) == (None, None, None, 0)


def test_the_signature_names_what_must_be_equal() -> None:
    plain = signature(find_task("date"), "challenge", HASHES, None).split("|")
    assert plain[:4] == ["date", "challenge", "gold:0123456789ab", "predictions:fedcba987654"]
    assert len(plain) == 5
    hipaa = load_hipaa_map()
    mapped = signature(find_task("phi"), "challenge", HASHES, hipaa).split("|")
    assert mapped[4:-1] == [f"map:{hipaa.digest[:12]}"]
    own = signature(OWN, "challenge", HASHES, None).split("|")
    assert own[4:-1] == [f"task:{(definition_hash(OWN) or '')[:12]}"]


def test_a_card_carries_the_definition_of_an_own_task_only() -> None:
    assert carried_definition(find_task("date")) == {}
    assert carried_definition(OWN)["definition"].array == "textMedicationAnnotations"


def test_a_published_card_names_notes_by_keyed_hashes() -> None:
    hidden = published(card(), b"salt")
    assert len({len(name) for name in hidden.per_note}) == 1
    assert [len(name) for name in hidden.per_note] == [16, 16]
    assert list(hidden.per_note.values()) == [{"strict": (1, 0, 2)}, {"strict": (3, 1, 0)}]
    assert list(hidden.units) == list(hidden.per_note)
    assert len(set(hidden.units.values())) == 1
    assert hidden.per_note.keys() != published(card(), b"other").per_note.keys()


def test_a_published_card_names_patients_by_the_same_hashes() -> None:
    hidden = published(card(per_unit={"p": {"patient_leak": (1, 1)}}), b"salt")
    [patient] = {*hidden.units.values()}
    assert dict(hidden.per_unit) == {patient: {"patient_leak": (1, 1)}}
    assert json.loads(dumped(hidden))["per_unit"] == {patient: {"patient_leak": [1, 1]}}
    assert "per_unit" not in json.loads(dumped(published(card(), b"salt")))


class _Pair(BaseModel):
    one: int
    other: int | None = None


def test_records_in_lists_become_plain_values() -> None:
    """Words are no lists, though they can be gone through."""
    assert encoded([_Pair(one=1), _Pair(one=2, other=3)]) == b'[{"one":1},{"one":2,"other":3}]'
    assert encoded({"said": "word", "each": (_Pair(one=4),)}) == b'{"said":"word","each":[{"one":4}]}'
    assert encoded(range(3)) == b"[0,1,2]"
    with pytest.raises(NotImplementedError, match="object"):
        encoded(object())


def test_a_card_is_written_in_the_order_of_its_fields() -> None:
    bytes_of_it = dumped(card(team=None, extra=1))
    assert bytes_of_it.endswith(b"}\n")
    decoded = json.loads(bytes_of_it)
    assert list(decoded)[:3] == ["sandscore", "signature", "task"]
    assert list(decoded)[-3:] == ["per_note", "units", "extra"]
    assert decoded["team"] is None, "what is undefined is null"
    assert "submission" not in decoded, "what does not apply is left out"
    assert decoded["per_note"] == {"a": {"strict": [1, 0, 2]}, "b": {"strict": [3, 1, 0]}}


ODD: dict[str, dict[str, Any]] = {
    "what was not expected": {"later": {"one": [1, None]}},
    "nothing is left out": {"name": None, "phase": "test", "slices": {}, "definition": None},
    "shares and formulas": {
        "measures": {
            "a": {
                "n": 1,
                "of": 2,
                "value": 0.5,
                "direction": "lower",
                "by_class": {"x": {"n": 0, "of": 0, "value": None}},
            },
            "b": {"score": 0.5, "components": {"x": 1}, "formula": "sum(x)", "direction": "higher", "plugin": None},
            "c": {"tp": 1, "f1_ci": [0, 1], "own": {"kappa": 1}, "formula": None, "macro": None},
        }
    },
    "rows of several kinds": {"later": [(1, 2), "a", {"b": (3,)}, [], None]},
    "a curve": {"confidence": {"curve": [[0.9, 1.0, None], [0.5, 0.5, 1.0]], "best_threshold": 0.5}},
    "two annotators": {"agreement": {"annotators": 2, "strict_f1": None, "token_kappa": None, "pairs": []}},
    "a task of their own": {
        "definition": {"array": "textMedicationAnnotations", "label": "kind", "labels": ["a", "b"]}
    },
}


@pytest.mark.parametrize("changes", ODD.values(), ids=ODD)
def test_what_is_written_is_what_pydantic_makes_of_it(changes: dict[str, Any]) -> None:
    _as_pydantic_has_it(Scorecard.model_validate(card().model_dump(exclude_unset=True) | changes))
    _as_pydantic_has_it(card().model_copy(update={"phase": None, "name": "n"}))


@pytest.mark.parametrize("place", sorted(CARDS.glob("*.json")), ids=lambda place: place.stem)
def test_published_cards_are_written_as_pydantic_does(place: Path) -> None:
    _as_pydantic_has_it(Scorecard.model_validate_json(place.read_bytes()))


def _as_pydantic_has_it(made: Scorecard) -> None:
    assert encoded(made) == msgspec.json.encode(made.model_dump(exclude_unset=True))


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("scoring") == set()

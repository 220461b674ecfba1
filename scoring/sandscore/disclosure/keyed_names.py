"""Names of notes, patients and gold as others are told them: keyed hashes, at which nobody can try a guess."""

import hashlib
import hmac
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from sandscore.records.group_scores import PerturbedScores, Slice
from sandscore.records.scorecard import Scorecard

_Group = TypeVar("_Group", Slice, PerturbedScores)
_SHOWN_OF_ID, _SHOWN_OF_GOLD = 16, 12
_GOLD = "gold:"


def published(card: Scorecard, salt: bytes) -> Scorecard:
    """The card with note and patient ids replaced by keyed hashes, in the same order."""

    @cache
    def hidden(name: str) -> str:
        return hmac.digest(salt, name.encode("utf-8", "surrogatepass"), "sha256").hex()[:_SHOWN_OF_ID]

    return card.model_copy(
        update={
            "per_note": {hidden(note): counts for note, counts in card.per_note.items()},
            "units": {hidden(note): hidden(unit) for note, unit in card.units.items()},
            **({"per_unit": {hidden(unit): rows for unit, rows in card.per_unit.items()}} if card.per_unit else {}),
            **_published_groups(card, hidden),
        }
    )


def _published_groups(card: Scorecard, hidden: Callable[[str], str]) -> dict[str, object]:
    """Slices and perturbed copies, their patients named so; nothing where there are none."""

    def named(group: _Group) -> _Group:
        return group.model_copy(update={"per_unit": {hidden(unit): rows for unit, rows in group.per_unit.items()}})

    slices = {
        name: table.model_copy(update={"slices": {group: named(one) for group, one in table.slices.items()}})
        for name, table in card.slices.items()
    }
    copies = {name: named(one) for name, one in card.robustness.items()}
    return {name: told for name, told in (("slices", slices), ("robustness", copies)) if told}


def keyed_gold(digest: str, salt: bytes) -> str:
    """How others are told which gold it was: by a keyed hash, at which nobody can try a guess."""
    said = f"{_GOLD}{digest[:_SHOWN_OF_GOLD]}".encode()
    return hmac.new(salt, said, hashlib.sha256).hexdigest()[:_SHOWN_OF_GOLD]


def with_keyed_gold(card: Scorecard, salt: bytes) -> Scorecard:
    """The card with its gold named so; cards of one salt stay comparable with one another."""
    parts = (_keyed(part, salt) for part in card.signature.split("|"))
    return card.model_copy(update={"signature": "|".join(parts)})


def _keyed(part: str, salt: bytes) -> str:
    gold = part.removeprefix(_GOLD)
    return part if gold == part else f"{_GOLD}{keyed_gold(gold, salt)}"

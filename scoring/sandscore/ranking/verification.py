"""``verify``: the board again, from its cards; the first value that differs is named."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict

from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.base.terminal_text import one_line
from sandscore.ranking.board_building import UNEVEN, rank
from sandscore.ranking.card_reading import RankedCard, read_card, read_cards
from sandscore.ranking.pair_tests import Progress
from sandscore.records.board import BoardRules, CardReference, Root
from sandscore.records.record_reading import file_content, read_json, refusing

TOLERANCE = 1e-9
FIRST_RULES = {"tie_rule": "holm", "interval": "percentile", "seed_rule": "names"}
"""What a board means whose ``config`` does not name these rules."""
SINCE = "seed_rule"
NEWER = frozenset({"chosen_ci", "expected", "effective_patients", "p_adjusted", "adjustment", "log_root"})
"""A board whose ``config`` does not name the rule ``SINCE`` is of the first kind, and has none of these fields."""
_ABSENT = object()


class _Named(BaseModel):
    """What a site or a row says about its cards."""

    model_config = ConfigDict(extra="ignore")
    card: CardReference | None = None
    sites: dict[str, "_Named"] = {}

    def references(self) -> Iterator[CardReference]:
        if self.card is not None:
            yield self.card
        for site in self.sites.values():
            yield from site.references()


class _Origin(BaseModel):
    """The part of a board that it is recomputed from; all the rest is compared."""

    model_config = ConfigDict(extra="ignore")
    config: BoardRules
    phase: str | None = None
    log_root: Root | None = None
    rows: tuple[_Named, ...]


class Verified(Struct, frozen=True):
    """How much was recomputed and found equal; measures without integer components can only be copied from a card."""

    values: int
    cards: int
    not_recomputed: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    """Of the cards, by which a witness names them."""


def verify(
    path: Path, cards: Sequence[Path] = (), progress: Progress = lambda _: None, folder: Path | None = None
) -> Verified:
    """Recompute a board; ``cards`` are needed only where its phase hides which ones it was made from.

    The cards that it names lie in ``folder``, or beside it.
    """
    said = read_json(file_content(path), path, "a board", ParticipantFault)
    with refusing(path, "a board", ParticipantFault):
        origin = _Origin.model_validate(_meant(said))
    named = list(_cards_of(origin, folder or path.parent))
    entries = named or read_cards(cards)
    if not entries:
        raise ParticipantFault(f"{path} names no cards, as its phase hides them; name them after the board")
    made = rank(entries, origin.config, origin.phase, progress, everything=bool(named), log_root=origin.log_root)
    compared = 0
    for where, there, here in _walk("", said, _as_kind_of(said, json.loads(made.model_dump_json()))):
        compared += 1
        if not _same(there, here):
            raise ParticipantFault(f"{path}: {one_line(where)} is {_value(there)}; its cards make {_value(here)}")
    copied = dict.fromkeys(name for row in made.rows for name in row.shown)
    return Verified(compared, len(entries), tuple(copied), tuple(entry.sha256 for entry in entries))


def _meant(said: object) -> object:
    """The board with every rule named that older ones left unsaid."""
    config = said.get("config") if isinstance(said, dict) else None
    if not isinstance(said, dict) or not isinstance(config, dict):
        return said
    return said | {"config": {name: FIRST_RULES[name] for name in _unsaid(config)} | config}


def _unsaid(config: dict[str, object]) -> list[str]:
    return [name for name in FIRST_RULES if name in BoardRules.model_fields and name not in config]


def _as_kind_of(said: Any, made: Any) -> Any:
    """What was made, without what boards of that kind do not say."""
    made["config"] = {name: value for name, value in made["config"].items() if name not in _unsaid(said["config"])}
    if SINCE in said["config"]:
        return made
    made["warnings"] = [warning for warning in made["warnings"] if not warning.startswith(UNEVEN)]
    return _without(NEWER, made)


def _without(names: frozenset[str], value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(names, inner) for name, inner in value.items() if name not in names}
    return [_without(names, inner) for inner in value] if isinstance(value, list) else value


def _cards_of(origin: _Origin, folder: Path) -> Iterator[RankedCard]:
    for row in origin.rows:
        for reference in row.references():
            yield replace(_find(reference, folder), listed=reference.path)


def _find(reference: CardReference, folder: Path) -> RankedCard:
    """The card beside the board, or where the board says; a file with other content is not it."""
    named = Path(reference.path)
    places = [folder / named, folder / named.name, folder / "cards" / named.name, named]
    there = [place for place in dict.fromkeys(places) if _is_file(place)]
    for place in there:
        entry = read_card(place)
        if entry.sha256 == reference.sha256:
            return entry
    if there:
        raise ParticipantFault(f"{one_line(there[0])} is not the card this board was made from: its SHA-256 differs")
    raise MissingFile(f"the card {one_line(reference.path)} lies neither beside the board nor where the board says")


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError:  # a name no file system takes
        return False


def _walk(where: str, said: object, made: object) -> Iterator[tuple[str, object, object]]:
    """Every pair of values that should agree, in the order in which a board is written."""
    if isinstance(said, dict) and isinstance(made, dict):
        for key in (*made, *(key for key in said if key not in made)):
            yield from _walk(f"{where}/{key}", said.get(key, _ABSENT), made.get(key, _ABSENT))
    elif isinstance(said, list) and isinstance(made, list) and len(said) == len(made):
        for at, (one, other) in enumerate(zip(said, made, strict=True)):
            yield from _walk(f"{where}/{at}", one, other)
    elif isinstance(said, list) and isinstance(made, list):
        yield f"{where} (how many)", len(said), len(made)
    else:
        yield where, said, made


def _same(said: object, made: object) -> bool:
    """Counts, words and order exactly; ratios to a billionth."""
    if isinstance(said, bool) or isinstance(made, bool):
        return said is made
    if isinstance(said, float) and isinstance(made, int | float):
        return math.isclose(said, made, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(made, float) and isinstance(said, int):
        return math.isclose(said, made, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return said == made


def _value(value: object) -> str:
    return "absent" if value is _ABSENT else one_line(json.dumps(value, ensure_ascii=False))

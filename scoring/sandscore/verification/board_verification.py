"""``verify``: the board again, from its cards; the first value that differs is named."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict

from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.base.strict_json import pointer as pointer_to
from sandscore.base.terminal_text import one_line
from sandscore.ranking.board_building import UNEVEN, rank
from sandscore.ranking.card_reading import RankedCard, card_entry, read_cards, totals_card
from sandscore.ranking.pair_tests import Progress
from sandscore.records.board import FIRST_RULES, SINCE, Board, BoardPolicy, CardReference, Root
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.record_reading import file_content, read_json, refusing
from sandscore.records.scorecard import Scorecard
from sandscore.records.withheld_fields import CARD_FIELDS, covering, permitted_fields, policy_on

if TYPE_CHECKING:
    from sandscore.records.totals_card import TotalsCard

TOLERANCE = 1e-9
NEWER = frozenset(
    {"chosen_ci", "expected", "effective_patients", "p_adjusted", "adjustment", "log_root", "delta_ci", "patients"}
)
"""A board whose ``config`` does not name the rule ``SINCE`` is of the first kind, and has none of these fields."""
FIRST_SILENCE = frozenset({"/rows/*/chosen_ci", "/rows/*/expected", "/effective_patients", "/pairwise/*/p_adjusted"})
"""A board of the first kind that was published again says none of these."""
PAIR_SILENCE = frozenset({"/pairwise/*/delta_ci", "/pairwise/*/patients"})
"""What boards say of their pairs since they can be picked; a board that says it of none is older."""
_ABSENT = object()


Level = Literal["totals", "recomputed"]
Viewer = Callable[[Board, Sequence[RankedCard], DisclosurePolicy], Board]
"""What everybody may see of a board that was ranked again from these cards."""


class _Found(Struct, frozen=True):
    """A card that a row names, and for which of its sites."""

    card: "RankedCard | TotalsCard"
    row: int
    site: str | None


class _Cell(BaseModel):
    """What a site or a row says about its cards."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    submission: str = ""
    card: CardReference | None = None
    sites: dict[str, "_Cell"] = {}

    @property
    def references(self) -> list[CardReference]:
        cards = (self.card, *(site.card for site in self.sites.values()))
        return [card for card in cards if card is not None]


class _Origin(BaseModel):
    """The part of a board that it is recomputed from; all the rest is compared."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    config: BoardRules
    phase: str | None = None
    log_root: Root | None = None
    gold: dict[str, str | None] = {}
    policy: BoardPolicy | None = None
    withheld: tuple[str, ...] = ()
    rows: tuple[_Cell, ...]


class Verified(Struct, frozen=True):
    """How many values follow from how many cards, and at which level; the rest is named.

    ``recomputed``: every number that the board shows was made again from cards with counts note by note.
    ``totals``: what follows from counts and from the test results that the board prints.
    """

    values: int
    cards: int
    not_recomputed: tuple[str, ...] = ()
    level: Level = "recomputed"
    withheld: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    """Of the cards, by which a witness names them."""


def verify(
    path: Path,
    cards: Sequence[Path] = (),
    progress: Progress = lambda _: None,
    as_shown: Viewer = lambda board, _entries, _policy: board,
    folder: Path | None = None,
) -> Verified:
    """Recompute a board, from the cards that it names (they lie in ``folder``, or beside it), from ``cards`` where it
    withholds which they are or names their totals, whose view ``as_shown`` then makes, or else from its totals."""
    said = read_json(file_content(path), path, "a board", ParticipantFault)
    with refusing(path, "a board", ParticipantFault):
        origin = _Origin.model_validate(_meant(said))
    _refuse_wrong_silence(said, origin, path)
    policy = policy_on(origin.policy, origin.config)
    whole = policy.exact and policy.cards == "notes"
    places = [path.parent] if folder is None else [folder, path.parent]
    found = [] if cards and not whole and origin.policy is not None else list(_cards_of(origin, places))
    totals = [one for one in found if not isinstance(one.card, RankedCard)]
    if totals and cards and origin.policy is not None:
        found, totals = [], []
    entries = [one.card for one in found if isinstance(one.card, RankedCard)] or _in_hand(cards, origin, path)
    if totals or not entries:
        return _from_totals(said, totals, path)
    made = rank(entries, origin.config, origin.phase, progress, log_root=origin.log_root)
    made = made if found else as_shown(made, entries, policy)
    copied = dict.fromkeys([*(name for row in made.rows for name in row.shown), *_groups_believed(made, entries, path)])
    made = made.model_copy(update={"policy": origin.policy, "withheld": origin.withheld})
    skipped = covering({*origin.withheld, *_unsaid_fields(said), *(() if found else CARD_FIELDS)})
    compared = _compared(said, made, skipped, path, "its cards make")
    hashes = tuple(entry.sha256 for entry in entries)
    return Verified(compared, len(entries), tuple(copied), withheld=origin.withheld, hashes=hashes)


def _groups_believed(board: Board, entries: Sequence[RankedCard], path: Path) -> Iterator[str]:
    """The slices and copies that the board shows and of which a card has no counts by patient; where it has some they
    are made again, and the first number that differs is a contradiction."""
    shown = any(row.slices or row.robustness for row in board.rows)
    for entry in entries if shown else ():
        for where, said, made in _groups_again(entry.card, board.config):
            if made is None:
                yield where.removeprefix("/")
                continue
            for pointer, there, here in _walk(where, _plain(said), _plain(made)):
                if not _same(there, here):
                    card = f"{path}: the card of {one_line(entry.submission)}"
                    sentence = f"{one_line(pointer)} is {_value(there)}; its counts by patient make {_value(here)}"
                    raise ParticipantFault(f"{card}: {sentence}")


def _groups_again(card: Scorecard, rules: BoardRules) -> Iterator[tuple[str, object, object]]:
    """Where on the card, what stands there, and what its counts by patient make; None where it has none."""
    named = [name for name in rules.slices if name in card.slices]
    copies = any(name in card.robustness for name in rules.robustness)
    if not (named or copies):
        return
    with REMOVABLE:
        from sandscore.slices.robustness import robustness_again
        from sandscore.slices.slice_analysis import slices_again

    for name in named:
        yield f"/slices{pointer_to((name,))}", card.slices[name], slices_again(card, name)
    if copies:
        yield "/robustness", card.robustness, robustness_again(card)


def _plain(told: object) -> object:
    """Records as a reader finds them."""
    if isinstance(told, dict):
        return {name: _plain(one) for name, one in told.items()}
    return json.loads(told.model_dump_json()) if isinstance(told, BaseModel) else told


def _in_hand(cards: Sequence[Path], origin: _Origin, path: Path) -> list[RankedCard]:
    """Exact cards that the board does not name. The organiser's own name gold by its hash, where the board may name it
    by a hash that is keyed with a secret. Where the board names cards of totals, these are the cards that make them."""
    entries = read_cards(cards)
    if origin.policy is None:
        return entries
    known = dict(zip(sorted({entry.dataset for entry in entries}), origin.gold.values(), strict=False))
    entries = [entry.with_gold(known.get(entry.dataset)) for entry in entries]
    named = [(row.submission, card) for row in origin.rows for card in row.references]
    if not named or not entries:
        return entries
    from sandscore.records.totals_card import totals_of

    made = {(entry.submission, hashlib.sha256(totals_of(entry.card).content()).hexdigest()): entry for entry in entries}
    for submission, card in named:
        if (submission, card.sha256) not in made:
            raise ParticipantFault(
                f"{path}: no card at hand makes {one_line(card.path)}, the card of totals of {one_line(submission)}"
            )
    return [made[submission, card.sha256] for submission, card in named]


def _from_totals(said: object, cards: Sequence[_Found], path: Path) -> Verified:
    """What follows from counts alone: the board's, which those cards must have too."""
    from sandscore.verification.totals_verification import REFERENCES, made_of_totals, sides_of_card

    with refusing(path, "a board", ParticipantFault):
        board = Board.model_validate(_meant(said))
    policy, kept_back = policy_on(board.policy, board.config), covering(board.withheld)
    if board.policy is not None or policy.exact:
        _refuse_nameless(board, cards, kept_back, path)
    for found in cards:
        if not isinstance(found.card, RankedCard):
            for where, there, here in sides_of_card(board, found.card, found.row, found.site):
                if not _same(there, here):
                    sentence = f"{one_line(where)} is {_value(there)}; its card of totals says {_value(here)}"
                    raise ParticipantFault(f"{path}: {sentence}")
    made = made_of_totals(board, policy)
    copied = [pointer for pointer in made.copied if any(_shown(said, pointer.split("/")[1:]))]
    skipped = covering({*made.copied, *REFERENCES, *board.withheld, *_unsaid_fields(said)})
    compared = _compared(said, made.board, skipped, path, "its own numbers make")
    return Verified(compared, len(cards), tuple(copied), "totals", board.withheld)


def _refuse_nameless(board: Board, cards: Sequence[_Found], kept_back: re.Pattern[str], path: Path) -> None:
    """A row names its card, or the board says that cards are withheld."""
    there = {(found.row, found.site) for found in cards if not isinstance(found.card, RankedCard)}
    for at, row in enumerate(board.rows):
        for site in row.sites or (None,):
            where = f"/rows/{at}/card" if site is None else f"/rows/{at}/sites{pointer_to((site,))}/card"
            if (at, site) not in there and not kept_back.fullmatch(where):
                raise ParticipantFault(f"{path}: {one_line(where)} leads to no card of totals, and is not withheld")


def _compared(said: object, made: Board, skipped: re.Pattern[str], path: Path, makes: str) -> int:
    """How many values agree; the first that does not is a contradiction."""
    compared = 0
    for where, there, here in _walk("", said, _as_kind_of(said, json.loads(made.model_dump_json()))):
        if skipped.fullmatch(where):
            continue
        compared += 1
        if not _same(there, here):
            raise ParticipantFault(f"{path}: {one_line(where)} is {_value(there)}; {makes} {_value(here)}")
    return compared


def _refuse_wrong_silence(said: object, origin: _Origin, path: Path) -> None:
    """What is withheld must be absent, and no more may be withheld than the policy has it."""
    odd = sorted({*origin.withheld} - permitted_fields(policy_on(origin.policy, origin.config)))
    if odd:
        raise ParticipantFault(f"{path}: /withheld names {one_line(odd[0])}, which its policy does not keep back")
    for pointer in origin.withheld:
        for where, value in _shown(said, pointer.split("/")[1:]):
            raise ParticipantFault(f"{path}: {one_line(where)} is {_value(value)}, though the board withholds it")


def _shown(value: Any, steps: Sequence[str], where: str = "") -> Iterator[tuple[str, object]]:
    """What stands where a pointer leads and is not empty."""
    if not steps:
        if value not in (None, [], {}):
            yield where, value
        return
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        if steps[0] in ("*", str(key)):
            yield from _shown(one, steps[1:], f"{where}{pointer_to((key,))}")


def _meant(said: Any) -> Any:
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
    if SINCE in said["config"] and not _unsaid_fields(said) >= FIRST_SILENCE:
        return made
    made["warnings"] = [warning for warning in made["warnings"] if not warning.startswith(UNEVEN)]
    return made if SINCE in said["config"] else _without(NEWER, made)


def _unsaid_fields(said: Any) -> frozenset[str]:
    """What boards of that age do not say: all of its kind is missing. What only some of it says is compared."""
    config, found = _meant(said)["config"], frozenset[str]()
    if (
        config.get("tie_rule") != "stepdown"
        and config.get("interval") != "percentile_t"
        and _silent(said, FIRST_SILENCE)
    ):
        found = FIRST_SILENCE
    return found | PAIR_SILENCE if _silent(said, PAIR_SILENCE) else found


def _silent(said: object, pointers: frozenset[str]) -> bool:
    return not any(True for pointer in pointers for _ in _shown(said, pointer.split("/")[1:]))


def _without(names: frozenset[str], value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(names, inner) for name, inner in value.items() if name not in names}
    return [_without(names, inner) for inner in value] if isinstance(value, list) else value


def _cards_of(origin: _Origin, folders: Sequence[Path]) -> Iterator[_Found]:
    for at, row in enumerate(origin.rows):
        cells: list[tuple[str | None, _Cell]] = [(None, row), *row.sites.items()]
        for site, cell in cells:
            if cell.card is not None:
                yield _Found(_find(cell.card, folders), at, site)


def _find(reference: CardReference, folders: Sequence[Path]) -> "RankedCard | TotalsCard":
    """The card beside the board, or where the board says; a file with other content is not it."""
    named = Path(reference.path)
    places = [folder / place for folder in folders for place in (named, named.name, Path("cards", named.name))]
    there = [place for place in dict.fromkeys([*places, named]) if _is_file(place)]
    for place in there:
        content = file_content(place)
        if hashlib.sha256(content).hexdigest() == reference.sha256:
            card = totals_card(content, str(place))
            return card or replace(card_entry(content, str(place)), listed=reference.path)
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
            yield from _walk(f"{where}{pointer_to((key,))}", said.get(key, _ABSENT), made.get(key, _ABSENT))
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

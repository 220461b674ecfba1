"""A board and its cards on their way out: each card as the policy has it, and the board that names those cards."""

import hashlib
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.errors import OrganiserFault
from sandscore.disclosure.board_view import BoardItem, PlacedCard, hidden_columns, policy_of
from sandscore.disclosure.card_view import CardItem, ReleasedCard, card_content
from sandscore.disclosure.gate import release
from sandscore.disclosure.keyed_names import with_keyed_gold
from sandscore.disclosure.policy_choice import policy_for
from sandscore.disclosure.released import Audience, Released
from sandscore.ranking.card_reading import RankedCard
from sandscore.records.board import Board, CardReference
from sandscore.records.challenge import Challenge
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.scorecard import Scorecard
from sandscore.records.totals_card import TotalsCard

PlaceOf = Callable[[RankedCard], str]


class OutgoingCard(Struct, frozen=True):
    """A card that may leave; ``entry`` is the exact one. ``unchanged``: it leaves as the very file that it is."""

    released: Released[ReleasedCard | None]
    entry: RankedCard

    @property
    def unchanged(self) -> bool:
        return self.released.view is self.entry.card

    def sha256(self) -> str | None:
        """Of the bytes that leave."""
        if self.released.view is None:
            return None
        if self.unchanged:
            return self.entry.sha256
        return hashlib.sha256(card_content(self.released.view)).hexdigest()


class BoardRelease(Struct, frozen=True):
    """The board as everybody may have it, and the cards that it names, by the place where it says they lie."""

    board: Released[Board]
    cards: dict[str, OutgoingCard]


def release_board(
    board: Board,
    entries: Sequence[RankedCard],
    policy: DisclosurePolicy,
    *,
    place: PlaceOf,
    salt: bytes | None = None,
    columns: Sequence[str] | None = None,
) -> BoardRelease:
    """An exact board and the exact cards that it was ranked from. ``place`` says where a released card will lie, as
    seen from the board; with ``salt`` notes and patients are named by hashes."""
    hidden = hidden_columns(policy, columns) - ({"created"} & {*board.config.tie_break})
    return _release(board, entries, policy, _outgoing(entries, policy, salt, hidden), place, columns)


def _release(
    board: Board,
    entries: Sequence[RankedCard],
    policy: DisclosurePolicy,
    cards: Sequence[OutgoingCard],
    place: PlaceOf,
    columns: Sequence[str] | None,
) -> BoardRelease:
    files, placed = dict[str, OutgoingCard](), dict[tuple[str, str], PlacedCard]()
    for one in cards:
        view, sha256 = one.released.view, one.sha256()
        if view is not None and sha256 is not None:
            where = place(one.entry)
            files[where] = one
            reference = CardReference(path=where, sha256=sha256)
            placed[one.entry.submission, one.entry.dataset] = PlacedCard(view, reference)
    item = BoardItem(board=board, entries=entries, cards=placed, columns=columns)
    return BoardRelease(release(item, Audience.PUBLIC, policy), files)


def board_as_shown(
    board: Board, entries: Sequence[RankedCard], policy: DisclosurePolicy, columns: Sequence[str] | None
) -> Board:
    """The board alone, its cards staying where they are: it names them only where they may be seen as they are."""
    cards = _outgoing(entries, policy, None, frozenset())
    if not all(one.unchanged for one in cards):
        policy, cards = replace(policy, cards="none"), []
    return _release(board, entries, policy, cards, lambda entry: entry.listed, columns).board.view


def board_as_told(board: Board, entries: Sequence[RankedCard], challenge: Challenge, *, everything: bool) -> Board:
    """What the challenge lets everybody see of the board; or all of it, which carries the policy with it."""
    policy = policy_for(challenge, board.task, board.phase)
    if everything:
        return board.model_copy(update={"policy": policy_of(policy)})
    return board_as_shown(board, entries, policy, challenge.publication.columns)


def outgoing_card(card: Scorecard, policy: DisclosurePolicy, salt: bytes) -> ReleasedCard:
    """What may be published in place of the exact card."""
    keyed = with_keyed_gold(card, salt)
    view = release(CardItem(card=keyed, salt=salt), Audience.PUBLIC, policy).view
    if view is None:
        raise OrganiserFault("no score card may be published")
    return view


def _outgoing(
    entries: Sequence[RankedCard], policy: DisclosurePolicy, salt: bytes | None, hidden: frozenset[str]
) -> list[OutgoingCard]:
    """Every card as it may leave; one that leaves as totals makes it all of them."""
    made = []
    for entry in entries:
        item = CardItem(card=entry.card, salt=salt, hidden=hidden, team=entry.card.team, submission=entry.submission)
        made.append(OutgoingCard(release(item, Audience.PUBLIC, policy), entry))
    if policy.cards == "notes" and any(isinstance(one.released.view, TotalsCard) for one in made):
        return _outgoing(entries, replace(policy, cards="totals"), salt, hidden)
    return made

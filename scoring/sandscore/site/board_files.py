"""Boards and score cards from disk, and as everybody may have them."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict

from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.base.terminal_text import one_line
from sandscore.disclosure.board_release import release_board
from sandscore.disclosure.board_view import NAMELESS_SITE, BoardItem, PlacedCard
from sandscore.disclosure.card_view import card_content
from sandscore.disclosure.gate import release
from sandscore.disclosure.released import Audience, Released
from sandscore.ranking.card_reading import RankedCard, card_entry, totals_card
from sandscore.records.board import Board, CardReference, Row
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.records.record_reading import file_content, read_record, refusing
from sandscore.records.scorecard import ConfidenceCurve, ErrorKinds, MeasureScore
from sandscore.records.totals_card import TotalsCard
from sandscore.site.safety_lane import NoteLeak, note_leak
from sandscore.site.site_folder import file_name

NO_CARDS: Mapping[str, RankedCard] = {}


class CardFacts(BaseModel):
    """The part of a score card that a reader is shown."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    dataset: str | None = None
    measures: dict[str, MeasureScore]
    per_label: dict[str, dict[str, Any]] = {}
    errors: ErrorKinds | None = None
    note_leak: float | None = None
    per_note: dict[str, dict[str, tuple[int, ...]]] = {}
    units: dict[str, str] = {}
    confidence: ConfidenceCurve | None = None
    agreement: dict[str, Any] | None = None
    notes: int
    gold_annotations: int | None = None
    predicted_annotations: int | None = None


class FoundCard(Struct, frozen=True):
    """A card as it lies on disk."""

    content: bytes
    card: RankedCard | TotalsCard


class ShownCard(Struct, frozen=True):
    """A card as it is published, and what a reader is shown of it."""

    content: bytes
    facts: CardFacts
    leak: NoteLeak | None = None


class ReadBoard(Struct, frozen=True):
    """A board and those of its cards that were found; by submission, then by data set ("" where there is one)."""

    board: Board
    path: str
    cards: dict[str, dict[str, FoundCard]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every row's cards are at hand."""
        found = [len(self.cards.get(row.submission, ())) for row in self.board.rows]
        return all(found) and sum(found) == sum(len(references(row)) for row in self.board.rows)


class ShownBoard(Struct, frozen=True):
    """A board as everybody may have it, and the cards that go with it."""

    board: Released[Board]
    cards: dict[str, dict[str, ShownCard]] = field(default_factory=dict)


def shown_board(read: ReadBoard, policy: DisclosurePolicy, columns: Sequence[str] | None) -> ShownBoard:
    """What may leave of a board and its cards; cards lie beside it, by names that are safe everywhere."""
    found = (
        [(row, name, card) for row in read.board.rows for name, card in _of(read, row).items()] if read.complete else []
    )
    exact = {(row.submission, name): one for row, name, one in found if isinstance(one.card, RankedCard)}
    if exact and len(exact) == len(found):
        return _from_exact(read, exact, policy, columns)
    if not policy.exact and any(references(row) for row in read.board.rows):
        raise MissingFile(f"{read.path}: exact scores are not shown yet, and what is shown needs its score cards")
    placed, shown = dict[tuple[str, str], PlacedCard](), dict[str, dict[str, ShownCard]]()
    if policy.exact and policy.cards != "none":
        for row, name, one in found:
            if isinstance(one.card, TotalsCard):
                reference = references(row)[name].model_copy(update={"path": card_place(row.submission, name)})
                placed[row.submission, name] = PlacedCard(one.card, reference)
                shown.setdefault(row.submission, {})[name] = _shown(one.content, read.path)
    item = BoardItem(board=read.board, cards=placed, columns=columns)
    return ShownBoard(release(item, Audience.PUBLIC, policy), shown)


def _from_exact(
    read: ReadBoard,
    exact: Mapping[tuple[str, str], FoundCard],
    policy: DisclosurePolicy,
    columns: Sequence[str] | None,
) -> ShownBoard:
    several = any(row.sites for row in read.board.rows)
    entries = [one.card for one in exact.values() if isinstance(one.card, RankedCard)]
    own = {one.card.sha256: one.content for one in exact.values() if isinstance(one.card, RankedCard)}
    with refusing(read.path, "a board of whole cards", ParticipantFault):
        made = release_board(
            read.board,
            entries,
            policy,
            place=lambda entry: card_place(entry.submission, _site(entry, several)),
            columns=columns,
        )
    shown: dict[str, dict[str, ShownCard]] = {}
    for one in made.cards.values():
        if one.released.view is not None:
            content = own[one.entry.sha256] if one.unchanged else card_content(one.released.view)
            name = _site(one.entry, several)
            shown.setdefault(one.entry.submission, {})[name] = _shown(content, one.entry.path)
    return ShownBoard(made.board, shown)


def _site(entry: RankedCard, several: bool) -> str:
    return (entry.dataset or NAMELESS_SITE) if several else ""


def card_place(submission: str, dataset: str) -> str:
    """Where the site has a card, or would have it, as seen from its board: paths at home are nobody's business."""
    return f"cards/{file_name(submission)}{f'.{file_name(dataset)}' if dataset else ''}.json"


def _of(read: ReadBoard, row: Row) -> Mapping[str, FoundCard]:
    return read.cards.get(row.submission, {})


def _shown(content: bytes, path: str) -> ShownCard:
    """Of bytes that were read, or written, as a card before."""
    with refusing(path, "a score card", ParticipantFault):
        facts = CardFacts.model_validate_json(content)
    leak = note_leak(facts.note_leak, facts.per_note if facts.agreement is None else {}, facts.units)
    return ShownCard(content, facts.model_copy(update={"per_note": {}, "units": {}}), leak)


def read_board(path: Path, known: Mapping[str, RankedCard] = NO_CARDS) -> ReadBoard:
    """The board in a file, and those of its cards that lie beside it or where it names them. What bytes of a SHA-256
    among the ``known`` say is not read again."""
    board = read_record(Board, file_content(path), path, "a board", ParticipantFault)
    _refuse_repetition(board.rows, path)
    cards = {row.submission: _cards(row, path.parent, known) for row in board.rows}
    return ReadBoard(board, str(path), {name: found for name, found in cards.items() if found})


def references(row: Row) -> dict[str, CardReference]:
    """Where a row's cards lie, by data set; "" where the row has but one."""
    if row.card is not None:
        return {"": row.card}
    return {name: site.card for name, site in row.sites.items() if site.card is not None}


def _refuse_repetition(rows: Sequence[Row], path: Path) -> None:
    names = [row.submission for row in rows]
    twice = next((name for name in names if names.count(name) > 1), None) if len({*names}) < len(names) else None
    if twice is not None:
        raise ParticipantFault(f"{path}: two rows are called {twice!r}")


def _cards(row: Row, folder: Path, known: Mapping[str, RankedCard]) -> dict[str, FoundCard]:
    found = {name: _card(named, folder, known) for name, named in references(row).items()}
    return {name: card for name, card in found.items() if card is not None}


def _card(reference: CardReference, folder: Path, known: Mapping[str, RankedCard]) -> FoundCard | None:
    named = Path(reference.path)
    content = _content([folder / named, folder / "cards" / named.name, named], reference.sha256)
    if content is None:
        return None
    where = one_line(reference.path)
    if (same := known.get(reference.sha256)) is not None:
        return FoundCard(content, replace(same, path=where, listed=Path(where).as_posix()))
    return FoundCard(content, totals_card(content, where) or card_entry(content, where))


def _content(places: Iterable[Path], sha256: str) -> bytes | None:
    """The bytes the board was made from; others under the same name are a fault, none at all is not."""
    there = [place for place in dict.fromkeys(places) if place.is_file()]
    for place in there:
        content = file_content(place)
        if hashlib.sha256(content).hexdigest() == sha256:
            return content
    if there:
        raise ParticipantFault(f"{there[0]} is not the card this board was made from: its SHA-256 differs")
    return None

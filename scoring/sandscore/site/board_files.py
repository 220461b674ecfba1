"""Boards from disk, with what their score cards say beyond the numbers that are ranked."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from pydantic import BaseModel, ConfigDict

from sandscore.base.errors import ParticipantFault
from sandscore.records.board import Board, CardReference, Row
from sandscore.records.record_reading import file_content, read_record
from sandscore.records.scorecard import ConfidenceCurve, ErrorKinds, MeasureScore


class CardFacts(BaseModel):
    """The part of a score card that a reader is shown."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    dataset: str | None = None
    measures: dict[str, MeasureScore]
    per_label: dict[str, dict[str, Any]] = {}
    errors: ErrorKinds | None = None
    note_leak: float | None = None
    confidence: ConfidenceCurve | None = None
    notes: int
    gold_annotations: int
    predicted_annotations: int
    units: dict[str, str]

    @property
    def hides_notes(self) -> bool:
        """Whether the notes go by keyed hashes, as ``score --publish`` writes them."""
        return all(len(note) == 16 and set(note) <= set("0123456789abcdef") for note in self.units)


class Card(Struct, frozen=True):
    """A card as it lies on disk, and what it says."""

    content: bytes
    facts: CardFacts


class ReadBoard(Struct, frozen=True):
    """A board and the cards that were found; by submission, then by data set ("" where there is one)."""

    board: Board
    cards: dict[str, dict[str, Card]] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every row's cards are at hand, so that a stranger can recompute the board."""
        found = [len(self.cards.get(row.submission, ())) for row in self.board.rows]
        return all(found) and sum(found) == sum(len(references(row)) for row in self.board.rows)

    @property
    def hides_notes(self) -> bool:
        return all(card.facts.hides_notes for cards in self.cards.values() for card in cards.values())


def read_board(path: Path) -> ReadBoard:
    """The board in a file, and those of its cards that lie beside it or where it names them."""
    board = read_record(Board, file_content(path), path, "a board", ParticipantFault)
    _refuse_repetition(board.rows, path)
    cards = {row.submission: _cards(row, path.parent) for row in board.rows}
    return ReadBoard(board, {name: found for name, found in cards.items() if found})


def references(row: Row) -> dict[str, CardReference]:
    """Where a row's cards lie, by data set; "" where the row has but one."""
    if row.card is not None:
        return {"": row.card}
    return {name: site.card for name, site in row.sites.items()}


def _refuse_repetition(rows: Sequence[Row], path: Path) -> None:
    names = [row.submission for row in rows]
    twice = next((name for name in names if names.count(name) > 1), None) if len({*names}) < len(names) else None
    if twice is not None:
        raise ParticipantFault(f"{path}: two rows are called {twice!r}")


def _cards(row: Row, folder: Path) -> dict[str, Card]:
    return {name: card for name, named in references(row).items() if (card := _card(named, folder)) is not None}


def _card(reference: CardReference, folder: Path) -> Card | None:
    named = Path(reference.path)
    content = _content([folder / named, folder / "cards" / named.name, named], reference.sha256)
    if content is None:
        return None
    return Card(content, read_record(CardFacts, content, reference.path, "a score card", ParticipantFault))


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

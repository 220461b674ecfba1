"""Statements about a board: its maker's signature, and a witness's word that it was computed again from its cards."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from sandscore.attestation.canonical_json import content_hash
from sandscore.attestation.signed_statement import (
    BOARD_PREDICATE,
    RECOMPUTATION_PREDICATE,
    Statement,
    claimed_keys,
    envelope,
    read_envelope,
)
from sandscore.attestation.signing_keys import SignerKey, VerifierKey, verifier_key
from sandscore.base.errors import ParticipantFault, SandscoreError
from sandscore.base.terminal_text import one_line
from sandscore.records.record_reading import file_content


class StatementHeld(Struct, frozen=True):
    """What was signed, by which key, and whether that is one of those whom the reader trusts.

    Of a witness also: the version that recomputed, and of how many cards.
    """

    kind: Literal["signed", "attested"]
    key: str
    trusted: bool
    sandscore: str | None = None
    cards: int | None = None


def signed_board(name: str, content: bytes, board: Mapping[str, Any], key: SignerKey) -> bytes:
    """The maker's: an envelope around the board itself."""
    return envelope(name, content, BOARD_PREDICATE, {"board": board}, [key])


def witnessed_board(
    name: str, content: bytes, board: Mapping[str, Any], made: Mapping[str, object], key: SignerKey
) -> bytes:
    """A witness's: ``made`` says how it was recomputed and of which cards."""
    said = {"board": content_hash(board), "level": "recomputed", **made}
    return envelope(name, content, RECOMPUTATION_PREDICATE, said, [key])


def hold_against_statement(
    board: Mapping[str, Any], name: object, path: Path, trusted: Sequence[VerifierKey]
) -> StatementHeld:
    """Refused where the envelope was touched, or speaks of another board."""
    content = file_content(path)
    claimed = [key for text in claimed_keys(content, path) if (key := _known(text)) is not None]
    statement, key = read_envelope(content, path, [*trusted, *claimed])
    believed = key in trusted
    if statement.predicate_type == BOARD_PREDICATE:
        _refuse_other(content_hash(statement.predicate.get("board")), board, name, path, key)
        return StatementHeld("signed", key.text, believed)
    if statement.predicate_type == RECOMPUTATION_PREDICATE:
        said = statement.predicate
        _refuse_other(said.get("board"), board, name, path, key)
        return _attested(statement, key, believed, path)
    raise ParticipantFault(f"{path} is a statement of another kind: {one_line(statement.predicate_type)}")


def _attested(statement: Statement, key: VerifierKey, believed: bool, path: Path) -> StatementHeld:
    version, cards = statement.predicate.get("sandscore"), statement.predicate.get("cards")
    if statement.predicate.get("level") != "recomputed" or not isinstance(version, str) or not isinstance(cards, list):
        raise ParticipantFault(f"{path} does not say that the board was recomputed, with which version, of which cards")
    return StatementHeld("attested", key.text, believed, version, len(cards))


def _refuse_other(said: object, board: Mapping[str, Any], name: object, path: Path, key: VerifierKey) -> None:
    if said != content_hash(board):
        raise ParticipantFault(f"{name} is not the board that {key.name} signed in {path}")


def _known(text: str) -> VerifierKey | None:
    try:
        return verifier_key(text)
    except SandscoreError:
        return None

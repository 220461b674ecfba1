"""Verification as calls: a board recomputed, held against log, signatures and witnesses; keys, and witnessing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore import __version__
from sandscore.api.output_files import write
from sandscore.api.results import RankedBoard
from sandscore.attestation.evidence_files import STATEMENT_ENDING, statements_beside
from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.ranking.card_reading import RankedCard, card_entry, totals_card
from sandscore.records.board import Board
from sandscore.records.record_reading import file_content, read_json
from sandscore.verification.board_verification import Verified
from sandscore.verification.board_verification import verify as recomputed

if TYPE_CHECKING:
    from sandscore.attestation.board_statements import StatementHeld
    from sandscore.attestation.log_verification import LogHeld
    from sandscore.attestation.signing_keys import VerifierKey
    from sandscore.records.disclosure_policy import DisclosurePolicy

Steps = AbstractContextManager[Callable[[int], object]]


class Evidence(Struct, frozen=True, kw_only=True):
    """What a board is held against beside its cards.

    ``checkpoint``: one of the log's that was kept from before. ``keys`` and ``log_keys``: public keys of witnesses and
    of logs that are trusted, or files with one a line. Statements that lie beside the board are read too.
    """

    log: Path | None = None
    checkpoint: Path | None = None
    receipts: Sequence[Path] = ()
    statements: Sequence[Path] = ()
    keys: Sequence[str] = ()
    log_keys: Sequence[str] = ()


class Upheld(Struct, frozen=True):
    """What the log and the statements say; a contradiction would have been an error."""

    log: "LogHeld | None"
    statements: "tuple[StatementHeld, ...]"

    @property
    def attested(self) -> bool:
        """Whether a witness whom the reader trusts recomputed the board."""
        return any(one.kind == "attested" and one.trusted for one in self.statements)


class Checked(Struct, frozen=True):
    """What was recomputed, and what upholds the rest."""

    verified: Verified
    upheld: Upheld

    @property
    def level(self) -> str:
        return "attested" if self.upheld.attested else self.verified.level


def _unfollowed() -> Steps:
    return nullcontext(lambda _: None)


def verify(
    board: "RankedBoard | str | Path",
    cards: Iterable[str | Path] | None = None,
    *,
    testing: Callable[[], Steps] = _unfollowed,
    require: str | None = None,
) -> Verified:
    """Recomputes every number of a board from its score cards; the first value that differs is an error that names it.

    The cards lie beside the board or where it names them; ``cards`` are for a board that hides which they are.
    Where only totals are at hand, what follows from them is recomputed, and the rest is named: ``level`` says which it
    was, and ``require="recomputed"`` makes everything that was only compared an error.

    >>> ss.verify("leaderboard/date-final/board.json").cards
    2
    """
    if isinstance(board, RankedBoard):
        import tempfile

        with tempfile.TemporaryDirectory(prefix="sandscore-") as folder:
            place = Path(folder) / "board.json"
            board.save(place)
            return verify(place, cards, testing=testing, require=require)
    with testing() as advance:
        verified = recomputed(Path(board), [Path(card) for card in cards or ()], advance, as_everybody_sees)
    if require is not None and (verified.level != require or verified.not_recomputed):
        left = ", ".join(map(one_line, verified.not_recomputed)) or "what its cards of totals do not say"
        raise ParticipantFault(f"{board}: level {verified.level}, not {require}; not recomputed: {left}")
    return verified


def as_everybody_sees(board: Board, entries: Sequence[RankedCard], policy: "DisclosurePolicy") -> Board:
    """What was ranked again, as the board's policy shows it."""
    from sandscore.disclosure.board_view import recomputed_view

    return recomputed_view(board, entries, policy)


def check(
    board: str | Path,
    cards: Iterable[str | Path],
    evidence: Evidence,
    *,
    require: str | None = None,
    testing: Callable[[], Steps] = _unfollowed,
) -> Checked:
    """``verify`` and ``uphold`` together; ``require`` is the level that must be reached."""
    checked = Checked(
        verify(board, cards, testing=testing, require="recomputed" if require == "recomputed" else None),
        uphold(board, evidence),
    )
    if require == "attested" and not checked.upheld.attested:
        raise ParticipantFault(
            f"{board}: level {checked.level}, not attested: no witness whose key you named signed it"
        )
    return checked


def uphold(board: str | Path, evidence: Evidence) -> Upheld:
    """Holds a board against its log, receipts and statements; the first contradiction is an error that names it."""
    path = Path(board)
    said, trusted = _board(path), _keys(evidence.keys)
    held = _held_against_log(said, path, evidence)
    places = dict.fromkeys([*statements_beside(path), *evidence.statements])
    if not places:
        return Upheld(held, ())
    from sandscore.attestation.board_statements import hold_against_statement

    return Upheld(held, tuple(hold_against_statement(said, path, place, trusted) for place in places))


def _held_against_log(said: Mapping[str, object], path: Path, evidence: Evidence) -> "LogHeld | None":
    if evidence.log is None:
        if evidence.checkpoint or evidence.receipts or evidence.log_keys:
            raise UsageFault("checkpoints, receipts and keys of logs are held against a log: name it")
        return None
    from sandscore.attestation.log_reading import read_log, read_receipt
    from sandscore.attestation.log_verification import hold_against_log, refuse_fork

    log = read_log(evidence.log, _keys(evidence.log_keys))
    if evidence.checkpoint is not None:
        refuse_fork(evidence.checkpoint, log)
    return hold_against_log(said, path, log, [read_receipt(receipt) for receipt in evidence.receipts])


def witness(
    board: str | Path,
    cards: str | Path,
    key: str | Path,
    output: str | Path | None = None,
    testing: Callable[[], Steps] = _unfollowed,
) -> Path:
    """Recomputes a board from the cards in a folder, and writes a signed statement that says so; where it lies.

    A board that withholds its cards, or names cards of totals, is recomputed from the exact ones among them.
    """
    from sandscore.attestation.board_statements import witnessed_board
    from sandscore.attestation.signing_keys import read_key

    path, signer = Path(board), read_key(Path(key))
    said, folder = _board(path), Path(cards)
    with testing() as advance:
        verified = recomputed(path, _exact_cards(said, folder), advance, as_everybody_sees, folder)
    if verified.not_recomputed or verified.level != "recomputed":
        raise ParticipantFault(f"{path} is not recomputed as a whole: {', '.join(verified.not_recomputed)}")
    made = {"sandscore": __version__, "values": verified.values, "cards": [{"sha256": one} for one in verified.hashes]}
    content = file_content(path)
    target = Path(output) if output else path.with_name(f"{path.stem}.{_plain(signer.name)}{STATEMENT_ENDING}")
    write(target, [witnessed_board(path.name, content, said, made, signer)])
    return target


def make_key(name: str, path: str | Path) -> str:
    """A new key of Ed25519 in a file for its owner alone; its public half."""
    from sandscore.attestation.signing_keys import new_key, write_key

    key = new_key(name)
    write_key(key, Path(path))
    return key.public.text


def _exact_cards(board: dict[str, object], folder: Path) -> list[Path]:
    """Cards of the board's rows with a count for each note, each once."""
    rows = board.get("rows")
    names = {row.get("submission") for row in rows if isinstance(row, dict)} if isinstance(rows, list) else set()
    found: dict[str, Path] = {}
    for path in sorted(folder.glob("*.json")):
        content = file_content(path)
        if b'"per_note"' in content and totals_card(content, str(path)) is None:
            entry = card_entry(content, str(path))
            if entry.card.task == board.get("task") and entry.submission in names:
                found.setdefault(entry.sha256, path)
    return list(found.values())


def _plain(name: str) -> str:
    return "".join(character if character.isalnum() else "-" for character in name)


def _board(path: Path) -> dict[str, object]:
    said = read_json(file_content(path), path, "a board", ParticipantFault)
    if not isinstance(said, dict):
        raise ParticipantFault(f"{path} is not a board: it is not an object")
    return said


def _keys(given: Sequence[str]) -> "list[VerifierKey]":
    found = []
    if given:
        from sandscore.attestation.signing_keys import verifier_key
    for one in given:
        lines = [one] if "+" in one else file_content(Path(one)).decode("utf-8", "replace").split("\n")
        found += [verifier_key(line) for line in lines if line]
    return found

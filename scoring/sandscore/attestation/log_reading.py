"""A published log, read by somebody who believes nothing of it: lines, tree, checkpoint, keys and openings."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from sandscore.attestation.log_lines import (
    CommitmentLine,
    DataLine,
    DataOpening,
    GoldLine,
    KeyLine,
    LogLine,
    Opening,
    Receipt,
    SubmissionLine,
    SubmissionOpening,
    decoded,
    gold_name,
    handed_in_content,
    opened,
)
from sandscore.attestation.merkle_tree import edge_of
from sandscore.attestation.signed_note import Checkpoint, SignedNote, read_checkpoint, read_note
from sandscore.attestation.signing_keys import VerifierKey, unbase64, verifier_key
from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.base.terminal_text import one_line
from sandscore.records.record_reading import file_content

ENTRIES, CHECKPOINT, OPENINGS = "entries.jsonl", "checkpoint", "openings.jsonl"
_OPENING: "msgspec.json.Decoder[Opening]" = msgspec.json.Decoder(Opening)
_RECEIPT = msgspec.json.Decoder(Receipt)


class ReadLog(Struct, frozen=True):
    """Lines that make the root of a checkpoint which the log's own key signed."""

    place: Path
    content: Sequence[bytes]
    lines: Sequence[LogLine]
    checkpoint: Checkpoint
    note: SignedNote
    keys: Sequence[VerifierKey]
    openings: Mapping[int, SubmissionOpening]
    data: Sequence[DataOpening] = ()

    def where(self, position: int) -> str:
        """For sentences: people count lines from 1."""
        return f"line {position + 1} of {self.place / ENTRIES}"

    def root_at(self, size: int) -> bytes:
        """Of the first so many lines."""
        return edge_of(self.content[:size]).root()


def read_log(place: Path, trusted: Sequence[VerifierKey] = ()) -> ReadLog:
    """The log in a folder; refused where its parts contradict each other, or no ``trusted`` key is one of its own.

    Without such keys it is only held against itself: who made it is not known.
    """
    place = place.parent if place.name in (ENTRIES, CHECKPOINT) else place
    if not place.is_dir():
        raise MissingFile(f"{place}: there is no such folder of a log")
    content = _lines_of(place / ENTRIES)
    lines = [decoded(line, f"line {number} of {place / ENTRIES}") for number, line in enumerate(content, 1)]
    name = place / CHECKPOINT
    note = read_note(file_content(name), name)
    checkpoint = read_checkpoint(note, name)
    _refuse_other_lines(content, checkpoint, place)
    keys = list(_keys(lines, place))
    if not keys:
        raise ParticipantFault(f"{place / ENTRIES} names no key; a log begins with one")
    if trusted and not {key.text for key in trusted} & {key.text for key in keys}:
        raise ParticipantFault(f"{name} is not signed by {' or '.join(key.name for key in trusted)}: another log")
    if not note.signed_by(keys[-1]):
        raise ParticipantFault(f"{name} bears no signature of the log's key {keys[-1].text}")
    opened = [*_openings(place / OPENINGS, lines)]
    openings = {one.position: one for one in opened if isinstance(one, SubmissionOpening)}
    data = [one for one in opened if isinstance(one, DataOpening)]
    return ReadLog(place, content, lines, checkpoint, note, keys, openings, data)


def read_receipt(path: Path) -> Receipt:
    """A team's receipt; refused where its hash is not that of what it says."""
    try:
        receipt = _RECEIPT.decode(file_content(path))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise ParticipantFault(f"{path} is not a receipt: {one_line(str(fault))}") from None
    if not receipt.holds:
        raise ParticipantFault(f"{path} does not open its line: its hash is not that of what it says")
    return receipt


def _lines_of(path: Path) -> list[bytes]:
    content = file_content(path)
    if not content:
        return []
    if not content.endswith(b"\n"):
        raise ParticipantFault(f"{path} ends within a line")
    return content[:-1].split(b"\n")


def _refuse_other_lines(content: Sequence[bytes], checkpoint: Checkpoint, place: Path) -> None:
    there, said = len(content), checkpoint.size
    if there != said:
        what = "lines are missing" if there < said else "nobody has signed the last of them yet"
        raise ParticipantFault(f"{place / ENTRIES} has {there} lines, its checkpoint says {said}: {what}")
    if edge_of(content).root() != checkpoint.root:
        raise ParticipantFault(f"{place / ENTRIES} was rewritten: its lines do not make the root of its checkpoint")


def _keys(lines: Sequence[LogLine], place: Path) -> Iterator[VerifierKey]:
    """In the order in which they took each other's place, each approved by the one before."""
    before: VerifierKey | None = None
    for number, line in enumerate(lines, 1):
        if not isinstance(line, KeyLine):
            continue
        key = verifier_key(line.key, ParticipantFault)
        approval = unbase64(line.approval or "")
        approved = before is not None and approval is not None and before.verifies(approval, approving(line.key))
        if before is not None and (line.before != before.text or not approved):
            raise ParticipantFault(f"line {number} of {place / ENTRIES}: a key that the one before did not approve")
        before = key
        yield key


def approving(key: str) -> bytes:
    """What the key before signs, so that this one may take its place."""
    return f"sandscore key rotation\n{key}\n".encode()


def _openings(path: Path, lines: Sequence[LogLine]) -> Iterator[Opening]:
    """Held against their lines."""
    if not path.is_file():
        return
    for number, written in enumerate(_lines_of(path), 1):
        try:
            one: Opening = _OPENING.decode(written)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
            raise ParticipantFault(f"line {number} of {path} opens nothing: {one_line(str(fault))}") from None
        if not 0 <= one.position < len(lines) or not _opens(one, lines[one.position]):
            raise ParticipantFault(f"line {number} of {path} does not open line {one.position + 1} of the log")
        yield one


def _opens(one: Opening, line: LogLine) -> bool:
    if isinstance(one, SubmissionOpening):
        made = opened(one.salt, handed_in_content(one.handed_in))
        return isinstance(line, SubmissionLine) and line.sha256 == made
    hashes = line.hashes if isinstance(line, CommitmentLine) else {}
    hashes = {gold_name(line.task): line.sha256} if isinstance(line, GoldLine) else hashes
    hashes = {line.name: line.sha256} if isinstance(line, DataLine) else hashes
    return one.name in hashes and hashes[one.name] == opened(one.salt, one.content.encode())

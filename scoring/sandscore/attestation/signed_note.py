"""Signed notes and checkpoints as C2SP defines them (signed-note, tlog-checkpoint, tlog-cosignature).

A checkpoint is a note of three lines: the log's name, how many lines it has, the root of their tree. Below it stand the
signatures: the log's own, and those of witnesses.
"""

import re
import struct
from collections.abc import Iterable, Sequence

from msgspec import Struct

from sandscore.attestation.signing_keys import COSIGNATURE, SignerKey, VerifierKey, base64_text, unbase64
from sandscore.base.errors import ParticipantFault

_SIGNED = re.compile("— ([^\\s+]+) ([A-Za-z0-9+/=]+)")
_MARK, _TIME, _SIGNATURE = 4, 8, 64
_NUMBER = re.compile("0|[1-9][0-9]{0,18}")
_ROOT_BYTES = 32


class NoteSignature(Struct, frozen=True):
    """One line under a note: whose, by which key, and the bytes that follow its mark."""

    name: str
    mark: bytes
    content: bytes


class SignedNote(Struct, frozen=True):
    """A note, every line ended, and the signatures below it."""

    text: str
    signatures: Sequence[NoteSignature]

    def signed_by(self, key: VerifierKey) -> bool:
        """A signature of a key that nobody knows is passed over; one of this key must be right."""
        own = [one for one in self.signatures if (one.name, one.mark) == (key.name, key.mark)]
        return bool(own) and all(_holds(key, one.content, self.text.encode()) for one in own)


class Checkpoint(Struct, frozen=True):
    """A log's name, how many lines it had, and the root of the tree over them."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64_text(self.root)}\n"


def sign_note(text: str, keys: Iterable[SignerKey]) -> str:
    """The note with a signature of each key below it."""
    lines = []
    for key in keys:
        signature = base64_text(key.public.mark + key.sign(text.encode()))
        lines.append(f"— {key.name} {signature}\n")
    return f"{text}\n{''.join(lines)}"


def read_note(content: bytes, name: object) -> SignedNote:
    """Refused where it is not exactly a note with signatures."""
    try:
        whole = content.decode("utf-8")
    except UnicodeDecodeError:
        raise ParticipantFault(f"{name} is not a signed note: it is not UTF-8") from None
    text, separator, below = whole.rpartition("\n\n")
    odd = any(character < " " and character != "\n" for character in whole)
    if not separator or not text or odd or not below.endswith("\n"):
        raise ParticipantFault(f"{name} is not a signed note: text, an empty line, and signatures")
    return SignedNote(f"{text}\n", tuple(_signature(line, name) for line in below[:-1].split("\n")))


def read_checkpoint(note: SignedNote, name: object) -> Checkpoint:
    """What the note says of its log."""
    origin, *more = note.text[:-1].split("\n")
    root = unbase64(more[1]) if len(more) == 2 else None
    if not origin or root is None or len(root) != _ROOT_BYTES or not _NUMBER.fullmatch(more[0]):
        raise ParticipantFault(f"{name} is not a checkpoint: the log's name, its size, the root of its tree")
    return Checkpoint(origin, int(more[0]), root)


def _signature(line: str, name: object) -> NoteSignature:
    found = _SIGNED.fullmatch(line)
    content = unbase64(found[2]) if found else None
    if found is None or content is None or len(content) <= _MARK:
        raise ParticipantFault(f"{name} is not a signed note: a line of its signatures is none")
    return NoteSignature(found[1], content[:_MARK], content[_MARK:])


def _holds(key: VerifierKey, content: bytes, text: bytes) -> bool:
    if key.kind != COSIGNATURE:
        return len(content) == _SIGNATURE and key.verifies(content, text)
    if len(content) != _TIME + _SIGNATURE:
        return False
    (moment,) = struct.unpack(">Q", content[:_TIME])
    return key.verifies(content[_TIME:], f"cosignature/v1\ntime {moment}\n".encode() + text)

"""Lines of a challenge's log, one JSON object each, and the salted hashes by which they keep to themselves what they
are about.

A hash is SHA-256 of 32 bytes of salt and then the content. Salts follow from the challenge's secret salt and the name
of what is hidden, so that a line that is made again is the same line.
"""

import hashlib
import hmac
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from sandscore.attestation.canonical_json import canonical, content_hash
from sandscore.base.errors import ParticipantFault
from sandscore.base.terminal_text import one_line

CHALLENGE, NOTES, PRACTICE = "challenge", "notes", "practice"
_SALT_BYTES = 32


class _Line(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="kind"):
    """All lines; the kind stands first."""


class KeyLine(_Line, frozen=True, tag="key"):
    """The key that signs checkpoints from here on. One that takes another's place is approved by that one."""

    key: str
    before: str | None = None
    approval: str | None = None


class CommitmentLine(_Line, frozen=True, tag="commitment"):
    """A phase begins: the salted hashes of what it is about, by name, and what boards will call its gold, by task."""

    phase: str | None
    hashes: dict[str, str]
    gold: dict[str, str]


class GoldLine(_Line, frozen=True, tag="gold"):
    """From here on another gold is scored with."""

    phase: str | None
    task: str
    sha256: str
    gold: str


class DataLine(_Line, frozen=True, tag="data"):
    """From here on other notes, another challenge.toml or other practice notes are in force: their salted hash."""

    phase: str | None
    name: str
    sha256: str


class SubmissionLine(_Line, frozen=True, tag="submission"):
    """Something was handed in and accepted."""

    sha256: str


class BoardLine(_Line, frozen=True, tag="board"):
    """A board with so many rows; which lines have been scored since the one before, and which no longer count."""

    task: str
    phase: str | None
    content: str
    rows: int
    scored: tuple[int, ...] = ()
    withdrawn: tuple[int, ...] = ()


LogLine = KeyLine | CommitmentLine | GoldLine | DataLine | SubmissionLine | BoardLine
_DECODER: "msgspec.json.Decoder[LogLine]" = msgspec.json.Decoder(LogLine)


class HandedIn(Struct, frozen=True, forbid_unknown_fields=True):
    """What a line about a submission is made of. ``content``: its file as ``sha256:…``, or its image by digest."""

    submission: str
    task: str
    phase: str | None
    content: str


class Receipt(Struct, frozen=True, forbid_unknown_fields=True):
    """What opens a line about a submission: for its team."""

    log: str
    position: int
    sha256: str
    submission: str
    task: str
    phase: str | None
    content: str
    salt: str

    @property
    def holds(self) -> bool:
        """Whether the hash is that of what it says."""
        given = HandedIn(self.submission, self.task, self.phase, self.content)
        return opened(self.salt, handed_in_content(given)) == self.sha256


class DataOpening(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="data"):
    """What opens one hash of a phase's data for everybody: a file's salt and, as ``sha256:…``, its own hash."""

    position: int
    name: str
    salt: str
    content: str


class SubmissionOpening(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="submission"):
    """What opens a line about a submission for everybody."""

    position: int
    salt: str
    handed_in: HandedIn


Opening = DataOpening | SubmissionOpening


def encoded(line: LogLine) -> bytes:
    """As it stands in the log, without its newline."""
    return msgspec.json.encode(line)


def decoded(line: bytes, where: str) -> LogLine:
    """Refused where it is none, or would be written otherwise."""
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as fault:
        raise ParticipantFault(f"{where} is not a line of a log: {one_line(str(fault))}") from None


def salt_of(secret: bytes, name: str) -> bytes:
    return hmac.new(secret, b"sandscore log\0" + name.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()


def salted(salt: bytes, content: bytes) -> str:
    return hashlib.sha256(salt + content).hexdigest()


def handed_in_content(given: HandedIn) -> bytes:
    """What is hashed of a submission: neither its team nor when it came."""
    return canonical(msgspec.to_builtins(given))


def submission_line(secret: bytes, given: HandedIn) -> SubmissionLine:
    return SubmissionLine(salted(submission_salt(secret, given), handed_in_content(given)))


def submission_salt(secret: bytes, given: HandedIn) -> bytes:
    return salt_of(secret, f"submission\0{given.submission}")


def data_salt(secret: bytes, phase: str | None, name: str) -> bytes:
    """Of the notes, the gold or another file of a phase."""
    return salt_of(secret, f"data\0{phase or ''}\0{name}")


def gold_name(task: str) -> str:
    """Under which gold stands among the hashes of a phase."""
    return f"gold/{task}"


def board_content(board: Mapping[str, object]) -> str:
    """The hash of what every published form of a board says: not where cards lie, nor what may be left out."""
    left = {name: value for name, value in board.items() if name != "withheld"}
    rows = board.get("rows")
    if isinstance(rows, list):
        left["rows"] = [_results(row) for row in rows]
    return content_hash(left)


_OPTIONAL = frozenset({"image", "created", "run"})


def _results(row: object) -> object:
    if not isinstance(row, dict):
        return row
    kept = {
        name: _placeless(value) if name == "card" else value for name, value in row.items() if name not in _OPTIONAL
    }
    sites = kept.get("sites")
    if isinstance(sites, dict):
        kept["sites"] = {name: _results(site) for name, site in sites.items()}
    return kept


def _placeless(card: object) -> object:
    return {name: value for name, value in card.items() if name != "path"} if isinstance(card, dict) else card


def opened(salt: str, content: bytes) -> str | None:
    """The hash that this salt makes of the content; None where it is no salt as we write them."""
    try:
        given = bytes.fromhex(salt)
    except ValueError:
        return None
    return salted(given, content) if given.hex() == salt and len(given) == _SALT_BYTES else None

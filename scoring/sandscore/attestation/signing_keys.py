"""Ed25519 keys in the text form of signed notes: ``name+hash+base64``, and ``PRIVATE+KEY+…`` for the secret half.

A key of kind 1 signs notes and statements. One of kind 4 belongs to a witness of logs: its signature carries the time.
The arithmetic is that of the package ``cryptography``.
"""

import base64
import binascii
import hashlib
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.base.errors import MissingFile, OrganiserFault, SandscoreError, UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.base.whole_files import told, write_file

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ED25519, COSIGNATURE = 1, 4
_KINDS = (ED25519, COSIGNATURE)
_PRIVATE = "PRIVATE+KEY+"
_KEY_BYTES = 32
_NAME = re.compile(r"[^\s+]{1,200}")
_OTHERS = 0o077
OWNER_FILE = 0o600


class VerifierKey(Struct, frozen=True):
    """The public half, and the name of whoever holds the secret one."""

    name: str
    public: bytes
    kind: int = ED25519

    @property
    def mark(self) -> bytes:
        """The four bytes by which a signature names its key."""
        return _mark(self.name, self.kind, self.public)

    @property
    def text(self) -> str:
        return f"{self.name}+{self.mark.hex()}+{base64_text(bytes([self.kind]) + self.public)}"

    def verifies(self, signature: bytes, message: bytes) -> bool:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except InvalidSignature:
            return False
        return True


class SignerKey(Struct, frozen=True):
    """The secret half."""

    name: str
    secret: bytes

    def __repr__(self) -> str:
        return f"SignerKey({self.name!r})"

    @property
    def public(self) -> VerifierKey:
        return VerifierKey(self.name, self._private().public_key().public_bytes_raw())

    @property
    def text(self) -> str:
        mark = self.public.mark.hex()
        return f"{_PRIVATE}{self.name}+{mark}+{base64_text(bytes([ED25519]) + self.secret)}"

    def sign(self, message: bytes) -> bytes:
        return self._private().sign(message)

    def _private(self) -> "Ed25519PrivateKey":
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self.secret)


def new_key(name: str) -> SignerKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not _NAME.fullmatch(name) or not name.isprintable():
        raise UsageFault("a key's name has 1 to 200 characters, no blank and no + among them")
    return SignerKey(name, Ed25519PrivateKey.generate().private_bytes_raw())


def verifier_key(text: str, fault: type[SandscoreError] = UsageFault) -> VerifierKey:
    """The public key in this text; a fault where it is none."""
    name, mark, content = _parts(text, fault, "a public key")
    key = VerifierKey(name, content[1:], content[0])
    if key.mark.hex() != mark or key.text != text:
        raise fault(f"{one_line(text)} is not a public key: its hash is not that of its name and content")
    return key


def write_key(key: SignerKey, path: Path) -> None:
    """For its owner alone, never over another file, and never where it would be committed."""
    if inside_repository(path):
        raise UsageFault(f"{path} lies in a git repository: a secret key does not belong there")
    with told(path, fault=UsageFault, in_the_way=f"{path} is there already; a key is never written over"):
        write_file(path, key.text.encode() + b"\n", sync=True, mode=OWNER_FILE, replace=False)


def read_key(path: Path) -> SignerKey:
    """The secret key in a file that nobody but its owner can read."""
    try:
        mode, content = path.stat().st_mode, path.read_bytes()
    except FileNotFoundError:
        raise MissingFile(f"{path}: there is no such file") from None
    except OSError as refused:
        raise MissingFile(f"{path} cannot be read: {refused.strerror}") from None
    if stat.S_IMODE(mode) & _OTHERS:
        raise OrganiserFault(f"{path} can be read by others: a secret key has the rights 0600 (chmod 600 {path})")
    try:
        text = content.decode("ascii").removesuffix("\n")
    except UnicodeDecodeError:
        text = ""
    if not text.startswith(_PRIVATE):
        raise OrganiserFault(f"{path} is not a secret key; sandscore keys new makes one")
    name, mark, secret = _parts(text.removeprefix(_PRIVATE), OrganiserFault, "a secret key", hidden=str(path))
    key = SignerKey(name, secret[1:])
    if secret[0] != ED25519 or key.public.mark.hex() != mark:
        raise OrganiserFault(f"{path} is not a secret key: its hash is not that of its name and content")
    return key


def inside_repository(path: Path) -> bool:
    """Whether a git work tree holds this place."""
    return any((folder / ".git").exists() for folder in path.absolute().parents)


def _parts(text: str, fault: type[SandscoreError], what: str, hidden: str | None = None) -> tuple[str, str, bytes]:
    """``hidden`` stands in the sentence in place of a secret."""
    name, _, rest = text.partition("+")
    mark, _, written = rest.partition("+")
    content = unbase64(written)
    if content is None or len(content) != 1 + _KEY_BYTES or content[0] not in _KINDS or not _NAME.fullmatch(name):
        raise fault(f"{hidden or one_line(text)} is not {what}: name+hash+base64 of 33 bytes, the first 1 or 4")
    return name, mark, content


def unbase64(text: str) -> bytes | None:
    """Strictly: what would be written otherwise is none."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return content if base64_text(content) == text else None


def base64_text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _mark(name: str, kind: int, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]

"""in-toto statements in DSSE envelopes: who says what of which file, signed.

A board is signed with all it holds, so that its envelope still fits however the file beside it is formatted; the
file's own SHA-256 stands there too, for tools that know nothing of boards.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field

from sandscore.attestation.signing_keys import SignerKey, VerifierKey, base64_text, unbase64
from sandscore.base.errors import ParticipantFault
from sandscore.records.record_reading import read_json, read_record
from sandscore.records.strict_record import StrictRecord

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
BOARD_PREDICATE, RECOMPUTATION_PREDICATE = "urn:sandscore:board:v1", "urn:sandscore:recomputation:v1"


class _Signature(StrictRecord):
    keyid: str = ""
    sig: str


class _Envelope(StrictRecord):
    payload: str
    payload_type: Literal["application/vnd.in-toto+json"] = Field(alias="payloadType")
    signatures: tuple[_Signature, ...] = Field(min_length=1)


class _Digest(StrictRecord):
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class _Subject(StrictRecord):
    name: str
    digest: _Digest


class Statement(StrictRecord):
    """What is said (``predicate``, of a kind) of one file."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field(alias="_type")
    subject: tuple[_Subject, ...] = Field(min_length=1, max_length=1)
    predicate_type: str = Field(alias="predicateType")
    predicate: dict[str, object]


def envelope(name: str, content: bytes, kind: str, predicate: Mapping[str, object], keys: Sequence[SignerKey]) -> bytes:
    """A statement of this kind about the file of that name and content, signed by each key."""
    subject = {"name": name, "digest": {"sha256": hashlib.sha256(content).hexdigest()}}
    said = {"_type": STATEMENT_TYPE, "subject": [subject], "predicateType": kind, "predicate": predicate}
    payload = json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    signed = [{"keyid": key.public.text, "sig": base64_text(key.sign(_encoded(payload)))} for key in keys]
    sealed = {"payload": base64_text(payload), "payloadType": PAYLOAD_TYPE, "signatures": signed}
    return json.dumps(sealed, indent=1).encode() + b"\n"


def read_envelope(content: bytes, name: object, keys: Sequence[VerifierKey]) -> tuple[Statement, VerifierKey]:
    """The statement, and the first of these keys that signed it; refused where none did."""
    sealed = read_record(_Envelope, content, name, "an envelope of a signed statement", ParticipantFault, strict=True)
    payload = _decoded(sealed.payload)
    if payload is None:
        raise ParticipantFault(f"{name} is not an envelope of a signed statement: its payload is not base64")
    signatures = [_decoded(one.sig) for one in sealed.signatures]
    for key in keys:
        if any(one is not None and key.verifies(one, _encoded(payload)) for one in signatures):
            return read_record(Statement, payload, name, "a signed statement", ParticipantFault, strict=True), key
    raise ParticipantFault(f"{name} bears no signature by {' or '.join(key.name for key in keys) or 'a known key'}")


def claimed_keys(content: bytes, name: object) -> list[str]:
    """Whose signatures an envelope says that it bears: nothing is believed of it."""
    said = read_json(content, name, "an envelope of a signed statement", ParticipantFault)
    given = said.get("signatures") if isinstance(said, dict) else None
    return [str(one.get("keyid", "")) for one in given if isinstance(one, dict)] if isinstance(given, list) else []


def _encoded(payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _decoded(text: str) -> bytes | None:
    """Either alphabet of base64, as DSSE wants it."""
    return unbase64(text.replace("-", "+").replace("_", "/"))

"""Small parts of ``log_lines`` and ``signed_statement``, with values written down by hand."""

import json
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from struct_values import changeable

from sandscore.attestation.canonical_json import _plain
from sandscore.attestation.log_lines import HandedIn, LogLine, Opening, Receipt, opened

SALT = bytes(range(160, 192))


def test_a_salt_opens_a_hash_as_it_is_written() -> None:
    assert opened(SALT.hex(), b"gold") == sha256(SALT + b"gold").hexdigest()


@pytest.mark.parametrize(
    "salt", [SALT.hex().upper(), SALT.hex() + "00", SALT[1:].hex(), " " + SALT.hex(), "x" * 64, ""]
)
def test_what_is_no_salt_as_we_write_them_opens_nothing(salt: str) -> None:
    """``bytes.fromhex`` takes capitals and spaces; two spellings of one salt would be two openings."""
    assert opened(salt, b"gold") is None


GIVEN = {"submission": "s", "task": "date", "phase": None, "content": "sha256:00"}
SAID: list[tuple[Any, dict[str, Any]]] = [
    (LogLine, {"kind": "key", "key": "k"}),
    (LogLine, {"kind": "commitment", "phase": None, "hashes": {}, "gold": {}}),
    (LogLine, {"kind": "gold", "phase": None, "task": "date", "sha256": "00", "gold": "00"}),
    (LogLine, {"kind": "submission", "sha256": "00"}),
    (LogLine, {"kind": "board", "task": "date", "phase": None, "content": "00", "rows": 1}),
    (Opening, {"kind": "data", "position": 1, "name": "gold/date", "salt": "00", "content": "sha256:00"}),
    (Opening, {"kind": "submission", "position": 1, "salt": "00", "handed_in": GIVEN}),
    (Receipt, {"log": "l", "position": 1, "sha256": "00", "salt": "00", **GIVEN}),
    (HandedIn, GIVEN),
]


@pytest.mark.parametrize(("form", "said"), SAID, ids=lambda part: part.get("kind") if isinstance(part, dict) else None)
def test_what_a_log_says_has_no_keys_that_nobody_holds_against_anything(form: Any, said: dict[str, Any]) -> None:
    """A key more in a published file would look as if it had been verified with the others; what was read stays."""
    read = msgspec.json.decode(json.dumps(said), type=form)
    with pytest.raises(AttributeError):
        setattr(read, read.__struct_fields__[0], 2)
    with pytest.raises(msgspec.ValidationError, match="unknown field `more`"):
        msgspec.json.decode(json.dumps(said | {"more": 1}), type=form)


def test_whole_floats_are_integers_as_far_as_every_reader_counts() -> None:
    """2 to the 53 is where neighbouring integers become the same float (IEEE 754)."""
    assert repr(_plain({"a": [1.0, 1.5, -2.0]})) == "{'a': [1, 1.5, -2]}"
    assert repr(_plain(2.0**53 - 1)) == "9007199254740991"
    assert repr(_plain(2.0**53)) == repr(2.0**53)
    assert repr(_plain(-(2.0**53))) == repr(-(2.0**53))


def test_what_is_signed_stays_as_it_is() -> None:
    assert changeable("attestation") == {"RightEdge"}

"""Small parts of ``log_lines`` and ``signed_statement``, with values written down by hand."""

from hashlib import sha256

import pytest

from sandscore.attestation.log_lines import opened
from sandscore.attestation.signed_statement import _plain

SALT = bytes(range(160, 192))


def test_a_salt_opens_a_hash_as_it_is_written() -> None:
    assert opened(SALT.hex(), b"gold") == sha256(SALT + b"gold").hexdigest()


@pytest.mark.parametrize(
    "salt", [SALT.hex().upper(), SALT.hex() + "00", SALT[1:].hex(), " " + SALT.hex(), "x" * 64, ""]
)
def test_what_is_no_salt_as_we_write_them_opens_nothing(salt: str) -> None:
    """``bytes.fromhex`` takes capitals and spaces; two spellings of one salt would be two openings."""
    assert opened(salt, b"gold") is None


def test_whole_floats_are_integers_as_far_as_every_reader_counts() -> None:
    """2 to the 53 is where neighbouring integers become the same float (IEEE 754)."""
    assert repr(_plain({"a": [1.0, 1.5, -2.0]})) == "{'a': [1, 1.5, -2]}"
    assert repr(_plain(2.0**53 - 1)) == "9007199254740991"
    assert repr(_plain(2.0**53)) == repr(2.0**53)
    assert repr(_plain(-(2.0**53))) == repr(-(2.0**53))

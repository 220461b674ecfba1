"""Keys, notes and envelopes: Go's own note, and envelopes read by the libraries of in-toto."""

import base64
import copy
import json
import stat
import struct
from pathlib import Path

import pytest
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement as TheirStatement
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey

from sandscore.attestation.canonical_json import canonical, content_hash
from sandscore.attestation.signed_note import Checkpoint, read_checkpoint, read_note, sign_note
from sandscore.attestation.signed_statement import BOARD_PREDICATE, envelope, read_envelope
from sandscore.attestation.signing_keys import (
    COSIGNATURE,
    SignerKey,
    VerifierKey,
    new_key,
    read_key,
    verifier_key,
    write_key,
)
from sandscore.base.errors import MissingFile, OrganiserFault, ParticipantFault, UsageFault

VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
SKEY = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
NOTE = (
    f"{TEXT}\n— PeterNeumann "
    "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
"""Keys and note of the documentation of golang.org/x/mod/sumdb/note. Ed25519 is deterministic: all of it is fixed."""


@pytest.fixture
def neumann(tmp_path: Path) -> SignerKey:
    path = tmp_path / "neumann.key"
    path.write_text(SKEY + "\n")
    path.chmod(0o600)
    return read_key(path)


def test_the_note_of_go(neumann: SignerKey) -> None:
    assert (neumann.text, neumann.public.text) == (SKEY, VKEY)
    assert sign_note(TEXT, [neumann]) == NOTE
    note = read_note(NOTE.encode(), "note")
    assert note.text == TEXT
    assert note.signed_by(verifier_key(VKEY))
    assert not note.signed_by(new_key("PeterNeumann").public)


def test_every_touched_byte_of_a_note_is_refused(neumann: SignerKey) -> None:
    for at in range(len(NOTE.encode())):
        touched = bytearray(NOTE.encode())
        touched[at] ^= 1
        try:
            held = read_note(bytes(touched), "note").signed_by(neumann.public)
        except ParticipantFault:
            held = False
        assert not held, at


def test_signatures_of_strangers_are_passed_over(neumann: SignerKey) -> None:
    both = read_note(sign_note(TEXT, [new_key("example.org/witness"), neumann]).encode(), "note")
    assert both.signed_by(neumann.public)


def test_a_witness_signs_with_the_time(neumann: SignerKey) -> None:
    """C2SP tlog-cosignature, built by hand: 8 bytes of seconds, then Ed25519 of header and note."""
    witness = VerifierKey("PeterNeumann", neumann.public.public, COSIGNATURE)
    said = struct.pack(">Q", 1_800_000_000) + neumann.sign(b"cosignature/v1\ntime 1800000000\n" + TEXT.encode())
    line = base64.b64encode(witness.mark + said).decode()
    assert read_note(f"{TEXT}\n— PeterNeumann {line}\n".encode(), "note").signed_by(witness)
    later = base64.b64encode(witness.mark + struct.pack(">Q", 1_800_000_001) + said[8:]).decode()
    assert not read_note(f"{TEXT}\n— PeterNeumann {later}\n".encode(), "note").signed_by(witness)
    assert verifier_key(witness.text) == witness


def test_a_checkpoint_says_what_it_was_made_of(neumann: SignerKey) -> None:
    made = Checkpoint("example.org/log", 17, bytes(range(32)))
    assert made.text == "example.org/log\n17\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n"
    assert read_checkpoint(read_note(sign_note(made.text, [neumann]).encode(), "c"), "c") == made


@pytest.mark.parametrize("text", ["log\n017\nAAEC\n", "log\n1\n", "\n1\nAAEC\n", "log\n1\nAA\nmore\n"], ids=repr)
def test_no_checkpoint(text: str, neumann: SignerKey) -> None:
    with pytest.raises(ParticipantFault, match=r"is not a (checkpoint|signed note)"):
        read_checkpoint(read_note(sign_note(text, [neumann]).encode(), "c"), "c")


def test_a_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    path, key = tmp_path / "log.key", new_key("example.org/log")
    write_key(key, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_key(path) == key
    with pytest.raises(UsageFault, match="never written over"):
        write_key(key, path)
    path.chmod(0o640)
    with pytest.raises(OrganiserFault, match="can be read by others"):
        read_key(path)
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    with pytest.raises(UsageFault, match="git repository"):
        write_key(key, tmp_path / "tree" / "log.key")
    with pytest.raises(MissingFile):
        read_key(tmp_path / "none")
    assert "secret" not in repr(key)


@pytest.mark.parametrize("content", [VKEY, "", "\udcff", SKEY[:-1] + "A", SKEY.replace("c74f", "c74e")], ids=repr)
def test_what_is_no_key_is_never_quoted(tmp_path: Path, content: str) -> None:
    path = tmp_path / "k"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    path.chmod(0o600)
    with pytest.raises(OrganiserFault, match="is not a secret key") as refused:
        read_key(path)
    assert SKEY[34:60] not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "x" * 201], ids=repr)
def test_names_that_no_note_could_bear(name: str) -> None:
    with pytest.raises(UsageFault, match="a key's name"):
        new_key(name)


@pytest.mark.parametrize("text", ["", "a+b", VKEY[:-4] + "AAAA", VKEY + "=", VKEY.replace("Peter", "Pater")], ids=repr)
def test_no_public_key(text: str) -> None:
    with pytest.raises(UsageFault, match="is not a public key"):
        verifier_key(text)


def test_securesystemslib_and_in_toto_read_what_we_sign(neumann: SignerKey) -> None:
    board = {"rows": [{"f1": 0.5, "team": "Ä"}]}
    sealed = json.loads(envelope("board.json", b"{}", BOARD_PREDICATE, {"board": board}, [neumann]))
    theirs = Envelope.from_dict(copy.deepcopy(sealed))
    public = {"public": neumann.public.public.hex()}
    key = SSlibKey(sealed["signatures"][0]["keyid"], "ed25519", "ed25519", public)
    assert list(theirs.verify([key], 1)) == [VKEY]
    stranger = SSlibKey(VKEY, "ed25519", "ed25519", {"public": new_key("x").public.public.hex()})
    with pytest.raises(VerificationError):
        theirs.verify([stranger], 1)
    said = json_format.Parse(theirs.payload, statement_pb2.Statement())
    TheirStatement.copy_from_pb(said).validate()
    assert said.predicate_type == BOARD_PREDICATE
    assert said.subject[0].digest["sha256"] == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert json_format.MessageToDict(said.predicate)["board"] == board


def test_we_read_what_securesystemslib_signs(neumann: SignerKey) -> None:
    """Their envelope around the same payload, signed over their own encoding."""
    ours = json.loads(envelope("b", b"", BOARD_PREDICATE, {}, [neumann]))
    theirs = Envelope(base64.b64decode(ours["payload"]), ours["payloadType"], {})
    signature = base64.b64encode(neumann.sign(theirs.pae())).decode()
    given = json.dumps(ours | {"signatures": [{"sig": signature.replace("+", "-").replace("/", "_")}]})
    assert read_envelope(given.encode(), "e", [neumann.public])[1] == neumann.public


def test_an_envelope_that_nobody_we_know_signed(neumann: SignerKey) -> None:
    content = envelope("b", b"", BOARD_PREDICATE, {}, [new_key("somebody")])
    with pytest.raises(ParticipantFault, match="no signature by PeterNeumann"):
        read_envelope(content, "e", [neumann.public])


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"payload":"=","payloadType":"x","signatures":[]}'], ids=repr)
def test_no_envelope(content: bytes, neumann: SignerKey) -> None:
    with pytest.raises(ParticipantFault, match="is not an envelope of a signed statement"):
        read_envelope(content, "e", [neumann.public])


def test_a_hash_of_what_a_file_says() -> None:
    """SHA-256 of ``{"a":[1,0.5,null],"b":"Ä"}`` in UTF-8, by hand with sha256sum."""
    assert canonical(json.loads('{"b": "\\u00c4", "a": [1.0, 5e-1, null]}')) == '{"a":[1,0.5,null],"b":"Ä"}'.encode()
    assert content_hash({"a": 1}) != content_hash({"a": "1"})

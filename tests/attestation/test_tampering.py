"""A thousand random edits of boards, cards, logs, checkpoints, envelopes and receipts: each that changes what is said
is refused, none that changes only how it is written."""

import base64
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from queue_samples import HALF, RIGHT, hand_in, queue

from sandscore.attestation.board_statements import hold_against_statement, signed_board
from sandscore.attestation.log_reading import read_log, read_receipt
from sandscore.attestation.log_verification import hold_against_log
from sandscore.attestation.signed_note import read_note, sign_note
from sandscore.attestation.signing_keys import SignerKey, new_key
from sandscore.base.errors import ParticipantFault
from sandscore.cli.main import run
from sandscore.queue.public_log import PublicLog, receipt_text
from sandscore.verification.board_verification import verify

pytestmark = pytest.mark.slow

EDITS = 1000
Chance = random.Random


class Evidence:
    """All that is published of one board, and whether it holds together as somebody reads it."""

    def __init__(self, folder: Path) -> None:
        workspace = queue(folder)
        ids = [hand_in(workspace, RIGHT, "A"), hand_in(workspace, HALF, "B")]
        assert run(["queue", "work", str(workspace.root), "--once"]) == 0
        public = workspace.root / "public"
        self.board, self.log = public / "boards" / "date.json", public / "log"
        self.key, content = new_key("example.org/organiser"), self.board.read_bytes()
        self.envelope = self.board.with_name("date.intoto.json")
        self.envelope.write_bytes(signed_board("date.json", content, json.loads(content), self.key))
        self.receipt = folder / "receipt.json"
        receipt = PublicLog(workspace).receipt(ids[1])
        assert receipt is not None
        self.receipt.write_text(receipt_text(receipt))
        self.card = next(iter(sorted((public / "cards").iterdir())))

    def holds(self, touched: Path) -> bool:
        """A card is only looked at where it was touched: its hash alone decides."""
        try:
            board = json.loads(self.board.read_bytes())
            log = read_log(self.log)
            hold_against_log(board, self.board, log, [read_receipt(self.receipt)])
            hold_against_statement(board, self.board, self.envelope, [self.key.public])
            if touched == self.card:
                verify(self.board)
        except ParticipantFault:
            return False
        return True


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return Evidence(tmp_path_factory.mktemp("tampering"))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    elif path:
        yield path


def other(value: Any, chance: Chance) -> Any:
    """Another value that could stand there."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + chance.choice([1, -1, 0.001, 1e-6])
    if isinstance(value, str):
        return chance.choice([value + "x", value[1:] or "y", None])
    return chance.choice([0, "x", [0]])


def touched_value(content: bytes, chance: Chance) -> bytes:
    """One value of a JSON file changed, taken away, or a new one beside it."""
    value = json.loads(content)
    path = chance.choice(list(leaves(value)))
    inner = value
    for step in path[:-1]:
        inner = inner[step]
    kind = chance.randrange(4)
    if kind == 0 and isinstance(inner, dict):
        del inner[path[-1]]
    elif kind == 1 and isinstance(inner, dict):
        inner["another"] = 1
    else:
        inner[path[-1]] = other(inner[path[-1]], chance)
    return json.dumps(value).encode()


def rewritten(content: bytes, chance: Chance) -> bytes:
    """The same JSON, written otherwise."""
    value = json.loads(content)
    if chance.random() < 0.5:
        value = dict(sorted(value.items(), key=lambda _: chance.random()))
    style: dict[str, Any] = {"indent": chance.choice([None, 0, 3]), "ensure_ascii": chance.random() < 0.5}
    return b" " * chance.randrange(3) + json.dumps(value, **style).encode() + b"\n" * chance.randrange(3)


def touched_byte(content: bytes, chance: Chance) -> bytes:
    at = chance.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << chance.randrange(7))]) + content[at + 1 :]


def touched_line(content: bytes, chance: Chance) -> bytes:
    """A line gone, twice there, in another place, longer by a blank; or the end cut off."""
    lines = content.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    kind = chance.randrange(5)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[at])
    elif kind == 2:
        beside = (at + 1) % len(lines)
        lines[at], lines[beside] = lines[beside], lines[at]
    elif kind == 3:
        lines[at] = b" " + lines[at]
    else:
        return content[: -chance.randrange(1, 40)]
    return b"".join(lines)


def resigned(content: bytes, chance: Chance) -> bytes:
    """What the envelope says, changed, under the signature of what it said."""
    sealed = json.loads(content)
    if chance.random() < 0.5:
        sealed["payload"] = base64.b64encode(touched_value(base64.b64decode(sealed["payload"]), chance)).decode()
    else:
        sealed["signatures"][0]["sig"] = base64.b64encode(chance.randbytes(64)).decode()
    return json.dumps(sealed).encode()


def other_alphabet(content: bytes, _: Chance) -> bytes:
    """Both alphabets of base64 are allowed, and a hint of whose key it was is only a hint."""
    sealed = json.loads(content)
    sealed["payload"] = sealed["payload"].replace("+", "-").replace("/", "_")
    sealed["signatures"][0]["keyid"] = "somebody"
    return json.dumps(sealed).encode()


def cosigned(content: bytes, _: Chance) -> bytes:
    """A further signature, of a key that nobody here knows."""
    stranger: SignerKey = new_key("example.org/witness")
    below = sign_note(read_note(content, "checkpoint").text, [stranger]).rpartition("\n\n")[2]
    return content + below.encode()


Edit = Callable[[bytes, Chance], bytes]
MEANING: dict[str, tuple[Edit, ...]] = {
    "board": (touched_value,),
    "envelope": (resigned,),
    "entries.jsonl": (touched_line, touched_byte),
    "checkpoint": (touched_line, touched_byte),
    "openings.jsonl": (touched_byte,),
    "receipt": (touched_value,),
    "card": (touched_byte,),
}
FORM: dict[str, tuple[Edit, ...]] = {
    "board": (rewritten,),
    "envelope": (rewritten, other_alphabet),
    "receipt": (rewritten,),
    "checkpoint": (cosigned,),
}


def test_a_thousand_edits(evidence: Evidence) -> None:
    places = {name: evidence.log / name for name in ("entries.jsonl", "checkpoint", "openings.jsonl")}
    places |= {"board": evidence.board, "envelope": evidence.envelope}
    places |= {"receipt": evidence.receipt, "card": evidence.card}
    chance, done = random.Random(2026), Counter[bool]()
    assert evidence.holds(evidence.card)
    while done.total() < EDITS:
        table, wanted = (FORM, True) if chance.random() < 0.2 else (MEANING, False)
        name = chance.choice(list(table))
        edit, place = chance.choice(table[name]), places[name]
        content = place.read_bytes()
        changed = edit(content, chance)
        if changed == content or (name == "checkpoint" and changed.startswith(content) and not wanted):
            continue  # a signature that stands there twice says no more than once
        place.write_bytes(changed)
        try:
            assert evidence.holds(place) is wanted, (name, edit.__name__, changed)
        finally:
            place.write_bytes(content)
        done[wanted] += 1
    assert min(done.values()) > 150

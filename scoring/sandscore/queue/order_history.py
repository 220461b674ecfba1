"""The history of orders: what organisers had the queue do, who, when and why. A line each, written beforehand."""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import MsgspecError, Struct
from msgspec.json import decode, encode
from msgspec.structs import asdict

from sandscore.base.clock import utc_now, written
from sandscore.base.errors import OrganiserFault
from sandscore.base.whole_files import told
from sandscore.queue.queue_layout import OWNER_FILE, private_path

FILE = "orders.jsonl"
LONGEST = 500
"""Characters of a reason or a name that are kept."""


class Order(Struct, frozen=True, omit_defaults=True):
    """One order; ``submissions`` are those it was about."""

    what: str
    when: str
    who: str
    why: str | None = None
    submissions: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """For programs."""
        return asdict(self)


def note_order(root: Path, what: str, who: str | None, why: str | None, submissions: Sequence[str] = ()) -> None:
    """On disk before the order is carried out; without a name it is the account's."""
    person = (who or _account())[:LONGEST]
    order = Order(what, written(utc_now()), person, why[:LONGEST] if why else None, tuple(submissions))
    path = private_path(root, FILE)
    with told(path), path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        os.fchmod(file.fileno(), OWNER_FILE)
        file.seek(0, os.SEEK_END)
        file.write((b"" if _whole(path) else b"\n") + encode(order) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_orders(root: Path) -> list[Order]:
    """All of them, oldest first; a line that a killed writer left is none, any other that cannot be read is named."""
    path = private_path(root, FILE)
    if not path.exists():
        return []
    orders = []
    with told(path):
        lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            orders += [decode(line, type=Order)] if line else []
        except (MsgspecError, UnicodeDecodeError):
            if line.endswith(b"}"):
                raise OrganiserFault(f"line {number} of {path} is not an order; restore it from a backup") from None
    return orders


def _whole(path: Path) -> bool:
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _account() -> str:
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"

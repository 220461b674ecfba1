"""The access log: who asked for what and how it ended, a line each, by day, for fourteen days.

No token, cookie, query, body or name of a file is ever in it; a path that looks as if it held a token is not either.
"""

import datetime
import os
import re
from pathlib import Path

import msgspec
from msgspec import Struct

from sandscore.base.clock import utc_now, written
from sandscore.queue.queue_layout import OWNER_FILE

DAYS = 14
_NAME = re.compile(r"access-(\d{4}-\d{2}-\d{2})\.jsonl")
_SECRET = re.compile(r"[A-Za-z0-9_-]{24,}")
_LONGEST = 200


class AccessLine(Struct, frozen=True, kw_only=True):
    """One request."""

    when: str
    address: str
    method: str
    path: str
    status: int
    milliseconds: int


class AccessLog:
    """Files of a folder; several servers write to the same."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, address: str, method: str, path: str, status: int, seconds: float) -> None:
        now = utc_now()
        line = AccessLine(
            when=written(now),
            address=address,
            method=method[:_LONGEST],
            path=_SECRET.sub("…", path)[:_LONGEST],
            status=status,
            milliseconds=round(1000 * seconds),
        )
        name = self._folder / f"access-{now:%Y-%m-%d}.jsonl"
        content = msgspec.json.encode(line) + b"\n"
        try:
            file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, OWNER_FILE)
            try:
                os.write(file, content)
            finally:
                os.close(file)
        except OSError:
            pass  # a full disk must not end what goes on without a log

    def forget(self, now: datetime.datetime) -> None:
        """What is older goes."""
        for path in self._folder.iterdir():
            if (found := _NAME.fullmatch(path.name)) and found[1] < f"{now - datetime.timedelta(days=DAYS):%Y-%m-%d}":
                path.unlink(missing_ok=True)

"""The throttle of wrong tokens: so many a minute an address, counted together by all servers of a queue.

The address is the rightmost of X-Forwarded-For that is no proxy of ours; of IPv6 the network that one household has.
"""

import sqlite3
import time
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from pathlib import Path

from starlette.requests import Request

from sandscore.base.diagnostics import warn
from sandscore.base.errors import UsageFault
from sandscore.queue.queue_layout import OWNER_FILE

MOST_TRIES, SECONDS = 10, 60.0
LOOPBACK = ("127.0.0.0/8", "::1/128")
Networks = Sequence[IPv4Network | IPv6Network]
_TABLE = "CREATE TABLE IF NOT EXISTS tries (address TEXT NOT NULL, at REAL NOT NULL)"


def networks(given: Sequence[str]) -> Networks:
    """Those whose word about others is believed."""
    try:
        return [ip_network(one, strict=False) for one in given]
    except ValueError as fault:
        raise UsageFault(f"--trusted-proxy: {fault}") from None


def client_address(request: Request, trusted: Networks) -> str:
    """Who asks: the one who is connected, or whom a proxy of ours names."""
    said = ",".join(request.headers.getlist("x-forwarded-for")).split(",")
    hops = [*(one.strip() for one in said if one.strip()), request.client.host if request.client else ""]
    seen = hops[-1]
    for hop in reversed(hops):
        try:
            address = ip_address(hop)
        except ValueError:
            break
        seen = hop
        if not any(address in network for network in trusted):
            break
    return _household(seen)


def _household(address: str) -> str:
    try:
        found = ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((found, 64), strict=False)) if isinstance(found, IPv6Address) else str(found)


class WrongTries:
    """A small database of its own: nothing in it must outlive a power cut. One thread uses it.

    Where it cannot be written nobody is throttled: secrets of 32 bytes are not guessed in the time that takes to mend.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def another(self, address: str) -> float | None:
        """Count one; None while that is not one too many, else the seconds until the next is looked at."""
        try:
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                return _counted(connection, address)
            finally:
                connection.execute("COMMIT")
        except sqlite3.Error as fault:
            warn(f"wrong tokens are not counted: {fault}")
            return None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect(self._path, timeout=5.0, isolation_level=None)
            self._path.chmod(OWNER_FILE)
            self._connection.execute("PRAGMA synchronous=OFF")
            self._connection.execute(_TABLE)
        return self._connection


def _counted(connection: sqlite3.Connection, address: str) -> float | None:
    now = time.time()
    connection.execute("DELETE FROM tries WHERE at < ? OR at > ?", (now - SECONDS, now + SECONDS))
    found = connection.execute(
        "SELECT at FROM tries WHERE address=? ORDER BY at DESC LIMIT ?", (address, MOST_TRIES)
    ).fetchall()
    if len(found) >= MOST_TRIES:
        return max(1.0, float(found[-1][0]) + SECONDS - now)
    connection.execute("INSERT INTO tries VALUES (?, ?)", (address, now))
    return None

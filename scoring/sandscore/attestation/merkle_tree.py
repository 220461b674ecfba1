"""Merkle tree of RFC 6962 over the lines of a log: the right edge that is appended to, and its root.

A leaf is the exact bytes of a line without its newline. The tree over n leaves is that over the largest power of two
below n, and that over the rest; so n leaves need no more than log2(n) + 1 hashes to be appended to.
"""

import hashlib
from collections.abc import Iterable

from msgspec import Struct, field


def leaf_hash(line: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + line).digest()


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


class RightEdge(Struct):
    """What must be kept of a tree so that it can grow: the roots of its whole parts, the largest first."""

    size: int = 0
    roots: list[bytes] = field(default_factory=list)

    def append(self, leaf: bytes) -> None:
        self.size += 1
        self.roots.append(leaf)
        parts = self.size
        while not parts % 2:
            right, left = self.roots.pop(), self.roots.pop()
            self.roots.append(_node(left, right))
            parts //= 2

    def root(self) -> bytes:
        """Of a tree without leaves, the hash of nothing."""
        if not self.roots:
            return hashlib.sha256().digest()
        *others, root = self.roots
        for left in reversed(others):
            root = _node(left, root)
        return root


def edge_of(lines: Iterable[bytes]) -> RightEdge:
    """The tree over these lines."""
    edge = RightEdge()
    for line in lines:
        edge.append(leaf_hash(line))
    return edge

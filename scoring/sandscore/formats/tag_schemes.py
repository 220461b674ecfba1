"""Token tags and the runs of tokens they stand for: BIO, BILUO, IOBES and IO."""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

Scheme = Literal["bio", "biluo", "iobes", "io"]
Run = tuple[int, int, str]
"""First token, one past the last token, type."""

_PREFIXED = re.compile(r"([BILUOES])-(.+)", re.DOTALL)


class _Letters(Struct, frozen=True):
    first: str
    inner: str
    last: str
    single: str


_LETTERS: dict[Scheme, _Letters] = {
    "bio": _Letters("B", "I", "I", "B"),
    "biluo": _Letters("B", "I", "L", "U"),
    "iobes": _Letters("B", "I", "E", "S"),
    "io": _Letters("I", "I", "I", "I"),
}


def encode(tokens: int, runs: Sequence[Run], scheme: Scheme) -> list[str]:
    """A tag a token. Runs do not overlap."""
    letters = _LETTERS[scheme]
    tags = ["O"] * tokens
    for first, stop, kind in runs:
        tags[first:stop] = [f"{letters.inner}-{kind}"] * (stop - first)
        tags[first] = f"{letters.first}-{kind}"
        if stop - first == 1:
            tags[first] = f"{letters.single}-{kind}"
        else:
            tags[stop - 1] = f"{letters.last}-{kind}"
    return tags


def decode(tags: Sequence[str]) -> list[Run]:
    """The runs of any of the schemes; a tag without a prefix is its own type, as in Presidio's IO.

    A run begins at B, U, S, and wherever the type changes or nothing is open; it ends after L, U, E, S.
    """
    runs: list[Run] = []
    open_kind: str | None = None
    for place, tag in enumerate(tags):
        if tag == "O":
            open_kind = None
            continue
        prefixed = _PREFIXED.fullmatch(tag)
        letter, kind = (prefixed[1], prefixed[2]) if prefixed else ("I", tag)
        if letter in "BUS" or kind != open_kind:
            runs.append((place, place + 1, kind))
        else:
            runs[-1] = (runs[-1][0], place + 1, kind)
        open_kind = None if letter in "LUES" else kind
    return runs

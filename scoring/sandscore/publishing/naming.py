"""File names that are safe everywhere, for boards and submissions whose own names may be anything."""

import hashlib
import re
from collections.abc import Iterable

_SAFE = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_UNSAFE = re.compile(r"[^a-z0-9]+")
_LONGEST = 60
_RESERVED = frozenset({"index", "board", "cards", "con", "prn", "aux", "nul"})


def file_name(name: str) -> str:
    """The name itself where it is plain; else what is plain of it, and a hash that tells it from others."""
    if len(name) <= _LONGEST and _SAFE.fullmatch(name) and name not in _RESERVED:
        return name
    bare = _UNSAFE.sub("-", name.lower()).strip("-")[:_LONGEST].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{bare}-{digest}" if bare else digest


def joined(parts: Iterable[str | None]) -> str:
    """One name of several parts, those that are given."""
    return file_name("-".join(part for part in parts if part))

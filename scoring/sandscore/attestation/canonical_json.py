"""The one form of a JSON value that its hash is taken of, however the file that says it is formatted."""

import hashlib
import json

_LARGEST_EXACT = 1 << 53


def canonical(value: object) -> bytes:
    """A JSON value in the one form that its hash is taken of: keys in order, no blanks, 1.0 as 1."""
    said = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return said.encode("utf-8", "surrogatepass")


def content_hash(value: object) -> str:
    """The hash of what a JSON file says, however it is formatted."""
    return hashlib.sha256(canonical(value)).hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_EXACT:
        return int(value)
    return value

"""RFC 6901 pointers: where in a JSON file something stands."""

from collections.abc import Iterable


def pointer(path: Iterable[str | int]) -> str:
    """The path as a JSON pointer."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)

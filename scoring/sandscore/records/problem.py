"""A problem that validation found, as data."""

from typing import Literal

from msgspec import Struct

Severity = Literal["error", "warning"]

CODES: dict[str, Severity] = {
    "json": "error",
    "schema": "error",
    "unknown-note": "error",
    "duplicate-note": "error",
    "missing-note": "warning",
    "out-of-bounds": "error",
    "text-mismatch": "error",
    "duplicate": "warning",
    "overlap": "warning",
    "unknown-property": "warning",
    "empty": "warning",
}


PARTIAL_HEAD = b'{"sandscore_partial":'
"""How a file begins that holds some of a run's answers: never predictions."""


class Problem(Struct, frozen=True):
    """One finding: where it is (RFC 6901 pointer), in which note, and what was found and expected."""

    code: str
    severity: Severity
    pointer: str
    note: str | None
    message: str

"""What became of the annotations, as parts of one bar."""

from collections.abc import Sequence
from dataclasses import dataclass

from sandscore.records.scorecard import ErrorKinds


@dataclass(frozen=True, slots=True)
class Part:
    """``kind`` names the part for the style sheet, ``title`` and ``meaning`` for a reader."""

    kind: str
    title: str
    meaning: str
    count: int
    x: str
    width: str


_KINDS = (
    ("right", "right", "in the right place, and no label contradicts"),
    ("label", "wrong label", "in the right place under another label than gold's"),
    ("boundary", "boundary", "overlaps a gold annotation but begins or ends elsewhere"),
    ("missed", "missed", "in gold, and nothing predicted overlaps it"),
    ("spurious", "spurious", "predicted, and nothing in gold overlaps it"),
)


def error_parts(strict_matches: int, errors: ErrorKinds) -> Sequence[Part]:
    """Strict matches without those under a wrong label, and the four kinds of error."""
    right = strict_matches - errors.wrong_label
    counts = (right, errors.wrong_label, errors.boundary, errors.missed, errors.spurious)
    total = sum(counts) or 1
    parts, before = [], 0
    for (kind, title, meaning), count in zip(_KINDS, counts, strict=True):
        parts.append(Part(kind, title, meaning, count, f"{100 * before / total:.2f}%", f"{100 * count / total:.2f}%"))
        before += count
    return parts

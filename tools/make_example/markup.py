"""Text that knows what in it is gold.

While a note is put together, everything that must be annotated stands in it as ``⟦task|label|text⟧``;
``unmark`` turns that into the text of the note and its spans, so gold cannot disagree with the note.
"""

import re
from dataclasses import dataclass

_MARK = re.compile(r"⟦([^|⟧]+)\|([^|⟧]*)\|([^⟧]+)⟧")


@dataclass(frozen=True, slots=True)
class Span:
    task: str
    start: int
    text: str
    label: str


def mark(task: str, text: str, label: str = "") -> str:
    return f"⟦{task}|{label}|{text}⟧"


def unmark(marked: str) -> tuple[str, list[Span]]:
    """The plain text and its spans; offsets count code points."""
    spans: list[Span] = []
    plain = ""
    read = 0
    for found in _MARK.finditer(marked):
        plain += marked[read : found.start()]
        task, label, text = found.groups()
        spans.append(Span(task, len(plain), text, label))
        plain += text
        read = found.end()
    return plain + marked[read:], spans


def width(marked: str) -> int:
    """How many characters will be seen."""
    return len(unmark(marked)[0])

"""The cause of many problems of one file at once: a code, how much it explains, and the sentence that says so."""

from typing import Literal

from msgspec import Struct

Scope = Literal["file", "tail", "note"]
CAUSES = (
    "shift",
    "utf16",
    "bytes",
    "crlf",
    "bom",
    "end-exclusive",
    "end-inclusive",
    "stripped",
    "case",
    "whitespace",
    "normalisation",
    "quotes",
    "other-note",
    "swapped-fields",
    "confidence-scale",
    "labels",
)
"""Simplest first."""
OF_THE_FILE = ("confidence-scale", "labels")
"""Seen in the file alone: saying them tells nothing about the notes."""
_SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_WHY = {
    "utf16": "offsets are read as UTF-16 units: yours count them, an emoji as two; ours count characters",
    "bytes": "offsets are read as bytes of UTF-8: yours count them, an accented letter as two; ours count characters",
    "crlf": "a line end is counted as you count it: where the note has two characters (CR, LF) you count one, or two "
    "where it has one",
    "bom": "the byte order mark is counted: it stands in the note and is a character of it",
    "end-exclusive": "'length' is read as an end: it holds the place after the last character, not how many there are",
    "end-inclusive": "your ends are read as the place of the last character, not of the one after it: 'length' holds "
    "such an end, or was computed from one",
    "stripped": "white space around them is left as it is in the note: your texts are stripped, your spans are not",
    "case": "upper and lower case are taken as equal: your texts were written in another case than the note's",
    "whitespace": "all white space is taken as equal: your texts have other blanks or line ends than the note",
    "normalisation": "accents are taken as equal however they are written (Unicode NFC, NFD): yours are normalised",
    "quotes": "quotation marks and dashes are taken as equal: yours were replaced by others",
    "other-note": "their entries are taken to be about other notes: entries and notes got mixed up",
    "swapped-fields": "'start' and 'length' change places: each holds the other's value",
}


class Diagnosis(Struct, frozen=True, omit_defaults=True):
    """One cause: it explains so many of so many. ``by``: what must be added to every start.

    ``scope``: the whole file, what follows the first lines of notes, or single notes.
    """

    cause: str
    scope: Scope
    explains: int
    of: int
    fixable: bool
    by: int | None = None

    def to_dict(self) -> dict[str, object]:
        """As JSON has it; ``by`` where there is one."""
        told: dict[str, object] = {"cause": self.cause}
        if self.by is not None:
            told["by"] = self.by
        return told | {"scope": self.scope, "explains": self.explains, "of": self.of, "fixable": self.fixable}

    @property
    def sentence(self) -> str:
        """What was found, with its count; the full stop is left to whoever says how to mend it."""
        counted = f"{self.explains:,} of {self.of:,}"
        if self.cause == "confidence-scale":
            return f"{counted} confidences lie between 0 and 1, but the scale ends at 100: yours seem to be fractions"
        if self.cause == "labels":
            return f"{counted} labels are not the task's: they are of another vocabulary"
        if self.cause == "bom" and self.explains == 0:
            return "a byte order mark stands before the JSON: the file was written as 'UTF-8 with BOM'"
        where = {"file": "", "tail": ", after the first lines of notes", "note": ", in some notes"}[self.scope]
        if self.cause == "shift":
            return f"{counted} texts stand where you say if {self._moved(where)}"
        return f"{counted} texts stand where you say if{where and f'{where},'} {_WHY[self.cause]}"

    def _moved(self, where: str) -> str:
        if self.by is None:
            return "all starts of a note are moved by as much, but in each note by another number"
        size, way = abs(self.by), "larger" if self.by > 0 else "smaller"
        number = _SMALL[size] if size < len(_SMALL) else f"{size:,}"
        moved = f"every start{where and f'{where},'} is {number} {way}"
        return f"{moved}: your offsets begin at 1" if self.by == -1 and self.scope == "file" else moved

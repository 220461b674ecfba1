"""Causes why texts do not stand where a file says: each, if it is the one, says where they stand instead.

A cause takes a spot and returns it as it was meant, or None where it has nothing to say. Whether the text then stands
there is for whoever asks to see.
"""

import re
import unicodedata
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping

from sandscore.remedies.spots import NoteViews, Spot, as_counted


class Cause(ABC):
    """One cause. ``code`` is its name in reports; ``by`` what it adds to starts, where that is one number."""

    code: str
    by: int | None = None

    @abstractmethod
    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        """The spot as it was meant."""


class ShiftedStarts(Cause):
    """Every start is off by as much."""

    code = "shift"

    def __init__(self, by: int) -> None:
        self.by = by

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        start = spot.start + (self.by or 0)
        return spot.moved(start, spot.length) if start >= 0 else None


class NotesShifted(Cause):
    """Every start of a note is off by as much, in each note by another number."""

    code = "shift"

    def __init__(self, by: Mapping[int, int]) -> None:
        self._by = by

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        by = self._by.get(spot.note)
        return None if by is None or spot.start + by < 0 else spot.moved(spot.start + by, spot.length)


class OtherUnits(Cause):
    """Offsets count something else than characters."""

    def __init__(self, code: str, units: str) -> None:
        self.code, self._units = code, units

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        view, units = views.of(spot.note), self._units
        if view.borders(units) is None:
            return spot
        starts, ends = view.places(units, spot.start), view.places(units, spot.start + spot.length)[:1]
        pieces = [(start, end) for start in starts for end in ends if end > start]
        if spot.length == len(spot.text):
            pieces += [(start, start + spot.length) for start in starts]
        if units == "bom":  # which no text begins with
            pieces.sort(reverse=True)
        for start, end in pieces:
            piece = view.text[start:end]
            if as_counted(piece, units) == spot.text:
                return spot.moved(start, end - start, piece)
        return spot.moved(pieces[0][0], pieces[0][1] - pieces[0][0]) if pieces else None


class EndForLength(Cause):
    """``length`` holds the place where the text ends."""

    def __init__(self, code: str, beyond: int) -> None:
        self.code, self._beyond = code, beyond

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        length = spot.length - spot.start + self._beyond
        return spot.moved(spot.start, length) if length > 0 else None


class ShortLength(Cause):
    """``length`` was computed from an end that is the place of the last character: it is one too small."""

    code = "end-inclusive"

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        return spot.moved(spot.start, spot.length + 1) if spot.length + 1 == len(spot.text) else None


class SwappedFields(Cause):
    """``start`` holds the length and ``length`` the start."""

    code = "swapped-fields"

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        made = spot.moved(spot.length, spot.start)
        return made if made.start >= 0 else None


class OtherNotes(Cause):
    """Entries are about other notes than they name."""

    code = "other-note"

    def __init__(self, notes: Mapping[int, int]) -> None:
        self.notes = notes
        """The number of a record, and of the note that it is about."""

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        note = self.notes.get(spot.record)
        return None if note is None else Spot(spot.record, note, spot.start, spot.length, spot.text)


class RewrittenText(Cause):
    """The span is right and the text is what stands there, but for differences of one kind."""

    def __init__(self, code: str) -> None:
        self.code = code

    def meant(self, spot: Spot, views: NoteViews) -> Spot | None:
        if spot.start < 0 or spot.length < 1:
            return None
        text, said = views.of(spot.note).text, spot.text
        piece = text[spot.start : spot.start + spot.length]
        if piece == said:
            return spot
        wanted = folded(self.code, said)
        if not wanted:
            return None
        if len(piece) == spot.length and folded(self.code, piece) == wanted:
            return spot.moved(spot.start, spot.length, piece)
        return self._of_another_length(spot, text, wanted)

    def _of_another_length(self, spot: Spot, text: str, wanted: str) -> Spot | None:
        """Where the length is that of the text as it was rewritten."""
        said, start = spot.text, spot.start
        if spot.length != len(said):
            return None
        if self.code == "stripped":
            stands = said != wanted and text.startswith(wanted, start)
            return spot.moved(start, len(wanted), wanted) if stands else None
        if _BLANK.match(text, start) and not _BLANK.match(said):
            return None  # it begins later
        most = min(len(text) - start, 3 * len(said) + 8)
        sizes = range(most + 1)
        length = bisect_left(sizes, len(wanted), key=lambda size: len(folded(self.code, text[start : start + size])))
        piece = text[start : start + length]
        return spot.moved(start, length, piece) if piece and folded(self.code, piece) == wanted else None


_QUOTES = str.maketrans(
    dict.fromkeys("“”„‟«»″", '"') | dict.fromkeys("‘’‚‛‹›′`´", "'") | dict.fromkeys("‐‑‒–—―−", "-") | {"…": "..."}
)
_PAIRED = (("``", '"'), ("''", '"'), ("---", "-"), ("--", "-"))
_BLANK = re.compile(r"[\s\u200b\u2060\ufeff]+")


def folded(code: str, text: str) -> str:
    """A text without the differences that a cause speaks of."""
    if code == "stripped":
        return text.strip()
    if code == "case":
        return text.casefold()
    if code == "whitespace":
        return _BLANK.sub("", text)
    if code == "normalisation":
        return unicodedata.normalize("NFD", text)
    for written, meant in _PAIRED:
        text = text.replace(written, meant)
    return text.translate(_QUOTES)


ENDS: tuple[Cause, ...] = (EndForLength("end-exclusive", 0), EndForLength("end-inclusive", 1))
SHORT: Cause = ShortLength()
UNITS: tuple[Cause, ...] = (
    OtherUnits("utf16", "utf16"),
    OtherUnits("bytes", "bytes"),
    OtherUnits("crlf", "one"),
    OtherUnits("crlf", "two"),
    OtherUnits("bom", "bom"),
)
REWRITTEN: tuple[Cause, ...] = tuple(map(RewrittenText, ("stripped", "case", "whitespace", "normalisation", "quotes")))
SWAPPED: Cause = SwappedFields()

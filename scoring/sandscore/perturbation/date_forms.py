"""Dates written otherwise, and dates moved: by whole weeks, as many for all notes of a patient.

A date is read by its ``dateFormat`` where gold has one that we know, else by the first form that fits; month before
day. What has no form (Friday, Easter) stays, and weekdays stay true, since dates move by whole weeks.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.perturbation.text_edits import Draw, Edit, GoldMention, GoldNote, Perturbation

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_NUMBERS = {name[:3].casefold(): at for at, name in enumerate(_MONTHS, 1)}
_FORMS = (
    *("YYYY-MM-DD", "YYYY/MM/DD", "MM/DD/YYYY", "M/D/YYYY", "MM-DD-YYYY", "M-D-YYYY", "DD.MM.YYYY", "D.M.YYYY"),
    *("MM/DD/YY", "M/D/YY", "MM-DD-YY", "M-D-YY", "DD-MMM-YYYY", "D-MMM-YYYY", "DD MMM YYYY", "D MMM YYYY"),
    *("D MMMM YYYY", "DD MMMM YYYY", "MMMM Do, YYYY", "MMMM D, YYYY", "MMM D, YYYY", "MMMM D YYYY", "MMM D YYYY"),
    *("MMMM YYYY", "MMM YYYY", "MM/YYYY", "M/YYYY", "YYYY-MM", "MMMM Do", "MMMM D", "MMM D", "D MMMM", "D MMM"),
    *("MM/DD", "M/D", "MM-DD", "YYYY", "MMMM"),
)
"""Tried in this order where gold does not say which."""
_PARTS = {
    "YYYY": r"(?P<year>[12]\d{3})",
    "YY": r"(?P<year>\d{2})",
    "MMMM": r"(?P<month>[A-Za-z]{3,9})",
    "MMM": r"(?P<month>[A-Za-z]{3})",
    "MM": r"(?P<month>\d{2})",
    "M": r"(?P<month>\d{1,2})",
    "DD": r"(?P<day>\d{2})",
    "Do": r"(?P<day>\d{1,2})(?:st|nd|rd|th)",
    "D": r"(?P<day>\d{1,2})",
}
_TOKEN = re.compile("|".join(_PARTS))
_STYLES = {
    "us": {"ymd": "MM/DD/YYYY", "ym": "MM/YYYY", "md": "MM/DD"},
    "iso": {"ymd": "YYYY-MM-DD", "ym": "YYYY-MM", "md": "MM-DD"},
    "long": {"ymd": "MMMM D, YYYY", "ym": "MMMM YYYY", "md": "MMMM D"},
}
_PIVOT = 50
_WEEK, _MOST_WEEKS = 7, 52
_UNKNOWN_YEAR = 2001


class WrittenDate(Struct, frozen=True):
    """What a date says, and in which form; what it does not say is None."""

    form: str
    year: int | None
    month: int | None
    day: int | None

    @property
    def parts(self) -> str:
        told = (("y", self.year), ("m", self.month), ("d", self.day))
        return "".join(letter for letter, value in told if value is not None)


def read_date(text: str, label: str | None = None) -> WrittenDate | None:
    """What a text says as a date; None where it is none that we can write."""
    forms = (label, *_FORMS) if label in _FORMS else _FORMS
    return next((found for form in forms if form and (found := _read_as(text, form)) is not None), None)


def written_date(value: WrittenDate) -> str:
    """The date in its form."""
    return _TOKEN.sub(lambda token: _part(token[0], value), value.form)


def _read_as(text: str, form: str) -> WrittenDate | None:
    match = _pattern(form).fullmatch(text)
    if match is None:
        return None
    said = match.groupdict()
    month = said.get("month")
    number = None if month is None else int(month) if month.isdigit() else _month_number(month, form)
    year, day = (int(said[part]) if said.get(part) else None for part in ("year", "day"))
    if year is not None and year < 100:
        year += 2000 if year < _PIVOT else 1900
    found = WrittenDate(form, year, number, day)
    return found if _exists(found, month) else None


def _month_number(month: str, form: str) -> int:
    number = _NUMBERS.get(month[:3].casefold(), 0)
    whole = _MONTHS[number - 1].casefold() if number else ""
    return number if month.casefold() == (whole if "MMMM" in form else whole[:3]) else 0


def _exists(value: WrittenDate, month: str | None) -> bool:
    if month is not None and not 1 <= (value.month or 0) <= 12:
        return False
    try:
        date(value.year or 2000, value.month or 1, value.day if value.day is not None else 1)
    except ValueError:
        return False
    return True


@cache
def _pattern(form: str) -> re.Pattern[str]:
    pieces, at = [], 0
    for token in _TOKEN.finditer(form):
        pieces += [re.escape(form[at : token.start()]), _PARTS[token[0]]]
        at = token.end()
    return re.compile("".join([*pieces, re.escape(form[at:])]), re.IGNORECASE)


def _part(piece: str, value: WrittenDate) -> str:
    year, month, day = value.year or 0, value.month or 0, value.day or 0
    if piece.startswith("Y"):
        return f"{year:04d}" if piece == "YYYY" else f"{year % 100:02d}"
    if piece.startswith("MMM"):
        return _MONTHS[month - 1][: None if piece == "MMMM" else 3]
    if piece == "Do":
        ending = {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th") if day not in {11, 12, 13} else "th"
        return f"{day}{ending}"
    number = month if piece.startswith("M") else day
    return f"{number:02d}" if len(piece) == 2 else str(number)


class _DateChange(Perturbation):
    """One that rewrites dates."""

    writes = "inside"
    source = "docs/perturbation.md"


class DateForms(_DateChange):
    """Every date in one style; years alone and months alone stay."""

    name = "dates"
    description = "dates are written the American way (us), as ISO 8601 (iso), or with the month's name (long)"
    metavar = "us|iso|long"
    sample = "iso"

    def __init__(self, value: str) -> None:
        super().__init__(value)
        if value not in _STYLES:
            raise UsageFault(f"found '{value}'; expected {', '.join(_STYLES)}")

    def edits(self, notes: Sequence[GoldNote], draw: Draw) -> list[list[Edit]]:
        return [[edit for place, said in _dates(note) if (edit := self._edit(note, place, said))] for note in notes]

    def _edit(self, note: GoldNote, place: GoldMention, said: WrittenDate) -> Edit | None:
        form = _STYLES[self.value].get(said.parts)
        if form is None:
            return None
        new = WrittenDate(form, said.year, said.month, said.day)
        return _edit(note, place, new)


class ShiftedDates(_DateChange):
    """Every date moved by as many weeks; what lies between two dates of a patient stays."""

    name = "shift-days"
    description = "dates move by 1 to 52 whole weeks, as many for all notes of a patient"

    def edits(self, notes: Sequence[GoldNote], draw: Draw) -> list[list[Edit]]:
        weeks = 1 + draw.below(_MOST_WEEKS)
        moved = timedelta(days=_WEEK * (weeks if draw.chance(0.5) else -weeks))
        return [list(self._moved(note, moved)) for note in notes]

    @staticmethod
    def _moved(note: GoldNote, by: timedelta) -> Iterator[Edit]:
        """A date without a year is taken to be of that of the whole date before it, else of the first one."""
        dates = list(_dates(note))
        year = next((said.year for _, said in dates if said.year and said.month), _UNKNOWN_YEAR)
        for place, said in dates:
            year = said.year or year
            new = _moved_date(said, year, by)
            if new is not None:
                yield _edit(note, place, new)


def _moved_date(said: WrittenDate, year: int, by: timedelta) -> WrittenDate | None:
    """What says a month or a year alone moves as its middle does."""
    middle = 15 if said.month is not None else 1
    try:
        anchor = date(year, said.month or 7, said.day if said.day is not None else middle)
    except ValueError:  # February 29 in a year that has none
        anchor = date(year, 3, 1)
    try:
        new = anchor + by
    except OverflowError:
        return None
    if new.year < 1000:
        return None
    told = WrittenDate(
        said.form,
        new.year if said.year is not None else None,
        new.month if said.month is not None else None,
        new.day if said.day is not None else None,
    )
    return told if _exists(told, None) else None


def _dates(note: GoldNote) -> Iterator[tuple[GoldMention, WrittenDate]]:
    """What gold calls a date, in the order of the text, each place once."""
    seen: set[tuple[int, int]] = set()
    for one in sorted(note.mentions, key=lambda mention: (mention.start, mention.task.id != "date")):
        is_date = "DATE" in one.task.plain_types or (one.label or "").upper() == "DATE"
        if is_date and (one.start, one.end) not in seen:
            seen.add((one.start, one.end))
            if (said := read_date(note.text[one.start : one.end], one.label)) is not None:
                yield one, said


def _edit(note: GoldNote, place: GoldMention, new: WrittenDate) -> Edit:
    before = note.text[place.start : place.end]
    text = written_date(new)
    return Edit(place.start, place.end, text.upper() if before.isupper() else text, new.form)

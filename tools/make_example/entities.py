"""Days, people and places: what the notes speak of, and how each may be written.

A slot of a template says how: ``{visit:MMMM D, YYYY}``, ``{patient:LAST, FIRST}``, ``{hospital:upper}``.
"""

import datetime
import re
from dataclasses import dataclass, field

from tools.make_example.markup import mark

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_DAY_TOKEN = re.compile(r"YYYY|YY|MMMM|MMM|MM|M|DD|Do|D|dddd")
_NAME_TOKEN = re.compile(r"Title|First|FIRST|Middle|Last|LAST|Nick|F|M")


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


@dataclass(frozen=True, slots=True)
class Day:
    """The slot's format is the gold's dateFormat; after ``~`` it is left out of the gold."""

    date: datetime.date
    styles: dict[str, str] = field(default_factory=dict)

    def after(self, days: int) -> "Day":
        return Day(self.date + datetime.timedelta(days), self.styles)

    def __format__(self, spec: str) -> str:
        date_format = self.styles.get(spec, spec)
        label = "" if date_format.startswith("~") else date_format
        return mark("date", _DAY_TOKEN.sub(self._part, date_format.removeprefix("~")), label)

    def _part(self, token: re.Match[str]) -> str:
        date = self.date
        parts = {
            "YYYY": f"{date.year:04}",
            "YY": f"{date.year % 100:02}",
            "MMMM": MONTHS[date.month - 1],
            "MMM": MONTHS[date.month - 1][:3],
            "MM": f"{date.month:02}",
            "M": str(date.month),
            "DD": f"{date.day:02}",
            "Do": _ordinal(date.day),
            "D": str(date.day),
            "dddd": WEEKDAYS[date.weekday()],
        }
        return parts[token.group()]


@dataclass(frozen=True, slots=True)
class Person:
    """``Title`` is "Mr." or "Ms." and stands before the span, not in it."""

    first: str
    last: str
    middle: str = ""
    nick: str = ""
    title: str = ""

    def __format__(self, spec: str) -> str:
        if spec.startswith("Title "):
            return f"{self.title} {format(self, spec.removeprefix('Title '))}"
        return mark("person-name", _NAME_TOKEN.sub(self._part, spec))

    def _part(self, token: re.Match[str]) -> str:
        parts = {
            "First": self.first,
            "FIRST": self.first.upper(),
            "Middle": self.middle,
            "Last": self.last,
            "LAST": self.last.upper(),
            "Nick": self.nick or self.first,
            "F": self.first[:1],
            "M": self.middle[:1],
        }
        return parts[token.group()]


@dataclass(frozen=True, slots=True)
class Place:
    """An article before the name stands outside the span."""

    kind: str
    name: str
    short: str = ""

    def __format__(self, spec: str) -> str:
        name = {"": self.name, "upper": self.name.upper(), "short": self.short}[spec]
        article = "the " if name.startswith("the ") else ""
        return article + mark("address", name.removeprefix(article), self.kind)

"""A set of names: surnames and given names of one origin, with where they come from and under which licence."""

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field

from sandscore.base.errors import OrganiserFault, UsageFault, did_you_mean
from sandscore.records.record_reading import file_content, read_record
from sandscore.records.strict_record import StrictRecord

FOLDER = Path(__file__).parent / "names"
Word = Annotated[str, Field(min_length=2, max_length=60, pattern=r"^[^\W\d_](?:[^\W\d_]|[̀-ͯ'’])+$")]
Words = Annotated[tuple[Word, ...], Field(min_length=1, max_length=100_000)]


class NameSource(StrictRecord):
    """Where names come from."""

    source: Annotated[str, Field(min_length=1)]
    licence: Annotated[str, Field(min_length=1)]


class NameSet(StrictRecord):
    """One file of names, as they are written in a sentence."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,60}$")]
    description: str
    sources: Annotated[tuple[NameSource, ...], Field(min_length=1)]
    surnames: Words
    female: Words
    male: Words


def bundled_names() -> tuple[str, ...]:
    """The sets that come with us."""
    return tuple(sorted(file.stem for file in FOLDER.glob("*.json")))


def find_name_set(named: str) -> NameSet:
    """The set of that name, or that of a file."""
    if named in bundled_names():
        return _read(FOLDER / f"{named}.json")
    path = Path(named)
    if path.suffix == ".json" or path.exists():
        return _read(path)
    known = bundled_names()
    near = did_you_mean(named, known)
    raise UsageFault(f"unknown name set '{named}'{near}; a JSON file or one of {', '.join(known)}")


def _read(path: Path) -> NameSet:
    return read_record(NameSet, file_content(path), path, "a set of names", OrganiserFault)


@cache
def known_given_names() -> tuple[frozenset[str], frozenset[str]]:
    """Given names of women alone and of men alone, as the sets that come with us have them, in small letters."""
    sets = [find_name_set(name) for name in bundled_names()]
    female = {word.casefold() for one in sets for word in one.female}
    male = {word.casefold() for one in sets for word in one.male}
    return frozenset(female - male), frozenset(male - female)

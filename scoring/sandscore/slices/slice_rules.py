"""Slices of a data set: which group each note, or each gold annotation, is in, by a rule or by an organiser's file."""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType, field

from sandscore.annotations.columns import Ints
from sandscore.annotations.input_files import Loaded
from sandscore.base.byte_sources import InputFile, opened
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.records.record_reading import file_content, read_record
from sandscore.records.slicing_names import fault_of_slicing, slicing_name
from sandscore.slices.slice_files import SliceFile

_SHOWN_OF_HASH = 12
_PLACE = re.compile(r"^dataset/([^/]+)/")
NOTE_LENGTHS = (1_000, 3_000, 10_000)
MENTION_LENGTHS = (5, 10, 20)
UNSAID = "(not said)"


def _ranges(borders: Sequence[int]) -> tuple[str, ...]:
    between = zip((0, *borders), borders, strict=False)
    return (*(f"{low:,} to {high - 1:,}" for low, high in between), f"{borders[-1]:,} and more")


_RANGES = {"note-length": _ranges(NOTE_LENGTHS), "mention-length": _ranges(MENTION_LENGTHS)}


class Slicing(Struct, frozen=True):
    """A group for each note (``of`` notes) or gold annotation, -1 for none, and what the groups are called."""

    name: str
    of_mentions: bool
    groups: tuple[str, ...]
    codes: Ints
    sha256: str | None = None


class NoteFacts(Struct, frozen=True, gc=False):
    """What a note says of itself beside its text."""

    identifier: str
    name: str | UnsetType = field(name="note_name", default=UNSET)
    type: str | UnsetType = UNSET
    old_type: str | UnsetType = field(name="noteType", default=UNSET)
    site: str | UnsetType = UNSET


Rule = Callable[[Loaded, InputFile | None], Sequence[str]]


def slicing(asked: str, loaded: Loaded, notes: InputFile | None) -> Slicing:
    """The groups, in the order of their names."""
    if said := fault_of_slicing(asked):
        raise UsageFault(said)
    if asked not in RULES:
        return _by_file(Path(asked), loaded)
    of_mentions, rule = RULES[asked]
    return _numbered(asked, rule(loaded, notes), of_mentions=of_mentions)


def _numbered(name: str, said: Sequence[str], *, of_mentions: bool, sha256: str | None = None) -> Slicing:
    """Nothing said is no group; ranges stand in their own order."""
    order = {group: number for number, group in enumerate(_RANGES.get(name, ()))}
    groups = tuple(sorted({*said} - {""}, key=lambda group: (order.get(group, -1), group)))
    numbers = {group: number for number, group in enumerate(groups)} | {"": -1}
    codes = np.array([numbers[group] for group in said], np.int64)
    return Slicing(name, of_mentions, groups, codes, sha256)


def concerns(asked: str, loaded: Loaded) -> bool:
    """Whether a file of slices speaks of these notes and this gold at all; rules do of any gold."""
    if asked in RULES:
        return bool(len(loaded.columns["gold"]))
    told, find = _told(Path(asked)), _finder(loaded)
    if told.notes is not None:
        return any(find(note) >= 0 for note in told.notes)
    keys = {*_keys(loaded)}
    return any((find(one.note), one.start, one.length) in keys for one in told.mentions or ())


def _by_file(path: Path, loaded: Loaded) -> Slicing:
    with opened(path) as source:
        digest = source.sha256()[:_SHOWN_OF_HASH]
    told, find = _told(path), _finder(loaded)
    if any(find(note) < 0 for note in told.notes or (one.note for one in told.mentions or ())):
        raise OrganiserFault(f"{path}: a note of it is not among the notes")
    if told.notes is not None:
        by_place = {find(note): group for note, group in told.notes.items()}
        said = [by_place.get(number, "") for number in range(len(loaded.dataset.roll))]
        return _numbered(slicing_name(str(path)), said, of_mentions=False, sha256=digest)
    wanted = {(find(one.note), one.start, one.length): one.group for one in told.mentions or ()}
    keys = _keys(loaded)
    if missing := len(wanted.keys() - {*keys}):
        raise OrganiserFault(f"{path}: {missing:,} of its {len(wanted):,} annotations are not in gold")
    said = [wanted.get(key, "") for key in keys]
    return _numbered(slicing_name(str(path)), said, of_mentions=True, sha256=digest)


def _told(path: Path) -> SliceFile:
    return read_record(SliceFile, file_content(path), path, "a file of slices", OrganiserFault)


def _finder(loaded: Loaded) -> Callable[[str], int]:
    """The number of a note by its name, whole or not; -1 where there is none."""
    places = {name: number for number, name in enumerate(loaded.dataset.roll.ids)}
    return lambda note: places.get(note, places.get(note.rpartition("/")[2], -1))


def _keys(loaded: Loaded) -> list[tuple[int, int, int]]:
    """Note, start and length of each gold annotation."""
    gold = loaded.columns["gold"]
    return list(zip(gold.note.tolist(), gold.start.tolist(), gold.length.tolist(), strict=True))


def _labels(loaded: Loaded, _notes: InputFile | None) -> list[str]:
    names = [*loaded.dataset.vocabulary.names, "(no label)"]
    return [names[code] for code in loaded.columns["gold"].label.tolist()]


def _mention_lengths(loaded: Loaded, _notes: InputFile | None) -> list[str]:
    names = _RANGES["mention-length"]
    return [names[bisect_right(MENTION_LENGTHS, length)] for length in loaded.columns["gold"].length.tolist()]


def _note_lengths(loaded: Loaded, _notes: InputFile | None) -> list[str]:
    texts = loaded.dataset.texts
    if texts is None:
        raise UsageFault("slices by note-length are told from the notes' text: give --notes")
    names = _RANGES["note-length"]
    return [names[bisect_right(NOTE_LENGTHS, len(texts[at]))] for at in range(len(loaded.dataset.roll))]


def _scripts(loaded: Loaded, _notes: InputFile | None) -> list[str]:
    texts = loaded.dataset.texts
    if texts is None:
        raise UsageFault("slices by script are told from the notes' text: give --notes")
    gold, found, last, text = loaded.columns["gold"], list[str](), -1, ""
    for note, start, length in zip(gold.note.tolist(), gold.start.tolist(), gold.length.tolist(), strict=True):
        if note != last:
            last, text = note, texts[note]
        found.append(script_of(text[start : start + length]))
    return found


def script_of(text: str) -> str:
    """The script of most letters; Latin ones that are not ASCII make it Latin with marks."""
    letters = [letter for letter in text if letter.isalpha()]
    if not letters:
        return "no letters"
    if all(letter.isascii() for letter in letters):
        return "Latin"
    counted = Counter(unicodedata.name(letter, "UNKNOWN").partition(" ")[0].capitalize() for letter in letters)
    script = min(counted, key=lambda name: (-counted[name], name))
    return "Latin with marks" if script == "Latin" else script


def _note_types(loaded: Loaded, notes: InputFile | None) -> list[str]:
    def told(one: NoteFacts) -> str | UnsetType:
        return one.old_type if one.type is UNSET else one.type

    return [str(kind) if (kind := told(one)) else UNSAID for one in _facts(loaded, notes, "note-type")]


def _sites(loaded: Loaded, notes: InputFile | None) -> list[str]:
    """A note's ``site``, else the data set that its full name begins with."""

    def told(one: NoteFacts) -> str:
        if one.site:
            return str(one.site)
        place = _PLACE.match(one.name) if one.name else None
        return place[1] if place else UNSAID

    return [told(one) for one in _facts(loaded, notes, "site")]


def _facts(loaded: Loaded, notes: InputFile | None, rule: str) -> list[NoteFacts]:
    """What the notes file says of each note, in the data set's order."""
    if notes is None or str(notes) == "-":
        raise UsageFault(f"slices by {rule} are told from the notes: give --notes FILE")
    with opened(notes) as source:
        data = bytes(source.data).strip()
    try:
        found = _decoded(data)
    except msgspec.MsgspecError:
        raise OrganiserFault(f"{notes}: type, site or note_name of a note is no text") from None
    if len(found) != len(loaded.dataset.roll):
        raise OrganiserFault(f"{notes}: {len(found):,} notes, where there were {len(loaded.dataset.roll):,} before")
    return found


def _decoded(data: bytes) -> list[NoteFacts]:
    if data[:1] == b"[":
        return msgspec.json.decode(data, type=list[NoteFacts])
    try:
        return [msgspec.json.decode(data, type=NoteFacts)]
    except msgspec.DecodeError:
        return msgspec.json.Decoder(NoteFacts).decode_lines(data)


RULES: dict[str, tuple[bool, Rule]] = {
    "label": (True, _labels),
    "mention-length": (True, _mention_lengths),
    "script": (True, _scripts),
    "note-type": (False, _note_types),
    "note-length": (False, _note_lengths),
    "site": (False, _sites),
}
"""By name: whether annotations are in groups, or notes, and what says the group of each."""

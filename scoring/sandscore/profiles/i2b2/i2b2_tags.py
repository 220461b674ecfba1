"""Annotations as the i2b2 2014 script sees them: a category, a TYPE, a start and an end."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from sandscore.annotations.input_files import Loaded
from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.documents.note_documents import last_segment, resource_name
from sandscore.task_table.task import I2b2Category, Task

TYPES: dict[str, tuple[str, ...]] = {
    "CONTACT": ("PHONE", "FAX", "EMAIL", "URL", "IPADDR"),
    "NAME": ("PATIENT", "DOCTOR", "USERNAME"),
    "DATE": ("DATE",),
    "AGE": ("AGE",),
    "PROFESSION": ("PROFESSION",),
    "ID": (
        *("SSN", "MEDICALRECORD", "HEALTHPLAN", "ACCOUNT", "LICENSE"),
        *("VEHICLE", "DEVICE", "BIOID", "IDNUM"),
    ),
    "OTHER": ("OTHER",),
    "LOCATION": (
        *("ROOM", "DEPARTMENT", "HOSPITAL", "ORGANIZATION", "STREET"),
        *("CITY", "STATE", "COUNTRY", "ZIP", "LOCATION-OTHER"),
    ),
}
"""The categories in the order in which the script reports them, with their valid TYPEs."""

ANY_CATEGORY = "PHI"
_OWNER = {kind: category for category, kinds in TYPES.items() for kind in kinds}
_NO_CATEGORY = I2b2Category("OTHER")
"""Where the table gives none: the script counts such tags under OTHER, and prints a WARNING about their TYPEs."""

# IDNUM is meant to be HIPAA, but the script's pattern for it ends in a space and so never matches
_HIPAA = {
    "NAME": re.compile("PATIENT"),
    "LOCATION": re.compile("CITY|STREET|ZIP|ORGANIZATION"),
    "DATE": re.compile(""),
    "AGE": re.compile(""),
    "CONTACT": re.compile("PHONE|FAX|EMAIL"),
    "ID": re.compile("SSN|MEDICALRECORD|HEALTHPLAN|ACCOUNT|LICENSE|VEHICLE|DEVICE|BIOID|IDNUM "),
}


class I2b2Tag(Struct, frozen=True, gc=False):
    """One tag of the original's XML: where it begins and ends, and what it is called."""

    category: str
    type: str
    start: int
    end: int


class Tagged(Struct):
    """One side: each document's tags in file order, and how many annotations fit into no category."""

    documents: dict[str, list[I2b2Tag]] = field(default_factory=dict)
    ignored: int = 0

    @property
    def invalid(self) -> int:
        """Tags for which the script prints a WARNING about their TYPE, and goes on."""
        return sum(not _is_valid(tag.category, tag.type) for tags in self.documents.values() for tag in tags)


def is_hipaa(tag: I2b2Tag) -> bool:
    """Whether the script's case-sensitive prefix patterns take the tag for HIPAA PHI."""
    return _is_hipaa(tag.category, tag.type)


@lru_cache(maxsize=1024)
def _is_hipaa(category: str, kind: str) -> bool:
    pattern = _HIPAA.get(category)
    return pattern is not None and pattern.match(kind) is not None


@lru_cache(maxsize=4096)
def upper(text: str) -> str:
    """Upper case letter by letter, as Python 2 has it: a letter whose capital is two letters stays."""
    if text.isascii():
        return text.upper()
    return "".join(big if len(big := letter.upper()) == 1 else letter for letter in text)


def read_tags(records: Iterable[Any], task: Task, fault: type[OrganiserFault | ParticipantFault]) -> Tagged:
    """Every record's tags, records of one note joined."""
    tagged, known = Tagged(), _Kinds(task)
    for record in records:
        try:
            name, listed = resource_name(record), record.get(task.array) or ()
        except (KeyError, TypeError, AttributeError):
            raise fault("a record has no counterpart in the i2b2 format: it must name its note") from None
        tags = tagged.documents.setdefault(last_segment(name), [])
        for annotation in listed:
            tag = _tag(annotation, task, fault, known)
            if tag:
                tags.append(tag)
            else:
                tagged.ignored += 1
    return tagged


def tags_of(loaded: Loaded, role: str, task: Task) -> Tagged | None:
    """The same of a file that was read as columns; None where they do not say where a record without tags stood."""
    columns, dataset = loaded.columns[role], loaded.dataset
    if task.type_field and task.type_field != task.label:
        return None
    known = _Kinds(task)
    kinds = [known[label] for label in (*dataset.vocabulary.names, "")]
    label, start, length = columns.label.tolist(), columns.start.tolist(), columns.length.tolist()
    tagged, notes = Tagged(), {note: list[I2b2Tag]() for note in dict.fromkeys(columns.note.tolist())}
    for note, (category, kind), begin, size in zip(
        columns.note.tolist(), map(kinds.__getitem__, label), start, length, strict=True
    ):
        if category:
            notes[note].append(I2b2Tag(category, kind, begin, begin + size))
        else:
            tagged.ignored += 1
    entries = loaded.entries[role]
    if role == "gold" and len(notes) < sum(entries):
        return None
    notes |= {note: [] for note, there in enumerate(entries) if there and note not in notes}
    tagged.documents = {dataset.roll.ids[note]: tags for note, tags in notes.items()}
    return tagged


class _Kinds(dict[str, tuple[str, str]]):
    """Category and TYPE of each label, found out once."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self._task = task

    def __missing__(self, label: str) -> tuple[str, str]:
        found = self[label] = _kind(label, self._task)
        return found


def _tag(annotation: Any, task: Task, fault: type[OrganiserFault | ParticipantFault], known: _Kinds) -> I2b2Tag | None:
    if not isinstance(annotation, dict):
        raise fault("an annotation has no counterpart in the i2b2 format: it is not an object")
    start, length = annotation.get("start"), annotation.get("length")
    label = annotation.get(task.type_field or task.label or "")
    if type(start) is not int or type(length) is not int:
        raise fault("an annotation has no counterpart in the i2b2 format: start and length must be integers")
    if label is not None and not isinstance(label, str):
        raise fault("an annotation has no counterpart in the i2b2 format: its type must be a string")
    category, kind = known[label or ""]
    return I2b2Tag(category, kind, start, start + length) if category else None


def _kind(label: str, task: Task) -> tuple[str, str]:
    if task.any_type:
        category, slash, kind = label.partition("/")
        if slash:
            return (category if category in TYPES or category == ANY_CATEGORY else ""), kind
        return _OWNER.get(upper(label), ""), label
    known = task.i2b2 or _NO_CATEGORY
    if known.type is not None:
        return known.category, upper(label or known.type) if task.type_field else known.type
    if known.category == ANY_CATEGORY:
        return known.category, label
    return known.category, _spelt(known.category, label, task)


def _spelt(category: str, label: str, task: Task) -> str:
    written = {label: kind.rpartition("/")[2] for kind, label in task.foreign_types("i2b2").labels}
    if label in written:
        return written[label]
    kind = upper(label).replace("_", "")
    # "location-other" is not how our tasks spell it, so it stays as it is
    is_ours = label.islower() and "-" not in label
    return kind if is_ours and kind in TYPES[category] else label


@lru_cache(maxsize=4096)
def _is_valid(category: str, written: str) -> bool:
    kind = upper(written)
    if category == "OTHER":
        return kind in "OTHER"
    return kind in TYPES.get(category, tuple(_OWNER))

"""The notes an annotator is given: read strictly, sent without anything that gives a note away."""

import hashlib
import json
import re
from typing import Any

from msgspec import Struct

from sandscore.annotations.note_loader import slashed
from sandscore.annotations.slow_validation import note_complaints
from sandscore.base.byte_sources import InputFile, opened
from sandscore.base.errors import OrganiserFault
from sandscore.base.strict_json import JsonFault, pointer, values

_ACCEPTED_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DEFAULT_TYPE = "loinc:LP29684-5"


class SentNote(Struct, frozen=True):
    """A note of the data set; ``name`` is what its predictions are joined on."""

    name: str
    identifier: str
    text: str
    patient: str | None = None
    type: str | None = None

    def record(self) -> dict[str, str]:
        """The note as it stands in a notes file."""
        written = {"identifier": self.identifier, "text": self.text, "patientId": self.patient, "type": self.type}
        if self.name != self.identifier:
            written["note_name"] = self.name
        return {key: value for key, value in written.items() if value is not None}

    def payload(self) -> dict[str, str]:
        """The note as annotators of every schema version take it; identifiers made acceptable to them."""
        identifier = acceptable(self.identifier, "note")
        kind = self.type or _DEFAULT_TYPE
        patient = acceptable(self.patient, "patient") if self.patient else "patient-" + identifier[:52].rstrip("-")
        return {"identifier": identifier, "text": self.text, "type": kind, "noteType": kind, "patientId": patient}


def acceptable(identifier: str, what: str) -> str:
    """The identifier if the NLP Sandbox schemas take it, else one derived from it."""
    if 3 <= len(identifier) <= 60 and _ACCEPTED_ID.fullmatch(identifier):
        return identifier
    return f"{what}-{hashlib.sha256(identifier.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def read_notes(path: InputFile) -> tuple[list[SentNote], str]:
    """The notes of a file in its order, and the SHA-256 of its bytes."""
    with opened(path) as source:
        digest = source.sha256()
        data = bytes(source.data)
    try:
        notes = [_note(value, place, path) for place, value in enumerate(values(data))]
    except JsonFault as fault:
        raise OrganiserFault(f"{path}: {fault}") from None
    names = [note.name for note in notes]
    if (
        repeated := next((name for name in names if names.count(name) > 1), None)
        if len(set(names)) < len(names)
        else None
    ):
        raise OrganiserFault(f"{path}: the note {json.dumps(repeated)} is there twice")
    if not notes:
        raise OrganiserFault(f"{path}: there is no note in it")
    return notes, digest


def _plain(value: Any) -> bool:
    """Whether a note is so plainly right that its schema need not be asked."""
    if not isinstance(value, dict) or not {"identifier", "text"} <= value.keys():
        return False
    return all(isinstance(value.get(key, ""), str) for key in ("identifier", "text", "patientId", "type", "note_name"))


def _note(value: Any, place: int, path: InputFile) -> SentNote:
    if not _plain(value) and (complaints := note_complaints(value)):
        where = "/".join(["", str(place), *map(str, complaints[0].path)])
        raise OrganiserFault(f"{path}: {where} is not as a note's must be (schemas/note.schema.json)")
    identifier = value["identifier"]
    if "/" in identifier:
        raise OrganiserFault(f"{path}: {pointer([place, 'identifier'])}: {slashed(identifier)}")
    return SentNote(
        name=value.get("note_name", identifier),
        identifier=identifier,
        text=value["text"],
        patient=value.get("patientId"),
        type=value.get("type"),
    )

"""Names for the notes of files that need not say them, and what formats say of notes and annotations beside the usual.

A record says its note, or is known by its text, or stands where its note stands among the notes that were given.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandscore.base.errors import ParticipantFault, UsageFault, did_you_mean
from sandscore.base.terminal_text import cited
from sandscore.formats.corpus import CorpusNote, LossJournal, Mark
from sandscore.formats.json_fields import JsonObject, text_or_none

NOTE_KEYS = ("note", "note_id", "doc_id", "identifier")
FACTS = {"patientId": "patient", "noteType": "type", "note_name": "name"}
"""What is said of a note, as records have it, and where the note keeps it."""
ENTITY_ID, IDENTIFIER_TYPE, ANNOTATOR = "entity_id", "identifier_type", "annotator"
EVERYBODY = "*"
ANNOTATORS = "annotators"
"""Who has read a note, in ``CorpusNote.more``, where that is not seen from its annotations: nobody is ``[]``."""


class NoteNaming:
    """Finds out which notes the records of one file are about."""

    def __init__(self, form: str, path: object, notes: Sequence[CorpusNote] | None, journal: LossJournal) -> None:
        self._form, self._path, self._notes, self._journal = form, path, notes, journal
        self._known = {note.id: note for note in notes or ()}
        self._by_text: dict[str, list[str]] = {}
        for note in reversed(notes or ()):
            self._by_text.setdefault(note.text or "", []).append(note.id)
        self._ordered = self._numbered = 0

    def note(self, record: Mapping[str, Any], text: str | None, number: int, where: str) -> CorpusNote:
        """The note of a record, its text from the record itself or from the notes."""
        name = self._said(record) or self._found(text, number, where)
        facts: JsonObject = {ours: text_or_none(dict(record), key, where) for key, ours in FACTS.items()}
        if text is not None:
            return CorpusNote(name, text, **facts)
        if self._notes is not None and name not in self._known:
            raise ParticipantFault(
                f"{where}: note {cited(name)} is not among the notes{did_you_mean(name, self._known)}"
            )
        return self._known.get(name) or CorpusNote(name, None, **facts)

    def done(self) -> None:
        """Records that were taken by their order have to be as many as the notes."""
        if self._ordered and self._ordered != len(self._known):
            lists = f"{self._ordered:,} list{'s do' if self._ordered > 1 else ' does'} not say of which note"
            raise ParticipantFault(
                f"{self._path}: {lists}, but "
                f'there are {len(self._known):,} notes; give one list a note in their order, or {{"note": [...]}}'
            )
        if self._numbered:
            self._journal.lose(self._form, "identifiers: notes without one are numbered", "1", self._numbered)

    def _said(self, record: Mapping[str, Any]) -> str | None:
        for key in NOTE_KEYS:
            if isinstance(record.get(key), str):
                return str(record[key])
        given = record.get("id")
        if isinstance(given, int) and not isinstance(given, bool):
            return str(given) if str(given) in self._known else None
        return given if isinstance(given, str) else None

    def _found(self, text: str | None, number: int, where: str) -> str:
        if self._notes is None:
            if text is None:
                raise UsageFault(f"{where}: neither its note nor the text is said; give --notes")
            self._numbered += 1
            return str(number)
        if text is not None:
            same = self._by_text.get(text)
            if not same:
                raise ParticipantFault(f"{where}: its text is that of none of the notes")
            return same.pop()
        if self._ordered >= len(self._notes):
            raise ParticipantFault(
                f"{where}: it does not say its note, and there are only {len(self._notes):,} notes to take in order"
            )
        self._ordered += 1
        return self._notes[self._ordered - 1].id


def facts_of(note: CorpusNote) -> dict[str, str]:
    """What is known of a note beside its text, as records have it."""
    known = {"note": note.id} | {key: getattr(note, ours) for key, ours in FACTS.items()}
    return {key: value for key, value in known.items() if value is not None}


def beside(
    item: Mapping[str, Any], read: frozenset[str], told: tuple[str, CorpusNote, LossJournal]
) -> Iterator[tuple[str, str]]:
    """What an item says beside what was read of it: further labels and its entity; the rest is lost, and told."""
    form, note, journal = told
    for key, value in item.items():
        if key in read or value is None:
            continue
        if isinstance(value, str) and key in known_beside(journal):
            yield key, value
        else:
            journal.lose(form, f"property {key!r}", note.id)


def known_beside(journal: LossJournal) -> set[str]:
    """The names of labels of all tasks, and of what is said of entities."""
    labels = {name for task in journal.tasks.values() for name in (task.label, task.second_label) if name}
    return labels | {ENTITY_ID, IDENTIFIER_TYPE, ANNOTATOR}


def chosen(found: Mapping[str, Any], journal: LossJournal, form: str, note: str, where: str) -> JsonObject:
    """Of several annotators' work that which is meant; refuses to choose."""
    wanted = journal.annotator
    if wanted == EVERYBODY or (wanted is None and len(found) < 2):
        return dict(found)
    if wanted is None:
        named = ", ".join(cited(name) for name in list(found)[:8])
        raise UsageFault(
            f"{where}: {len(found)} people annotated note {cited(note)}: --annotator takes one of {named}, or '*'"
        )
    left = len(found) - (wanted in found)
    if left:
        journal.lose(form, "what other annotators have", note, left)
    return {wanted: found[wanted]} if wanted in found else {}


def more_of(mark: Mark) -> dict[str, str]:
    """What an annotation carries beside type and confidence, by name."""
    return dict(mark.more)


def as_score(confidence: float) -> float:
    """A confidence as a share of one."""
    return confidence / 100


def as_confidence(score: object, where: str) -> float:
    """A share of one as a confidence; single precision may round it a little beyond."""
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1 + 1e-6:
        raise ParticipantFault(f"{where}: a score should be a number from 0 to 1")
    found = round(100 * min(score, 1), 10)
    return int(found) if found == int(found) else found


def score_fields(confidence: float | None) -> dict[str, float]:
    """``score``, and ``confidence`` beside it where that does not come back from it."""
    if confidence is None:
        return {}
    score = as_score(confidence)
    exact = as_confidence(score, "") == confidence
    return {"score": score} if exact else {"score": score, "confidence": confidence}

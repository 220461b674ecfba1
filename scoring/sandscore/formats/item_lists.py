"""Lists of found spans, note by note, as libraries hand them out: the shapes such files have, and one to write them in.

A file is a list of lists in the order of the notes, an object of lists by note, or a record a note (also as JSON Lines)
with its name or text beside the list; one list alone is about the only note there is.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.format_files import one_path, read_json
from sandscore.formats.json_fields import JsonObject, confidence_of, listed, mapping, text_of, text_or_none, whole
from sandscore.formats.note_naming import NOTE_KEYS, NoteNaming, as_confidence, beside, facts_of
from sandscore.formats.token_items import misplaced, whole_words

_RECORD = frozenset({"text", "id", "patientId", "noteType", "note_name", *NOTE_KEYS})


class ItemList(Struct, frozen=True):
    """How one library calls its things: the lists in a record, the type in an item, and what else an item has."""

    name: str
    lists: tuple[str, ...]
    kinds: tuple[str, ...]
    known: frozenset[str]
    """Fields of an item that say nothing that is kept."""
    within: str | None = None
    """The object of an item in which there is room for more."""

    def is_item(self, value: Any) -> bool:
        """Whether a value is a found span of this library."""
        return isinstance(value, dict) and "start" in value and any(kind in value for kind in self.kinds)

    def is_begun(self, item: Any) -> bool:
        """Whether the first item of a file is of this library: a span, a list of them, or a record that has one."""
        if isinstance(item, list):
            return bool(item) and self.is_item(item[0])
        if not isinstance(item, dict) or self.is_item(item):
            return self.is_item(item)
        return any(isinstance(held, list) and held and self.is_item(held[0]) for held in item.values())

    def read(self, paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None) -> Corpus:
        """The corpus of one file."""
        path = one_path(paths, f"a {self.name} file")
        naming = NoteNaming(self.name, path, notes, journal)
        records = list(self._records(read_json(path), str(path)))
        entries = []
        for number, (record, items, where) in enumerate(journal.watch(records, len(records), self.name), 1):
            note = naming.note(record, text_or_none(record, "text", where), number, where)
            for key in record.keys() - _RECORD - set(self.lists):
                journal.lose(self.name, f"property {key!r} of notes", note.id)
            entries.append(AnnotatedNote(note, tuple(self._marks(items, note, where, journal))))
        naming.done()
        return Corpus(tuple(entries))

    def _records(self, held: Any, path: str) -> Iterator[tuple[JsonObject, list[Any], str]]:
        if isinstance(held, dict) and not any(key in held for key in self.lists):
            for name, items in held.items():
                yield {"note": name}, listed(items, f"{path}: {name[:60]}"), f"{path}: {name[:60]}"
            return
        records = [held] if isinstance(held, dict) else listed(held, f"{path}: the file")
        if records and all(self.is_item(record) for record in records):
            records = [records]
        for number, record in enumerate(records):
            where = f"{path}[{number}]"
            if isinstance(record, list):
                yield {}, record, where
                continue
            key = next((key for key in self.lists if key in mapping(record, where)), None)
            if key is None:
                raise ParticipantFault(
                    f"{where}: found none of {', '.join(self.lists)}, one of which lists what was found"
                )
            yield record, listed(record[key], f"{where}: {key}"), where

    def _marks(self, items: list[Any], note: CorpusNote, where: str, journal: LossJournal) -> Iterator[Mark]:
        words, _ = whole_words(mapping(item, f"{where}: item {number}") for number, item in enumerate(items))
        for number, item in enumerate(words):
            mark = self._mark(item, note, f"{where}: item {number}", journal)
            if mark:
                yield mark

    def _mark(self, item: JsonObject, note: CorpusNote, where: str, journal: LossJournal) -> Mark | None:
        quoted = text_or_none(item, "text", where)
        if item.get("start", 0) is None and item.get("end", 0) is None:
            raise ParticipantFault(
                f"{where}: start and end are null: a slow tokenizer knows no offsets; load the model with a fast one"
            )
        if quoted is None:
            word = text_or_none(item, "word", where)
            quoted = word if note.text is None else misplaced(word, note.text, (item.get("start"), item.get("end")))
        annotation = journal.cut(
            self.name, note, (whole(item, "start", where), whole(item, "end", where)), quoted, where
        )
        if annotation is None:
            return None
        kind = next((text_of(item, key, where) for key in self.kinds if item.get(key) is not None), None)
        room = item.get(self.within) if self.within else None
        said: Mapping[str, Any] = {**item, **room} if isinstance(room, dict) else item
        more = tuple(beside(said, self._read(), (self.name, note, journal)))
        annotation = replace(annotation, label=kind or None, confidence=_confidence(said, where))
        return Mark(FLAT, annotation, more=more)

    def _read(self) -> frozenset[str]:
        own = {"start", "end", "text", "score", "confidence", *self.kinds}
        return self.known | own | ({self.within} if self.within else set())

    def write(self, corpus: Corpus, journal: LossJournal, item: Callable[[Mark], JsonObject]) -> bytes:
        """A record a note, a line each; the first of the names of lists is written."""
        lines = []
        for entry in journal.watch(corpus.entries, len(corpus.entries), self.name):
            record = facts_of(entry.note) | {
                "text": entry.note.text,
                self.lists[0]: [item(mark) for mark in entry.marks],
            }
            lines.append(json.dumps(record, ensure_ascii=False) + "\n")
        return "".join(lines).encode("utf-8") or b"[]\n"


def _confidence(item: Mapping[str, Any], where: str) -> float | None:
    if "confidence" in item:
        return confidence_of(dict(item), where)
    score = item.get("score")
    return None if score is None else as_confidence(score, where)

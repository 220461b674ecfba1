"""Inputs from memory, written as files of annotations are.

Decoded JSON, a DataFrame, spans by note and documents with entities become canonical JSON Lines: a line a note in the
order of the notes, keys sorted, UTF-8. From there on they are read, checked and hashed as a file is. No foreign package
is imported: what a value can do says what it is.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base.byte_sources import InputFile, NamedBytes, opened
from sandscore.base.errors import UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.formats.token_items import plain, whole_number
from sandscore.memory_inputs.span_reading import SpanReader, fault_of, kind_of
from sandscore.task_table.task import Task

EXPECTED = "a path, bytes, an open binary file, decoded JSON, a DataFrame, spans by note id, or documents"
_NOTE_FIELDS = ("identifier", "text", "patientId", "type", "note_name")
_NOTE_COLUMNS = {"note": "identifier", "patient": "patientId"}


class KnownNotes(Struct, frozen=True):
    """The notes of a data set in their order; ``texts`` is None where only gold names them."""

    ids: list[str] = field(default_factory=list)
    texts: list[str] | None = None
    places: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, ids: list[str], texts: list[str] | None) -> "KnownNotes":
        return cls(ids, texts, {note: place for place, note in enumerate(ids)})

    def place(self, note: str) -> int:
        """Where the note stands; unknown ones come after all others."""
        return self.places.get(note, self.places.get(note.rpartition("/")[2], len(self.ids)))

    def text(self, note: str) -> str | None:
        place = self.place(note)
        return self.texts[place] if self.texts is not None and place < len(self.ids) else None


def written_inputs(
    task: Task, values: Mapping[str, Any], ready: Mapping[str, InputFile], index: Path | None
) -> tuple[dict[str, InputFile], list[str]]:
    """All of the ``values`` by role, those that are no ``ready`` files written as such, and what is to be said of them.

    They come in the order in which they are needed: notes, gold, predictions. An ``index`` knows the notes.
    """
    files: dict[str, InputFile] = {}
    remarks: list[str] = []
    known = None if index is None else _known_to(index, task)
    for role, value in values.items():
        file = ready.get(role)
        if file is None:
            if known is None and files:
                files |= {name: _kept(one) for name, one in files.items()}
                known = _known(task, files)
            file, said = _written(value, role, task, known or KnownNotes())
            remarks += said
        files[role] = file
    return files, remarks


def _known_to(index: Path, task: Task) -> KnownNotes:
    from sandscore.gold_index.index_file import opened_notes

    known = opened_notes(index, task).dataset
    return KnownNotes.of(known.roll.ids, None if known.texts is None else list(known.texts))


def is_whole(value: Any, task: Task) -> bool:
    """Whether a value is all of an annotator's gold, and not one record, row, document or list of spans of it."""
    if isinstance(value, Mapping):
        named = {"annotationSource", "note", "start", task.array} & value.keys()
        return not named and bool(value) and all(isinstance(spans, list | tuple) for spans in value.values())
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(one, Mapping) and "annotationSource" in one for one in value)
    return _is_table(value)


def _kept(file: InputFile) -> InputFile:
    """Standard input is read once; what is read of it is kept."""
    if str(file) != "-":
        return file
    with opened(file) as source:
        return NamedBytes("standard input", bytes(source.data))


def _known(task: Task, files: Mapping[str, InputFile]) -> KnownNotes:
    """What the notes, or else gold, say of the data set; nothing where they are not right, which the loader tells."""
    role = "notes" if "notes" in files else "gold"
    loaded = load_files(task, Inputs(**{role: files[role]}), want_tokens=False, want_hashes=False)
    dataset = loaded.dataset
    if loaded.faulty(role):
        return KnownNotes()
    return KnownNotes.of(dataset.roll.ids, None if dataset.texts is None else list(dataset.texts))


def _written(value: Any, role: str, task: Task, known: KnownNotes) -> tuple[NamedBytes, list[str]]:
    if role == "notes":
        return _lines(role, _notes(value)), []
    reader = SpanReader.of(task, role)
    records = list(_AnnotationInput(task, role, known, reader).records(value))
    remarks = reader.remarks()
    records.sort(key=lambda record: known.place(_name(record)))
    return _lines(role, records), remarks


def _lines(role: str, records: Iterable[Any]) -> NamedBytes:
    """Canonical JSON Lines; no record at all is an empty array."""
    written = [_line(role, number, record) for number, record in enumerate(records)]
    return NamedBytes(role, b"".join(written) or b"[]\n")


def _line(role: str, number: int, record: Any) -> bytes:
    try:
        text = json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_jsonable)
    except (TypeError, ValueError, RecursionError) as fault:
        why = str(fault) if isinstance(fault, TypeError) else "it is nested beyond reason, or in itself"
        raise fault_of(role)(f"{role}: record {number} cannot be written as JSON: {why}") from None
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _jsonable(value: Any) -> Any:
    made = plain(value)
    if made is value:
        raise TypeError(f"found {kind_of(value)}; expected what JSON has")
    return made


def _name(record: Any) -> str:
    """The note a record says it is about."""
    for key in ("annotationSource", "resourceSource", "name"):
        record = record.get(key) if isinstance(record, Mapping) else None
    return record if isinstance(record, str) else ""


def _note_id(value: Any, role: str) -> str:
    """A note's id; a table may hold numbers."""
    value = plain(value)
    if isinstance(value, str):
        return value
    number = whole_number(value)
    if number is None:
        raise fault_of(role)(f"{role}: found {kind_of(value)} as the id of a note; expected a string")
    return str(number)


def _is_table(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "to_dict")


def _is_document(value: Any) -> bool:
    return hasattr(value, "ents") and hasattr(value, "text")


def _rows(table: Any, role: str) -> tuple[list[str], list[dict[str, Any]]]:
    columns = [str(column) for column in table.columns]
    twice = sorted({column for column in columns if columns.count(column) > 1})
    if twice:
        raise UsageFault(f"{role}: the column {one_line(twice[0])!r} stands twice in the DataFrame")
    held = table.to_dicts() if hasattr(table, "to_dicts") else table.to_dict("records")
    return columns, [{str(column): plain(cell) for column, cell in row.items()} for row in held]


def _listed(value: Any, role: str) -> list[Any]:
    if isinstance(value, Mapping) or not isinstance(value, Iterable) or getattr(value, "shape", None) == ():
        raise UsageFault(f"{role}: found {kind_of(value)}; expected {EXPECTED}")
    return list(value)


def _notes(value: Any) -> Iterator[dict[str, Any]]:
    """Notes as the records of a notes file, in their own order."""
    if _is_table(value):
        yield from _notes_of_table(value)
    elif isinstance(value, Mapping):
        yield from [dict(value)] if {"identifier", "text"} <= value.keys() else _notes_of_mapping(value)
    else:
        for number, item in enumerate([value] if _is_document(value) else _listed(value, "notes")):
            yield _note(item, number)


def _note(item: Any, number: int) -> dict[str, Any]:
    if isinstance(item, Mapping):
        return dict(item)
    if not _is_document(item):
        raise UsageFault(f"notes: item {number} is {kind_of(item)}; expected a dict with identifier and text")
    identifier = _document_note(item)
    if identifier is None:
        raise UsageFault(f"notes: document {number} does not say its id; set doc.user_data['note']")
    return {"identifier": _note_id(identifier, "notes"), "text": item.text}


def _notes_of_table(table: Any) -> Iterator[dict[str, Any]]:
    columns, rows = _rows(table, "notes")
    known = {column: _NOTE_COLUMNS.get(column, column) for column in columns}
    missing = {"identifier", "text"} - set(known.values())
    if missing and (rows or columns):
        raise UsageFault(
            f"notes: the DataFrame has no column {_words(missing)}; found {_words(columns)}; "
            "expected identifier (or note), text and, where patients are known, patientId"
        )
    for row in rows:
        note = {known[column]: cell for column, cell in row.items() if cell is not None}
        note["identifier"] = _note_id(note.get("identifier"), "notes")
        if "patientId" in note:
            note["patientId"] = _note_id(note["patientId"], "notes")
        yield {name: note[name] for name in _NOTE_FIELDS if name in note}


def _notes_of_mapping(notes: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
    for identifier, held in notes.items():
        name = _note_id(identifier, "notes")
        if isinstance(held, str):
            yield {"identifier": name, "text": held}
        elif isinstance(held, Mapping):
            yield {**held, "identifier": name}
        else:
            raise UsageFault(f"notes: note {one_line(name)!r} is {kind_of(held)}; expected its text")


def _document_note(document: Any) -> Any:
    held = getattr(document, "user_data", None)
    return held.get("note") if isinstance(held, Mapping) else None


class _AnnotationInput(Struct):
    """One input of annotations, on its way to records as our files hold them."""

    task: Task
    role: str
    known: KnownNotes
    reader: SpanReader

    def records(self, value: Any) -> Iterator[Any]:
        if _is_table(value):
            yield from self._of_table(value)
        elif isinstance(value, Mapping):
            yield from [value] if self._is_record(value) else self._of_mapping(value)
        else:
            yield from self._of_items([value] if _is_document(value) else _listed(value, self.role))

    def _is_record(self, item: Any) -> bool:
        return isinstance(item, Mapping) and ("annotationSource" in item or self.task.array in item)

    def _of_items(self, items: list[Any]) -> Iterator[Any]:
        if not items or any(map(self._is_record, items)):
            yield from items
        elif all(map(_is_document, items)):
            yield from self._of_documents(items)
        elif all(isinstance(item, list | tuple) for item in items):
            for note, spans in zip(self._ordered(len(items), "lists of spans"), items, strict=True):
                yield self._record(note, spans)
        elif all(isinstance(item, Mapping) and "note" in item for item in items):
            yield from self._of_rows(items)
        elif len(self.known.ids) == 1:
            yield self._record(self.known.ids[0], items)
        else:
            raise UsageFault(
                f"{self.role}: found a list whose first item is {kind_of(items[0])} and names no note; "
                "expected a mapping from note ids to lists of spans, or spans that each have a 'note'"
            )

    def _of_mapping(self, spans: Mapping[Any, Any]) -> Iterator[dict[str, Any]]:
        for key, held in spans.items():
            note = _note_id(key, self.role)
            if isinstance(held, str | bytes | Mapping) or not isinstance(held, Iterable):
                found = f"note {one_line(note)!r} holds {kind_of(held)}"
                raise UsageFault(f"{self.role}: {found}; expected a list of spans for each note id")
            yield self._record(note, held)

    def _of_table(self, table: Any) -> Iterator[dict[str, Any]]:
        columns, rows = _rows(table, self.role)
        missing = {"note", "start"} - set(columns)
        if not missing and not {"length", "end"} & set(columns):
            missing = {"length"}
        if missing and (rows or columns):
            label = f", {self.task.label}" if self.task.label else ""
            raise UsageFault(
                f"{self.role}: the DataFrame has no column {_words(missing)}; found {_words(columns)}; "
                f"expected note, start, length or end, text unless notes are given{label}, confidence"
            )
        yield from self._of_rows(rows)

    def _of_rows(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """A known note without a row is a note without annotations."""
        spans: dict[str, list[Any]] = {note: [] for note in self.known.ids}
        for row in rows:
            note = _note_id(row["note"], self.role)
            place = self.known.place(note)
            spans.setdefault(self.known.ids[place] if place < len(self.known.ids) else note, []).append(row)
        for note, held in spans.items():
            yield self._record(note, held)

    def _of_documents(self, documents: list[Any]) -> Iterator[dict[str, Any]]:
        named = [_document_note(document) for document in documents]
        if None in named:
            named = self._ordered(len(documents), "documents without doc.user_data['note']")
        for name, document in zip(named, documents, strict=True):
            note = _note_id(name, self.role)
            text = self.known.text(note)
            if text is not None and document.text != text:
                raise fault_of(self.role)(
                    f"{self.role}: the document for note {one_line(note)!r} has another text than the note"
                )
            yield self._record(note, document.ents)

    def _ordered(self, count: int, what: str) -> list[str]:
        """The notes in order, for items that do not say theirs."""
        if count != len(self.known.ids):
            raise UsageFault(
                f"{self.role}: found {count:,} {what}; expected one for each note, in order: "
                f"{len(self.known.ids):,} notes were given"
            )
        return self.known.ids

    def _record(self, note: str, spans: Iterable[Any]) -> dict[str, Any]:
        texts = self.known.texts is not None
        annotations = self.reader.annotations(spans, note, self.known.text(note), texts=texts)
        return {"annotationSource": {"resourceSource": {"name": note}}, self.task.array: annotations}


def _words(words: Iterable[str]) -> str:
    return ", ".join(one_line(word) for word in words) or "none"

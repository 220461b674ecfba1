"""Tables with an annotation a row: CSV, the same with tabs, or Parquet where pyarrow is there.

A row without a place is the note itself, its text in ``text``: so notes without annotations are kept too.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault, UsageFault, did_you_mean
from sandscore.base.terminal_text import cited
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark, clipped
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.format_files import one_path, read_bytes, unread
from sandscore.formats.json_fields import JsonObject, confidence_of
from sandscore.formats.note_naming import FACTS, NoteNaming, as_confidence, beside, facts_of, more_of

NAME = "csv"
_COLUMNS = {
    "note": ("note", "note_id", "noteid", "doc", "doc_id", "document", "document_id", "identifier", "id", "file"),
    "start": ("start", "begin", "start_offset", "start_char", "start_position", "start_index"),
    "end": ("end", "stop", "end_offset", "end_char", "end_position", "end_index"),
    "length": ("length", "len"),
    "text": ("text", "span", "span_text", "word", "mention", "entity_value", "covered_text"),
    "type": ("type", "label", "entity", "entity_type", "entity_group", "category", "class", "tag"),
    "confidence": ("confidence",),
    "score": ("score", "probability"),
    "patientId": ("patientid", "patient", "patient_id"),
    "noteType": ("notetype", "note_type"),
    "note_name": ("note_name",),
}
"""What a column may be called; the first name that a table has is read."""
_WRITTEN = ("note", "start", "end", "text", "type", "confidence")
_PARQUET = b"PAR1"
_LARGEST = 1 << 28
"""Bytes of a Parquet table, unpacked, that are held in memory."""
_LONGEST_CELL = 1 << 27
_DELIMITERS = (",", "\t", ";")


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """The rows of one table, note by note."""
    path = one_path(paths, "a table")
    data = read_bytes(path)
    rows = _parquet_rows(data, path) if data.startswith(_PARQUET) else _csv_rows(data, path)
    naming = NoteNaming(NAME, path, notes, journal)
    found: dict[str, CorpusNote] = {note.id: note for note in notes or ()}
    marks: dict[str, list[Mark]] = {name: [] for name in found}
    waiting = []
    for number, row in journal.watch(rows, 0, NAME):
        where = f"{path}, row {number}"
        name = row.get("note")
        if not isinstance(name, str):
            raise ParticipantFault(f"{where}: it says no note")
        if row.get("start") is None and row.get("end") is None:
            if name in marks and notes is None:
                raise ParticipantFault(f"{where}: note {cited(name)} is described twice")
            note = naming.note(row, row.get("text", ""), number, where)
            marks.setdefault(name, [])
            if notes is None:
                found[name] = note
        else:
            waiting.append((where, row))
            if notes is not None and name not in found:
                raise ParticipantFault(f"{where}: note {cited(name)} is not among the notes{did_you_mean(name, found)}")
    for where, row in waiting:
        note = found.setdefault(row["note"], CorpusNote(row["note"], None))
        mark = _mark(row, note, where, journal)
        if mark:
            marks.setdefault(note.id, []).append(mark)
    return Corpus(tuple(AnnotatedNote(note, tuple(marks.get(name, ()))) for name, note in found.items()))


def _mark(row: JsonObject, note: CorpusNote, where: str, journal: LossJournal) -> Mark | None:
    start = _number(row, "start", where)
    end = _number(row, "end", where) if row.get("end") is not None else start + _number(row, "length", where)
    if end < start:
        raise ParticipantFault(f"{where}: it ends before it begins (start {clipped(start)}, end {clipped(end)})")
    annotation = journal.cut(NAME, note, (start, end), row.get("text"), where)
    if annotation is None:
        return None
    confidence = _share(row, "confidence", where)
    if confidence is not None:
        confidence_of({"confidence": confidence}, where)
    elif (score := _share(row, "score", where)) is not None:
        confidence = as_confidence(score, where)
    known = frozenset(_COLUMNS)
    more = tuple(beside(row, known, (NAME, note, journal)))
    return Mark(FLAT, replace(annotation, label=row.get("type"), confidence=confidence), more=more)


def _number(row: Mapping[str, Any], key: str, where: str) -> int:
    value = row.get(key)
    try:
        number = int(value) if isinstance(value, int) else int(str(value).removesuffix(".0"), 10)
    except ValueError:
        raise ParticipantFault(f"{where}: {key} should be a whole number, found {cited(str(value))}") from None
    return number


def _share(row: Mapping[str, Any], key: str, where: str) -> float | None:
    value = row.get(key)
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ParticipantFault(f"{where}: {key} should be a number, found {cited(str(value))}") from None
    return int(number) if number.is_integer() else number


def _csv_rows(data: bytes, path: Path) -> Iterator[tuple[int, JsonObject]]:
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        told = unread(data, f"byte {fault.start} is not UTF-8: save the table as UTF-8")
        raise ParticipantFault(f"{path}: {told}") from None
    if not text.strip():
        raise ParticipantFault(f"{path}: the file is empty")
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    previous = csv.field_size_limit(_LONGEST_CELL)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        head = _columns(next(rows, []), path)
        for number, cells in enumerate(rows, 2):
            if not cells:
                continue
            if len(cells) != len(head):
                raise ParticipantFault(f"{path}, row {number}: {len(cells):,} cells, but {len(head):,} columns")
            yield number, {name: cell for name, cell in zip(head, cells, strict=True) if name and cell}
    except csv.Error as fault:
        raise ParticipantFault(f"{path}: is no whole table ({fault})") from None
    finally:
        csv.field_size_limit(previous)


def _columns(written: Sequence[str], path: Path) -> list[str | None]:
    """Our names of a table's columns; what has none of ours keeps its own."""
    places: dict[str, int] = {}
    for place, name in enumerate(written):
        places.setdefault(name.strip().casefold(), place)
    taken: dict[int, str] = {}
    for name, spellings in _COLUMNS.items():
        found = next((places[spelling] for spelling in spellings if spelling in places), None)
        if found is not None:
            taken.setdefault(found, name)
    missing = {"note", "start"} - set(taken.values())
    if not missing and not {"end", "length"} & set(taken.values()):
        missing = {"end"}
    if missing:
        listed = ", ".join(cited(name) for name in written[:8])
        raise ParticipantFault(
            f"{path}: no column {' and '.join(sorted(missing))} in the first row, which has {listed}"
        )
    names = [taken.get(place, name.strip() or None) for place, name in enumerate(written)]
    twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
    if twice is not None:
        raise ParticipantFault(f"{path}: the column {cited(twice)} stands twice in the first row")
    return names


def _pyarrow(path: object) -> tuple[Any, Any]:
    from importlib import import_module

    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise UsageFault(f"{path}: Parquet needs pyarrow, which is not installed: pip install pyarrow") from None


def _parquet_rows(data: bytes, path: Path) -> Iterator[tuple[int, JsonObject]]:
    arrow, parquet = _pyarrow(path)
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data))
        meta = file.metadata
        size = sum(meta.row_group(place).total_byte_size for place in range(meta.num_row_groups))
        if max(size, 8 * meta.num_rows * meta.num_columns) > _LARGEST:
            raise ParticipantFault(f"{path}: more values than are held in memory; convert it in parts")
        head = _columns(file.schema_arrow.names, path)
        number = 1
        for batch in file.iter_batches(batch_size=10_000):
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                yield (
                    number,
                    {name: _cell(one) for name, one in zip(head, values, strict=True) if name and one is not None},
                )
    except (arrow.ArrowException, OSError) as fault:
        raise ParticipantFault(f"{path}: is no whole Parquet file ({type(fault).__name__})") from None


def _cell(value: object) -> object:
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else str(value)


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """A row for each note, then one for each of its annotations; as the output is called, with tabs or as Parquet."""
    names = {name: None for entry in corpus.entries for mark in entry.marks for name, _ in mark.more}
    facts = {key: None for entry in corpus.entries for key in facts_of(entry.note) if key in FACTS}
    columns = [*_WRITTEN, *names, *facts]
    rows = _rows(journal.watch(corpus.entries, len(corpus.entries), NAME))
    if journal.output.endswith(".parquet"):
        return _as_parquet(list(rows), columns, journal.output)
    written = io.StringIO(newline="")
    delimiter = "\t" if journal.output.endswith(".tsv") else ","
    table = csv.writer(written, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    table.writerow(columns)
    table.writerows([_csv_cell(row.get(name)) for name in columns] for row in rows)
    return written.getvalue().encode("utf-8")


def _csv_cell(value: object) -> object:
    return "" if value is None else value


def _rows(entries: Iterable[AnnotatedNote]) -> Iterator[JsonObject]:
    for entry in entries:
        if not entry.note.id:
            raise ParticipantFault("a note without a name has no place in a table")
        yield {**facts_of(entry.note), "text": entry.note.text}
        for mark in entry.marks:
            span = mark.annotation
            place = {"note": entry.note.id, "start": span.start, "end": span.end, "text": span.text, "type": span.label}
            yield {**place, "confidence": span.confidence, **more_of(mark)}


def _as_parquet(rows: list[JsonObject], columns: list[str], name: str) -> bytes:
    arrow, parquet = _pyarrow(name)
    kinds = {"start": arrow.int64(), "end": arrow.int64(), "confidence": arrow.float64()}
    fields = [arrow.field(column, kinds.get(column, arrow.string())) for column in columns]
    held = arrow.table({column: [row.get(column) for row in rows] for column in columns}, schema=arrow.schema(fields))
    made = io.BytesIO()
    parquet.write_table(held, made)
    return made.getvalue()


class TableFormat(FileFormat):
    """An annotation a row."""

    name = NAME
    description = "a table with an annotation a row: CSV, .tsv, or .parquet where pyarrow is installed"
    source = "RFC 4180; Apache Parquet"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".csv", ".tsv", ".parquet")
    whole = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        if glance.beginning.startswith(_PARQUET):
            return True
        first = glance.beginning.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", "replace").strip()
        columns = {cell.strip().strip('"').casefold() for cell in first.split(max(_DELIMITERS, key=first.count))}
        return {"start"} <= columns and bool(columns & {"end", "length"}) and bool(columns & set(_COLUMNS["note"]))

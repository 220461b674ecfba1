"""CoNLL columns, written as token, start, end, tag; read as any columns whose first is the token, last the tag.

A blank line ends a sentence, and a ``-DOCSTART-`` line begins a note; ours carries the note's identifier.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

from sandscore.reading.formats.conllwriting import BORDER, NO_NAME
from sandscore.reading.formats.corpus import FLAT, Corpus, Entry, Journal, Mark, Note, shown
from sandscore.reading.formats.files import read_text, text_lines
from sandscore.reading.formats.tagging import decode
from sandscore.records.errors import ParticipantFault

NAME = "conll"


@dataclass(slots=True)
class _Part:
    """One note's rows, sentence by sentence; ``where`` is its first line."""

    id: str | None
    where: str
    sentences: list[list[list[str]]] = field(default_factory=lambda: [[]])

    @property
    def rows(self) -> list[list[str]]:
        return [row for sentence in self.sentences for row in sentence]


def read(paths: Sequence[Path], journal: Journal, notes: Sequence[Note] | None = None) -> Corpus:
    """The notes of one or more files. Without ``notes`` the text is rebuilt from the tokens."""
    parts = [part for path in paths for part in _parts(path)]
    known = {note.id: note for note in notes or ()}
    if notes is not None and all(part.id is None for part in parts):
        if len(notes) != len(parts):
            raise ParticipantFault(f"{paths[0]}: {len(parts)} notes without identifiers, but {len(notes)} in --notes")
        for part, note in zip(parts, notes, strict=True):
            part.id = note.id
    entries = []
    for number, part in enumerate(journal.watch(parts, len(parts), NAME), 1):
        if part.id is None:
            part.id = str(number)
            journal.lose(NAME, "identifiers: notes without one are numbered", part.id)
        if notes is not None and part.id not in known:
            raise ParticipantFault(f"{part.where}: note {shown(part.id)} is not among the notes")
        entries.append(_entry(part, part.id, known.get(part.id), journal))
    return Corpus(tuple(entries))


def _parts(path: Path) -> list[_Part]:
    parts: list[_Part] = []
    for number, line in text_lines(read_text(path)):
        columns = line.split("\t") if "\t" in line else line.split()
        where = f"{path}, line {number}"
        if columns and columns[0] == BORDER:
            parts.append(_Part(_identifier(columns), where))
        elif not line.strip():
            if parts:
                parts[-1].sentences.append([])
        elif len(columns) < 2 or not columns[0] or not columns[-1]:
            raise ParticipantFault(f"{where}: expected columns, first the token, last the tag")
        else:
            if not parts:
                parts.append(_Part(None, where))
            parts[-1].sentences[-1].append(columns)
    return parts


def _identifier(columns: list[str]) -> str | None:
    named = len(columns) == 4 and columns[1] != NO_NAME and columns[2] == NO_NAME
    if not named:
        return None
    return "" if columns[1] == "%" else unquote(columns[1], errors="replace")


def _entry(part: _Part, identifier: str, note: Note | None, journal: Journal) -> Entry:
    spans = _offsets(part)
    if note is None or note.text is None:
        journal.lose(NAME, "white space between tokens (rebuilt)", identifier)
        if spans is None:
            spans = _laid_out(part)
        note = Note(identifier, _rebuilt(part, spans))
    elif spans is None:
        spans = _found(part, note)
    for place, (row, span) in enumerate(zip(part.rows, spans, strict=True), 1):
        journal.cut(NAME, note, span, row[0], f"{part.where}, token {place}")
    return Entry(note, tuple(_marks(part, spans, note, journal)))


def _marks(part: _Part, spans: list[tuple[int, int]], note: Note, journal: Journal) -> Iterator[Mark]:
    base = 0
    for sentence in part.sentences:
        for first, stop, kind in decode([row[-1] for row in sentence]):
            span = spans[base + first][0], spans[base + stop - 1][1]
            annotation = journal.cut(NAME, note, span, None, part.where)
            if annotation:
                yield Mark(FLAT, replace(annotation, label=kind))
        base += len(sentence)


def _offsets(part: _Part) -> list[tuple[int, int]] | None:
    """The two columns before the tag where every one of them is a number."""
    spans = []
    for row in part.rows:
        pair = row[-3:-1] if len(row) >= 4 else []
        if not pair or not all(word.isascii() and word.isdigit() and len(word) <= 12 for word in pair):
            return None
        spans.append((int(pair[0]), int(pair[1])))
    return spans


def _laid_out(part: _Part) -> list[tuple[int, int]]:
    spans = []
    at = 0
    for row in part.rows:
        spans.append((at, at + len(row[0])))
        at += len(row[0]) + 1
    return spans


def _rebuilt(part: _Part, spans: list[tuple[int, int]]) -> str:
    """The tokens at their places, with a line end after each sentence and spaces elsewhere."""
    pieces: list[str] = []
    at = place = 0
    for number, sentence in enumerate(part.sentences):
        for index, row in enumerate(sentence):
            start, end = spans[place]
            if start < at or end - start != len(row[0]):
                raise ParticipantFault(f"{part.where}: {start}-{end} does not fit token {place + 1}, {shown(row[0])}")
            if start - at > 10_000_000:
                raise ParticipantFault(f"{part.where}: {start - at} characters are missing before token {place + 1}")
            gap = " " * (start - at)
            pieces += ["\n" + gap[1:] if gap and number and not index else gap, row[0]]
            at, place = end, place + 1
    return "".join(pieces)


def _found(part: _Part, note: Note) -> list[tuple[int, int]]:
    """Each token where it stands next in the note, with nothing but white space passed over."""
    text = note.text or ""
    spans = []
    at = 0
    for place, row in enumerate(part.rows, 1):
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(row[0], at):
            raise ParticipantFault(
                f"{part.where}: token {place}, {shown(row[0])}, is not what note {shown(note.id)} holds at {at}"
            )
        spans.append((at, at + len(row[0])))
        at += len(row[0])
    return spans

"""CoNLL columns, written as token, start, end, tag; read as any columns whose first is the token, last the tag.

A blank line ends a sentence, and a ``-DOCSTART-`` line begins a note; ours carries the note's identifier.

CoNLL columns as rows of token, tag and place, note by note.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from sys import intern
from typing import ClassVar
from urllib.parse import unquote

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.base.terminal_text import cited
from sandscore.formats.conll_writing import BORDER, NO_NAME, write
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark, Output
from sandscore.formats.file_format import TYPES_ONLY, FileFormat, Glance
from sandscore.formats.format_files import read_text, text_lines
from sandscore.formats.tag_schemes import decode

Span = tuple[int, int]


class ConllRow(Struct, frozen=True, gc=False):
    """One token; ``span`` where the two columns before the tag are numbers."""

    token: str
    tag: str
    span: Span | None


class ConllPart(Struct):
    """One note's rows. A sentence begins at each place of ``breaks``; ``where`` is the note's first line."""

    id: str | None
    where: str
    rows: list[ConllRow] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)


def parts_of(paths: Sequence[Path]) -> Iterator[ConllPart]:
    """The notes of the files one after another; a file that says nothing of notes is one."""
    for path in paths:
        part: ConllPart | None = None
        for number, line in text_lines(read_text(path)):
            columns = line.split("\t") if "\t" in line else line.split()
            if columns and columns[0] == BORDER:
                if part:
                    yield part
                part = ConllPart(_identifier(columns), f"{path}, line {number}")
            elif not line.strip():
                if part:
                    part.breaks.append(len(part.rows))
            elif len(columns) < 2 or not columns[0] or not columns[-1]:
                raise ParticipantFault(f"{path}, line {number}: expected columns, first the token, last the tag")
            else:
                part = part or ConllPart(None, f"{path}, line {number}")
                part.rows.append(ConllRow(columns[0], intern(columns[-1]), _span(columns)))
        if part:
            yield part


def _identifier(columns: list[str]) -> str | None:
    named = len(columns) == 4 and columns[1] != NO_NAME and columns[2] == NO_NAME
    if not named:
        return None
    return "" if columns[1] == "%" else unquote(columns[1], errors="replace")


def _span(columns: list[str]) -> Span | None:
    start, end = columns[-3:-1] if len(columns) >= 4 else ("", "")
    if not (start.isdigit() and end.isdigit() and start.isascii() and end.isascii()) or len(start + end) > 24:
        return None
    return int(start), int(end)


NAME = "conll"
LONGEST_GAP = 10_000


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """The notes of one or more files. Without ``notes`` the text is rebuilt from the tokens."""
    known = {note.id: note for note in notes or ()}
    entries: list[AnnotatedNote] = []
    unnamed = 0
    for part in journal.watch(parts_of(paths), len(known), NAME):
        if part.id is None:
            part.id = _by_order(len(entries), part, notes)
            unnamed += 1
        if notes is not None and part.id not in known:
            raise ParticipantFault(f"{part.where}: note {cited(part.id)} is not among the notes")
        entries.append(_entry(part, known.get(part.id) or CorpusNote(part.id, None), journal))
    if notes is None and unnamed:
        journal.lose(NAME, "identifiers: notes without one are numbered", "1", unnamed)
    elif unnamed and len(entries) != len(known):
        raise ParticipantFault(f"{paths[0]}: {len(entries)} notes without identifiers, but {len(known)} in --notes")
    return Corpus(tuple(entries))


def _by_order(place: int, part: ConllPart, notes: Sequence[CorpusNote] | None) -> str:
    if notes is None:
        return str(place + 1)
    if place >= len(notes):
        raise ParticipantFault(f"{part.where}: more notes without identifiers than the {len(notes)} in --notes")
    return notes[place].id


def _entry(part: ConllPart, note: CorpusNote, journal: LossJournal) -> AnnotatedNote:
    own = [row.span for row in part.rows if row.span]
    spans = own if len(own) == len(part.rows) else None
    if note.text is None:
        journal.lose(NAME, "white space between tokens (rebuilt)", note.id)
        spans = spans or _laid_out(part)
        note = replace(note, text=_rebuilt(part, spans))
    spans = spans or _found(part, note)
    text = note.text or ""
    wrong = [i for i, (row, span) in enumerate(zip(part.rows, spans, strict=True)) if text[slice(*span)] != row.token]
    if wrong and not journal.lenient:
        where = f"{part.where}, token {wrong[0] + 1}"
        journal.cut(NAME, note, spans[wrong[0]], part.rows[wrong[0]].token, where)
    return AnnotatedNote(note, tuple(_marks(part, spans, set(wrong), (note, journal))))


def _marks(part: ConllPart, spans: list[Span], wrong: set[int], told: tuple[CorpusNote, LossJournal]) -> Iterator[Mark]:
    note, journal = told
    for begin, end in pairwise([0, *part.breaks, len(part.rows)]):
        for first, stop, kind in decode([row.tag for row in part.rows[begin:end]]):
            places = range(begin + first, begin + stop)
            bad = next((place for place in places if place in wrong), None)
            quoted = None if bad is None else part.rows[bad].token
            span = (spans[places[0]][0], spans[places[-1]][1]) if bad is None else spans[bad]
            annotation = journal.cut(NAME, note, span, quoted, part.where)
            if annotation:
                yield Mark(FLAT, replace(annotation, label=kind))


def _laid_out(part: ConllPart) -> list[Span]:
    spans = []
    at = 0
    for row in part.rows:
        spans.append((at, at + len(row.token)))
        at += len(row.token) + 1
    return spans


def _rebuilt(part: ConllPart, spans: list[Span]) -> str:
    """The tokens at their places, with a line end after each sentence and spaces elsewhere."""
    pieces: list[str] = []
    breaks = set(part.breaks)
    at = 0
    for place, (row, (start, end)) in enumerate(zip(part.rows, spans, strict=True)):
        if start < at or end - start != len(row.token) or start - at > LONGEST_GAP:
            raise ParticipantFault(f"{part.where}: {start}-{end} does not fit token {place + 1}, {cited(row.token)}")
        gap = " " * (start - at)
        pieces += ["\n" + gap[1:] if gap and place in breaks and place else gap, row.token]
        at = end
    return "".join(pieces)


def _found(part: ConllPart, note: CorpusNote) -> list[Span]:
    """Each token where it stands next in the note, with nothing but white space passed over."""
    text = note.text or ""
    spans = []
    at = 0
    for place, row in enumerate(part.rows, 1):
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(row.token, at):
            raise ParticipantFault(
                f"{part.where}: token {place}, {cited(row.token)}, is not what note {cited(note.id)} holds at {at}"
            )
        spans.append((at, at + len(row.token)))
        at += len(row.token)
    return spans


class ConllFormat(FileFormat):
    """Columns with BIO tags."""

    name = "conll"
    description = "columns with BIO tags; any of the tagging schemes is read"
    source = "CoNLL-2003 shared task"
    suffixes = (".conll",)
    cannot_hold: ClassVar[tuple[str, ...]] = (
        *TYPES_ONLY,
        "patientId and note type",
        "overlapping annotations",
        "white space at the edge of annotations",
    )
    reads = staticmethod(read)

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return cls.name == "conll" and glance.beginning.startswith(BORDER.encode())

    @staticmethod
    def writes(corpus: Corpus, journal: LossJournal, /) -> Output:
        return write(corpus, journal)


class ConllBiluoFormat(ConllFormat):
    """Columns with BILUO tags."""

    name = "conll-biluo"
    description = "columns with BILUO tags"

    @staticmethod
    def writes(corpus: Corpus, journal: LossJournal, /) -> Output:
        return write(corpus, journal, "biluo")


class ConllIobesFormat(ConllFormat):
    """Columns with IOBES tags."""

    name = "conll-iobes"
    description = "columns with IOBES tags"

    @staticmethod
    def writes(corpus: Corpus, journal: LossJournal, /) -> Output:
        return write(corpus, journal, "iobes")


class ConllIoFormat(ConllFormat):
    """Columns with IO tags."""

    name = "conll-io"
    description = "columns with IO tags"
    cannot_hold: ClassVar[tuple[str, ...]] = (*ConllFormat.cannot_hold, "borders between neighbours of one type")

    @staticmethod
    def writes(corpus: Corpus, journal: LossJournal, /) -> Output:
        return write(corpus, journal, "io")

"""BRAT standoff: a directory of ``<id>.txt`` with ``<id>.ann`` beside it, end offsets exclusive."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.base.terminal_text import cited
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, FormatFiles, LossJournal, Mark, clipped
from sandscore.formats.file_format import TYPES_ONLY, FileFormat, Glance
from sandscore.formats.format_files import files_in, one_path, quoted_name, read_text, text_lines, unquoted_name
from sandscore.formats.type_maps import one_word
from sandscore.records.document import Annotation

NAME = "brat"
_SPAN = re.compile(r"(\S+) ([0-9]{1,12} [0-9]{1,12}(?:;[0-9]{1,12} [0-9]{1,12})*)")
_OTHER_LINES = {
    "R": "relations",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "N": "normalisations",
    "#": "annotator notes",
    "*": "equivalences",
}
_LINE_END = re.compile(r"[\r\n]+")
_LINE = re.compile(r"[^\r\n]+")


def read(paths: Sequence[Path], journal: LossJournal, _notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """One note a .txt file; a .txt without its .ann is a note without annotations."""
    directory = one_path(paths, "a BRAT directory")
    files = {path.name: path for path in files_in(directory, (".txt", ".ann"))}
    stems = sorted({path.stem for path in files.values()})
    return Corpus(tuple(_entry(files, stem, journal) for stem in journal.watch(stems, len(stems), NAME)))


def _entry(files: dict[str, Path], stem: str, journal: LossJournal) -> AnnotatedNote:
    annotations = files.get(f"{stem}.ann")
    if f"{stem}.txt" not in files:
        raise MissingFile(f"{annotations}: there is no {stem}.txt beside it")
    note = CorpusNote(unquoted_name(stem), read_text(files[f"{stem}.txt"]))
    return AnnotatedNote(note, tuple(_marks(annotations, note, journal)) if annotations else ())


def _marks(path: Path, note: CorpusNote, journal: LossJournal) -> Iterator[Mark]:
    for number, line in text_lines(read_text(path)):
        if not line.strip():
            continue
        if line[0] != "T":
            kind = _OTHER_LINES.get(line[0])
            if kind is None:
                raise ParticipantFault(f"{path}, line {number}: {cited(line[:20])} begins no line of BRAT")
            journal.lose(NAME, kind, note.id)
            continue
        yield from _text_bound(line, note, f"{path}, line {number}", journal)


def _text_bound(line: str, note: CorpusNote, where: str, journal: LossJournal) -> Iterator[Mark]:
    fields = line.split("\t", 2)
    span = _SPAN.fullmatch(fields[1]) if len(fields) == 3 else None
    if span is None:
        raise ParticipantFault(f"{where}: expected 'T1<tab>TYPE START END<tab>TEXT'")
    pairs = [part.split(" ") for part in span[2].split(";")]
    pieces = [(int(start), int(end)) for start, end in pairs]
    quoted: str | None = fields[2]
    text = note.text or ""
    if quoted == " ".join(_LINE_END.sub(" ", text[start:end]) for start, end in pieces):
        quoted = None
    elif len(pieces) > 1:
        raise ParticipantFault(
            f"{where}: note {cited(note.id)} does not read {cited(fields[2])} at {clipped(pieces[0][0])} and on"
        )
    pieces = _joined(pieces, text)
    if len(pieces) > 1:
        journal.lose(NAME, "discontinuous spans (each piece is an annotation of its own)", note.id)
    for piece in pieces:
        annotation = journal.cut(NAME, note, piece, quoted, where)
        if annotation:
            yield Mark(FLAT, replace(annotation, label=span[1]))


def _joined(pieces: list[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Pieces that only line ends keep apart are one: BRAT breaks a span at every line end."""
    joined = pieces[:1]
    for start, end in pieces[1:]:
        first, last = joined[-1]
        if last < start and _LINE_END.fullmatch(text, last, start):
            joined[-1] = (first, end)
        else:
            joined.append((start, end))
    return joined


def write(corpus: Corpus, journal: LossJournal) -> FormatFiles:
    """Two files a note."""
    content: dict[str, bytes] = {}
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        name = quoted_name(entry.note.id)
        content[f"{name}.txt"] = (entry.note.text or "").encode("utf-8")
        lines = [_line(mark.annotation, entry.note, journal) for mark in entry.marks]
        numbered = (f"T{number}\t{line}\n" for number, line in enumerate(filter(None, lines), 1))
        content[f"{name}.ann"] = "".join(numbered).encode("utf-8")
    return FormatFiles(content)


def _line(annotation: Annotation, note: CorpusNote, journal: LossJournal) -> str:
    lines = list(_LINE.finditer(annotation.text))
    if not lines:
        journal.lose(NAME, "annotations of line ends only", note.id)
        return ""
    if lines[0].start() > 0 or lines[-1].end() < annotation.length:
        journal.lose(NAME, "line ends at the edge of an annotation", note.id)
    spans = (f"{annotation.start + line.start()} {annotation.start + line.end()}" for line in lines)
    kind = one_word(annotation.label or "", NAME, note, journal)
    return f"{kind} {';'.join(spans)}\t{' '.join(line[0] for line in lines)}"


class BratFormat(FileFormat):
    """BRAT standoff."""

    name = NAME
    description = "a directory of BRAT standoff, .txt and .ann"
    source = "brat 1.3, standoff format"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".txt", ".ann")
    cannot_hold = (*TYPES_ONLY, "patientId and note type", "line ends at the edge of annotations")
    directory = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return glance.has_file(".ann")

"""neleval TSV: one mention a line, ``doc start end [entity [score [type]]]``, the end offset inclusive."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.base import strict_json
from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.terminal_text import cited
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.file_format import TYPES_ONLY, FileFormat
from sandscore.formats.format_files import one_path, read_text, text_lines

NAME = "neleval"
_BREAKS = str.maketrans("\t\r\n", "   ")


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """The mentions of one file, in the notes they were made in."""
    if notes is None:
        raise UsageFault("neleval holds no note text: give --notes")
    path = one_path(paths, "a neleval file")
    texts = {note.id: note for note in notes}
    found: dict[str, list[Mark]] = {note.id: [] for note in notes}
    lines = list(text_lines(read_text(path)))
    for number, line in journal.watch(lines, len(lines), NAME):
        where = f"{path}, line {number}"
        fields = line.rstrip("\t").split("\t")
        if len(fields) < 3:
            raise ParticipantFault(f"{where}: expected doc, start and end, with tabs between them")
        if fields[0] not in texts:
            raise ParticipantFault(f"{where}: document {cited(fields[0])} is not among the notes")
        note = texts[fields[0]]
        span = _offset(fields[1], where), _offset(fields[2], where) + 1
        annotation = journal.cut(NAME, note, span, None, where)
        if annotation:
            kind = _type(fields[3:], note, where, journal)
            found[note.id].append(Mark(FLAT, replace(annotation, label=kind)))
    return Corpus(tuple(AnnotatedNote(note, tuple(found[note.id])) for note in notes))


def _offset(written: str, where: str) -> int:
    try:
        return int(written)
    except ValueError:
        raise ParticipantFault(f"{where}: {cited(written)} is not an offset") from None


def _type(fields: list[str], note: CorpusNote, where: str, journal: LossJournal) -> str | None:
    """The type of the best candidate; of equals, the first."""
    if fields and fields[0] not in {"NIL", ""}:
        journal.lose(NAME, "entity identifiers", note.id)
    if len(fields) < 3:
        return None
    if len(fields) % 3:
        raise ParticipantFault(f"{where}: several candidates need identifier, score and type each")
    if len(fields) > 3:
        journal.lose(NAME, "candidates beside the best", note.id, len(fields) // 3 - 1)
    scores = [_score(written, where) for written in fields[1::3]]
    best = scores.index(max(scores))
    if scores[best] != 1:
        journal.lose(NAME, "scores", note.id)
    return _plain(fields[3 * best + 2], note, where, journal)


def _score(written: str, where: str) -> float:
    try:
        return float(written)
    except ValueError:
        raise ParticipantFault(f"{where}: {cited(written)} is not a score") from None


def _plain(kind: str, note: CorpusNote, where: str, journal: LossJournal) -> str | None:
    if not kind.startswith("{"):
        return kind or None
    try:
        fields: dict[str, Any] = strict_json.loads(kind.encode("utf-8"))
    except strict_json.JsonFault as fault:
        raise ParticipantFault(f"{where}: a type that begins with {{ is JSON; {fault.what}") from None
    if set(fields) - {"type"}:
        journal.lose(NAME, "fields beside the type", note.id)
    inner = fields.get("type")
    if inner is not None and not isinstance(inner, str):
        raise ParticipantFault(f"{where}: the type is not a string")
    return inner


def write(corpus: Corpus, journal: LossJournal) -> bytes:
    """One line an annotation; the score is 1.0 and the entity NIL, as a typed mention needs both."""
    lines = []
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        note = entry.note
        if not entry.marks:
            journal.lose(NAME, "notes without annotations", note.id)
        if not note.id or note.id.translate(_BREAKS) != note.id or note.id.startswith("\ufeff"):
            raise ParticipantFault(f"note {cited(note.id)}: neleval cannot hold this identifier")
        for mark in entry.marks:
            span = mark.annotation
            kind = _written(span.label or "", note, journal)
            lines.append(f"{note.id}\t{span.start}\t{span.end - 1}\tNIL\t1.0\t{kind}\n")
    return "".join(lines).encode("utf-8")


def _written(kind: str, note: CorpusNote, journal: LossJournal) -> str:
    plain = kind.translate(_BREAKS)
    if plain != kind:
        journal.lose(NAME, "tabs and line ends in types (written as spaces)", note.id)
    return json.dumps({"type": plain}, ensure_ascii=False) if plain.startswith("{") else plain


class NelevalFormat(FileFormat):
    """neleval's mentions."""

    name = NAME
    description = "neleval TSV, one mention a line; needs --notes"
    source = "neleval 3.1.1, prepare-tac output"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".tsv",)
    cannot_hold = (*TYPES_ONLY, "note text, patientId and type", "notes without annotations")
    text = False

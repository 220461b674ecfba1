"""CoNLL columns, written as token, start, end, tag; read as any columns whose first is the token, last the tag.

A blank line ends a sentence, and a ``-DOCSTART-`` line begins a note; ours carries the note's identifier.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from sandscore.reading.formats.conllrows import Part, Span, parts_of
from sandscore.reading.formats.corpus import FLAT, Corpus, Entry, Journal, Mark, Note, shown
from sandscore.reading.formats.tagging import decode
from sandscore.records.errors import ParticipantFault

NAME = "conll"
LONGEST_GAP = 10_000


def read(paths: Sequence[Path], journal: Journal, notes: Sequence[Note] | None = None) -> Corpus:
    """The notes of one or more files. Without ``notes`` the text is rebuilt from the tokens."""
    known = {note.id: note for note in notes or ()}
    entries: list[Entry] = []
    unnamed = 0
    for part in journal.watch(parts_of(paths), len(known), NAME):
        if part.id is None:
            part.id = _by_order(len(entries), part, notes)
            unnamed += 1
        if notes is not None and part.id not in known:
            raise ParticipantFault(f"{part.where}: note {shown(part.id)} is not among the notes")
        entries.append(_entry(part, known.get(part.id) or Note(part.id, None), journal))
    if notes is None and unnamed:
        journal.lose(NAME, "identifiers: notes without one are numbered", "1", unnamed)
    elif unnamed and len(entries) != len(known):
        raise ParticipantFault(f"{paths[0]}: {len(entries)} notes without identifiers, but {len(known)} in --notes")
    return Corpus(tuple(entries))


def _by_order(place: int, part: Part, notes: Sequence[Note] | None) -> str:
    if notes is None:
        return str(place + 1)
    if place >= len(notes):
        raise ParticipantFault(f"{part.where}: more notes without identifiers than the {len(notes)} in --notes")
    return notes[place].id


def _entry(part: Part, note: Note, journal: Journal) -> Entry:
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
    return Entry(note, tuple(_marks(part, spans, set(wrong), (note, journal))))


def _marks(part: Part, spans: list[Span], wrong: set[int], told: tuple[Note, Journal]) -> Iterator[Mark]:
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


def _laid_out(part: Part) -> list[Span]:
    spans = []
    at = 0
    for row in part.rows:
        spans.append((at, at + len(row.token)))
        at += len(row.token) + 1
    return spans


def _rebuilt(part: Part, spans: list[Span]) -> str:
    """The tokens at their places, with a line end after each sentence and spaces elsewhere."""
    pieces: list[str] = []
    breaks = set(part.breaks)
    at = 0
    for place, (row, (start, end)) in enumerate(zip(part.rows, spans, strict=True)):
        if start < at or end - start != len(row.token) or start - at > LONGEST_GAP:
            raise ParticipantFault(f"{part.where}: {start}-{end} does not fit token {place + 1}, {shown(row.token)}")
        gap = " " * (start - at)
        pieces += ["\n" + gap[1:] if gap and place in breaks and place else gap, row.token]
        at = end
    return "".join(pieces)


def _found(part: Part, note: Note) -> list[Span]:
    """Each token where it stands next in the note, with nothing but white space passed over."""
    text = note.text or ""
    spans = []
    at = 0
    for place, row in enumerate(part.rows, 1):
        while at < len(text) and text[at].isspace():
            at += 1
        if not text.startswith(row.token, at):
            raise ParticipantFault(
                f"{part.where}: token {place}, {shown(row.token)}, is not what note {shown(note.id)} holds at {at}"
            )
        spans.append((at, at + len(row.token)))
        at += len(row.token)
    return spans

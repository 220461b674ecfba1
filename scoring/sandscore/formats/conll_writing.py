"""Notes to CoNLL columns: tokens are cut so that every annotation begins and ends with one."""

import re
from bisect import bisect_left, bisect_right
from urllib.parse import quote

from msgspec import Struct

from sandscore.formats.corpus import AnnotatedNote, Corpus, CorpusNote, LossJournal
from sandscore.formats.tag_schemes import Run, Scheme, encode
from sandscore.formats.type_maps import one_word
from sandscore.records.document import Annotation

NAME = "conll"
BORDER = "-DOCSTART-"
NO_NAME = "-X-"
_BREAK = "\n"
_TOKEN = re.compile(r"\w+|[^\w\s]")


class _Tokens(Struct, frozen=True):
    starts: list[int]
    ends: list[int]


def write(corpus: Corpus, journal: LossJournal, scheme: Scheme = "bio") -> bytes:
    """One line a token, a blank line where the note's line ends and no annotation goes on."""
    pieces: list[str] = []
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        pieces.append(f"{BORDER}\t{_quoted(entry.note.id)}\t{NO_NAME}\tO\n\n")
        pieces += _rows(entry, journal, scheme)
        pieces.append("\n")
    return "".join(pieces).encode("utf-8")


def _quoted(identifier: str) -> str:
    name = quote(identifier, safe="") or "%"
    return name.replace("-", "%2D") if name == NO_NAME else name


def _rows(entry: AnnotatedNote, journal: LossJournal, scheme: Scheme) -> list[str]:
    text = entry.note.text or ""
    kept = _without_overlaps([mark.annotation for mark in entry.marks], entry.note, journal)
    tokens = _tokens(text, kept)
    runs = _runs(tokens, kept, entry.note, journal)
    inside = {place for first, stop, _ in runs for place in range(first + 1, stop)}
    tags = encode(len(tokens.starts), runs, scheme)
    rows = []
    for place, (start, end) in enumerate(zip(tokens.starts, tokens.ends, strict=True)):
        first = place not in inside
        breaks = first and place > 0 and "\n" in text[tokens.ends[place - 1] : start]
        fused = scheme == "io" and first and not breaks and tags[place] != "O"
        if fused and place > 0 and tags[place] == tags[place - 1]:
            journal.lose(NAME, "the border between neighbours of one type (IO has none)", entry.note.id)
        rows.append(f"{_BREAK if breaks else ''}{text[start:end]}\t{start}\t{end}\t{tags[place]}\n")
    return rows


def _without_overlaps(annotations: list[Annotation], note: CorpusNote, journal: LossJournal) -> list[Annotation]:
    """A token has one tag: of annotations that overlap the longest stays, of equals the first."""
    starts: list[int] = []
    kept: list[Annotation] = []
    for annotation in sorted(annotations, key=lambda a: (-a.length, a.start)):
        place = bisect_left(starts, annotation.start)
        before_ends = place == 0 or kept[place - 1].end <= annotation.start
        if before_ends and (place == len(kept) or annotation.end <= starts[place]):
            starts.insert(place, annotation.start)
            kept.insert(place, annotation)
        else:
            journal.lose(NAME, "annotations that overlap a longer one", note.id)
    return kept


def _tokens(text: str, annotations: list[Annotation]) -> _Tokens:
    """Words and single marks, cut again wherever an annotation begins or ends."""
    borders = sorted({border for a in annotations for border in (a.start, a.end)})
    tokens = _Tokens([], [])
    for word in _TOKEN.finditer(text):
        inner = borders[bisect_right(borders, word.start()) : bisect_left(borders, word.end())]
        tokens.starts.extend([word.start(), *inner])
        tokens.ends.extend([*inner, word.end()])
    return tokens


def _runs(tokens: _Tokens, annotations: list[Annotation], note: CorpusNote, journal: LossJournal) -> list[Run]:
    runs: list[Run] = []
    for annotation in annotations:
        first = bisect_left(tokens.starts, annotation.start)
        stop = bisect_left(tokens.starts, annotation.end)
        if first == stop:
            journal.lose(NAME, "annotations of white space only", note.id)
            continue
        if tokens.starts[first] != annotation.start or tokens.ends[stop - 1] != annotation.end:
            journal.lose(NAME, "white space at the edge of an annotation", note.id)
        runs.append((first, stop, one_word(annotation.label or "", NAME, note, journal)))
    return runs

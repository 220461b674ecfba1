"""Random corpora of everything a format says it can hold, and the trip out to disk and back."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark, Output
from sandscore.formats.format_files import save
from sandscore.records.document import Annotation
from sandscore.task_table.task import TASKS

AWKWARD = "ab  \n\r\t]>&<\"'é日𝒳🙂\u00a0\u0085\u2028\x0b\x0c\x1f\ufeff-7"
PLAIN_TEXT = "ab  \n\r\t]>&<\"'é日𝒳🙂\u00a0\u0085\u2028\ufeff-7"
texts = st.text(st.sampled_from(AWKWARD), max_size=40)
xml_texts = st.text(st.sampled_from(PLAIN_TEXT), max_size=40)
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=8)
kinds = st.sampled_from(["DATE", "CITY", "ID/OTHER", "a/b", "B-x", "{", "O-", "date_time"]) | words
identifiers = st.text(st.sampled_from("ab1-_.%/\\ \x00é~"), max_size=6) | st.sampled_from(["con", "../../x", "-X-"])


def whole(read: Callable[..., Corpus], write: Callable[..., Output], corpus: Corpus, **extra: object) -> Corpus:
    """The corpus as it comes back from disk."""
    with TemporaryDirectory() as room:
        target = Path(room) / "out"
        save(write(corpus, LossJournal()), target, force=False)
        return read([target], LossJournal(), extra.get("notes"))


def said(corpus: Corpus) -> dict[str, list[tuple[int, int, str, str | None]]]:
    return {
        entry.note.id: [
            (m.annotation.start, m.annotation.end, m.annotation.text, m.annotation.label) for m in entry.marks
        ]
        for entry in corpus.entries
    }


def lost(journal: LossJournal) -> dict[str, int]:
    return {loss.what: loss.count for loss in journal.losses}


def by_note(corpus: Corpus) -> dict[str, AnnotatedNote]:
    return {entry.note.id: entry for entry in corpus.entries}


def notes_of(corpus: Corpus) -> tuple[CorpusNote, ...]:
    return tuple(entry.note for entry in corpus.entries)


@st.composite
def spans(draw: st.DrawFn, text: str) -> list[tuple[int, int]]:
    """Any spans of the text, overlapping and repeated ones too."""
    if not text:
        return []
    starts = st.integers(0, len(text) - 1)
    pairs = draw(st.lists(st.tuples(starts, st.integers(1, len(text))), max_size=5))
    return [(start, min(start + length, len(text))) for start, length in pairs]


def trimmed(text: str, span: tuple[int, int], blank: str) -> tuple[int, int] | None:
    """The span without what matches ``blank`` at its edges."""
    start, end = span
    while start < end and re.fullmatch(blank, text[start]):
        start += 1
    while start < end and re.fullmatch(blank, text[end - 1]):
        end -= 1
    return (start, end) if start < end else None


def disjoint(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not kept or kept[-1][1] <= start:
            kept.append((start, end))
    return kept


def flat_marks(draw: st.DrawFn, text: str, found: Sequence[tuple[int, int]]) -> tuple[Mark, ...]:
    return tuple(Mark(FLAT, Annotation(s, e - s, text[s:e], draw(kinds))) for s, e in found)


@st.composite
def flat_corpora(
    draw: st.DrawFn,
    ids: st.SearchStrategy[str] = identifiers,
    held_texts: st.SearchStrategy[str] = texts,
    shape: Callable[[str, list[tuple[int, int]]], Sequence[tuple[int, int]]] = lambda _text, found: found,
) -> Corpus:
    """Notes with nothing but identifier and text; marks with nothing but span and type."""
    entries = []
    for name in draw(st.lists(ids, max_size=3, unique=True)):
        text = draw(held_texts)
        entries.append(AnnotatedNote(CorpusNote(name, text), flat_marks(draw, text, shape(text, draw(spans(text))))))
    return Corpus(tuple(entries))


NATIVE = tuple(task for task in TASKS if task != FLAT)


@st.composite
def task_corpora(draw: st.DrawFn, tasks: tuple[str, ...] = NATIVE) -> Corpus:
    """Notes with all their fields; marks of every task with label, second label and confidence."""
    confidences = st.none() | st.integers(0, 100) | st.floats(0, 100)
    entries = []
    for name in draw(st.lists(st.text(st.sampled_from("ab1-é"), min_size=1, max_size=4), max_size=3, unique=True)):
        text = draw(texts)
        marks = []
        for task_id in tasks:
            task = TASKS[task_id]
            for start, end in draw(spans(text)):
                label = draw(st.none() | words) if task.label else None
                second = draw(st.none() | words) if task.second_label else None
                span = Annotation(start, end - start, text[start:end], label, draw(confidences))
                marks.append(Mark(task_id, span, second))
        resource = draw(st.none() | st.just(f"dataset/d/fhirStores/s/fhir/Note/{name}"))
        note = CorpusNote(name, text, draw(st.sampled_from(["7", "8"])), draw(st.sampled_from(["t", "u"])), resource)
        entries.append(AnnotatedNote(note, tuple(marks)))
    return Corpus(tuple(entries), tasks)

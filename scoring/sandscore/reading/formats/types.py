"""Types of foreign formats to tasks and labels, and back."""

import re
from collections.abc import Sequence
from dataclasses import replace

from sandscore.reading.formats.corpus import FLAT, Corpus, Entry, Journal, Mark, Note, shown
from sandscore.reading.formats.vocabulary import PLAIN_TYPES, Vocabulary
from sandscore.records.documents import Annotation

_SPACE = re.compile(r"\s")


def into_tasks(corpus: Corpus, words: Sequence[Vocabulary], format_name: str, journal: Journal) -> Corpus:
    """Each mark of a flat format given to the first task that knows its type."""
    entries = []
    for entry in corpus.entries:
        marks = (_given(mark, words, format_name, entry.note, journal) for mark in entry.marks)
        entries.append(Entry(entry.note, tuple(mark for mark in marks if mark)))
    return Corpus(tuple(entries), tuple(word.task.id for word in words))


def _given(mark: Mark, words: Sequence[Vocabulary], format_name: str, note: Note, journal: Journal) -> Mark | None:
    kind = mark.annotation.label
    word = next((word for word in words if word.means(kind)), None)
    if word is None:
        tasks = ", ".join(word.task.id for word in words)
        journal.lose(format_name, f"type {shown(kind or '')} is mapped to nothing in {tasks}", note.id)
        return None
    label = word.label(kind)
    if label is None and word.task.id == FLAT:
        label = word.writes.get(None, PLAIN_TYPES[FLAT][0])
        journal.lose(format_name, f"annotations without a type (called {shown(label)})", note.id)
    elif label is None and word.task.label_required:
        journal.lose(format_name, f"annotations without the {word.task.label} that {word.task.id} requires", note.id)
        return None
    return Mark(word.task.id, replace(mark.annotation, label=label))


def into_types(corpus: Corpus, words: Sequence[Vocabulary], format_name: str, journal: Journal) -> Corpus:
    """Each mark's task and label as a type of a flat format, in order of place."""
    by_task = {word.task.id: word for word in words}
    entries = []
    for entry in corpus.entries:
        typed = (_typed(mark, by_task[mark.task], format_name, entry.note, journal) for mark in entry.marks)
        marks = (Mark(FLAT, mark) for mark in typed if mark)
        entries.append(Entry(entry.note, tuple(marks)))
    return Corpus(tuple(entries))


def _typed(mark: Mark, word: Vocabulary, format_name: str, note: Note, journal: Journal) -> Annotation | None:
    task, span = word.task, mark.annotation
    kind = word.kind(span.label)
    if kind is None:
        journal.lose(format_name, f"{task.id} with label {shown(span.label or '')}: no type for it", note.id)
        return None
    if span.label is not None and not word.labels_kept:
        journal.lose(format_name, str(task.label), note.id)
    if mark.second_label is not None:
        journal.lose(format_name, str(task.second_label), note.id)
    if span.confidence is not None:
        journal.lose(format_name, "confidence", note.id)
    return Annotation(span.start, span.length, span.text, kind)


def one_word(kind: str, format_name: str, note: Note, journal: Journal) -> str:
    """A type without the white space that would end it."""
    word = _SPACE.sub("_", kind)
    if word != kind:
        journal.lose(format_name, "white space in types (written as _)", note.id)
    return word

"""One conversion from beginning to end: read, give types their tasks, give tasks their types, write."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.label_codes import allowed
from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.terminal_text import cited
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark, Output
from sandscore.formats.file_format import FileFormat
from sandscore.formats.note_naming import ANNOTATORS, ENTITY_ID
from sandscore.formats.type_maps import TypeMap, into_tasks, into_types, refuse_nothing, vocabulary
from sandscore.task_table.task import TASKS, Task


class Conversion(Struct, frozen=True):
    """What to convert. ``tasks`` empty: all that the source has. ``types`` and ``given``: see ``vocabulary``."""

    source: type[FileFormat]
    target: type[FileFormat]
    paths: tuple[Path, ...]
    tasks: tuple[Task, ...] = ()
    notes: tuple[CorpusNote, ...] | None = None
    types: tuple[str, ...] = ()
    given: Mapping[str, str | None] | None = None
    confidence: float = 100
    named_only: bool = False
    """Of the notes only those of which the source speaks."""


def convert(wanted: Conversion, journal: LossJournal) -> tuple[Corpus, Output]:
    """The corpus in terms of tasks, as it went over, and the target's bytes."""
    corpus = corpus_of(wanted, journal)
    for entry in corpus.entries if wanted.target.name != wanted.source.name else ():
        for name, _ in entry.note.more:
            if name != ANNOTATORS:
                journal.lose(wanted.target.name, f"property {name!r} of documents", entry.note.id)
    if wanted.target.text and wanted.target.name != "ours" and any(e.note.text is None for e in corpus.entries):
        raise UsageFault(f"{wanted.target.name} holds the text of every note: give --notes")
    if not wanted.target.flat:
        return corpus, wanted.target.writes(completed(corpus, wanted, journal), journal)
    own = not wanted.source.flat
    tasks = [journal.tasks[name] for name in corpus.tasks]
    words = [_words(wanted, wanted.target, task, own=own) for task in tasks]
    whole = wanted.target.whole
    if not whole:
        _note_losses(corpus, wanted.target, journal)
    return corpus, wanted.target.writes(into_types(corpus, words, wanted.target.name, journal, whole=whole), journal)


def corpus_of(wanted: Conversion, journal: LossJournal) -> Corpus:
    """What the source holds, over the notes where they were given, in terms of tasks."""
    _check(wanted)
    corpus = wanted.source.reads(wanted.paths, journal, wanted.notes)
    if wanted.notes is not None:
        corpus = with_notes(corpus, wanted.notes, named_only=wanted.named_only)
    return _in_tasks(corpus, wanted, journal)


def _check(wanted: Conversion) -> None:
    own = bool(wanted.types) or wanted.given is not None
    if own and not (wanted.source.flat or wanted.target.flat):
        raise UsageFault(
            f"--type and --map are for formats with types; {wanted.source.name} and {wanted.target.name} have tasks"
        )
    if own and len(wanted.tasks) != 1:
        raise UsageFault("--type and --map are about one task: name it")
    if wanted.types and wanted.tasks[0].id == FLAT:
        raise UsageFault(f"the task {FLAT} takes every type as it is; --map renames them")
    if wanted.types and wanted.given is not None:
        raise UsageFault("--type and --map contradict each other")


def _words(wanted: Conversion, form: type[FileFormat], task: Task, *, own: bool) -> TypeMap:
    return vocabulary(form.name, task, wanted.types if own else (), wanted.given if own else None)


def _in_tasks(corpus: Corpus, wanted: Conversion, journal: LossJournal) -> Corpus:
    if wanted.source.flat:
        tasks = wanted.tasks or (TASKS[FLAT],)
        words = [_words(wanted, wanted.source, task, own=True) for task in tasks]
        found = into_tasks(corpus, words, wanted.source.name, journal)
        refuse_nothing(corpus, found, words, wanted.paths[0])
        return found
    if not wanted.tasks:
        return corpus
    asked = tuple(task.id for task in wanted.tasks)
    entries = (replace(e, marks=tuple(mark for mark in e.marks if mark.task in asked)) for e in corpus.entries)
    return Corpus(tuple(entries), asked)


def with_notes(corpus: Corpus, notes: Sequence[CorpusNote], *, named_only: bool = False) -> Corpus:
    """The corpus over exactly these notes, or those it names, in their order; its own text has to be theirs."""
    found = {entry.note.id: entry for entry in corpus.entries}
    known = {note.id: note for note in notes}
    for name, entry in found.items():
        if name not in known:
            raise ParticipantFault(f"note {cited(name)} is not among the notes of --notes")
        if entry.note.text is not None and entry.note.text != known[name].text:
            raise ParticipantFault(f"note {cited(name)} has another text than in --notes")
    wanted = (note for note in notes if note.id in found or not named_only)
    return Corpus(tuple(_over(note, found.get(note.id)) for note in wanted), corpus.tasks)


def _over(note: CorpusNote, entry: AnnotatedNote | None) -> AnnotatedNote:
    return AnnotatedNote(note) if entry is None else AnnotatedNote(replace(note, more=entry.note.more), entry.marks)


def completed(corpus: Corpus, wanted: Conversion, journal: LossJournal) -> Corpus:
    """What the task's schema requires and the source had not, filled in and told; what ours cannot hold, told."""
    entries = []
    for entry in corpus.entries:
        marks = tuple(_complete(mark, wanted, entry.note, journal) for mark in entry.marks)
        entries.append(replace(entry, marks=marks))
    return Corpus(tuple(entries), corpus.tasks)


def _complete(mark: Mark, wanted: Conversion, note: CorpusNote, journal: LossJournal) -> Mark:
    task = journal.tasks[mark.task]
    name = wanted.source.name
    for what, _ in mark.more:
        if what != ENTITY_ID or wanted.target.name != "ours":
            journal.lose(wanted.target.name, what, note.id)
    if task.confidence_required and mark.annotation.confidence is None:
        journal.lose(name, f"confidence, which {task.id} requires (filled in as {wanted.confidence:g})", note.id)
        mark = replace(mark, annotation=replace(mark.annotation, confidence=wanted.confidence))
    if task.second_label and mark.second_label is None:
        first = (allowed(task, task.second_label) or ("",))[0]
        journal.lose(name, f"{task.second_label}, which {task.id} requires (filled in as {first})", note.id)
        mark = replace(mark, second_label=first)
    return mark


def _note_losses(corpus: Corpus, target: type[FileFormat], journal: LossJournal) -> None:
    """What is said of a note and the flat formats have no place for; i2b2 and presidio hold some of it."""
    for entry in corpus.entries:
        note = entry.note
        kept = target.name == "presidio"
        if note.patient is not None and not kept and target.name != "i2b2":
            journal.lose(target.name, "patientId", note.id)
        if note.type is not None and not kept:
            journal.lose(target.name, "note type", note.id)
        if note.name is not None and not kept:
            journal.lose(target.name, "note_name", note.id)
        if note.text is not None and not target.text:
            journal.lose(target.name, "note text", note.id)

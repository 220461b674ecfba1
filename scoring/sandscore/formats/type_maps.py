"""Maps of a foreign format's types to task and label: the defaults, and an organiser's own.

Types of foreign formats to tasks and labels, and back.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from sandscore.annotations.label_codes import allowed, normalised
from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.terminal_text import cited, one_line
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.task_table.task import Task


class TypeMap(Struct, frozen=True):
    """What the types of one format mean to one task. ``free``: any other type is its own label."""

    task: Task
    reads: Mapping[str, str | None]
    writes: Mapping[str | None, str]
    free: bool = False
    labels_kept: bool = True

    def means(self, kind: str | None) -> bool:
        return kind is None or self.free or kind.casefold() in self.reads

    def label(self, kind: str | None) -> str | None:
        if kind is None:
            return None
        return self.reads.get(kind.casefold(), kind if self.free else None)

    def kind(self, label: str | None) -> str | None:
        """The type to write; None where there is none."""
        if not self.labels_kept:
            return self.writes[None]
        values = allowed(self.task, self.task.label) if self.task.label else None
        plain = normalised(label, values) if label is not None and values else label
        if label is not None and plain is None:
            return None
        return self.writes.get(plain or None, label if self.free else None)


def vocabulary(
    format_name: str, task: Task, types: Sequence[str] = (), given: Mapping[str, str | None] | None = None
) -> TypeMap:
    """The default for this format and task, with other type names, or the organiser's own map."""
    values = allowed(task, task.label) if task.label else None
    if given is not None:
        return _from_map(task, given, values)
    foreign = task.foreign_types(format_name)
    names = tuple(types) or foreign.types
    if task.any_type:
        return TypeMap(task, {}, {None: names[0]}, free=True)
    reads: dict[str, str | None] = {name.casefold(): None for name in names}
    writes: dict[str | None, str] = {None: names[0]}
    own = {label: kind for kind, label in foreign.labels}
    upper = format_name == "i2b2"
    for label in values or ():
        kind = own.get(label, label.upper() if upper else label)
        reads[kind.casefold()] = label
        writes[label] = kind
    for kind, label in task.standard:
        reads.setdefault(kind.casefold(), label or None)
    return TypeMap(task, reads, writes, labels_kept=values is not None)


def _from_map(task: Task, given: Mapping[str, str | None], values: tuple[str, ...] | None) -> TypeMap:
    reads: dict[str, str | None] = {}
    writes: dict[str | None, str] = {}
    for kind, label in given.items():
        plain = normalised(label, values) if label is not None else ""
        if plain is None or (plain and not task.label):
            choices = ", ".join(values) if values else "null"
            raise UsageFault(f"the map gives {cited(kind)} the label {cited(str(label))}; {task.id} has {choices}")
        reads[kind.casefold()] = plain or None
        writes.setdefault(plain or None, kind)
    kept = values is not None or task.any_type
    if not kept:
        writes = {None: next(iter(given), task.plain_types[0])}
    return TypeMap(task, reads, writes, labels_kept=kept)


_SPACE = re.compile(r"\s")
_NAMED = 8


def into_tasks(corpus: Corpus, words: Sequence[TypeMap], format_name: str, journal: LossJournal) -> Corpus:
    """Each mark of a flat format given to the first task that knows its type."""
    entries = []
    for entry in corpus.entries:
        marks = (_given(mark, words, format_name, entry.note, journal) for mark in entry.marks)
        entries.append(AnnotatedNote(entry.note, tuple(mark for mark in marks if mark)))
    return Corpus(tuple(entries), tuple(word.task.id for word in words))


def _given(
    mark: Mark, words: Sequence[TypeMap], format_name: str, note: CorpusNote, journal: LossJournal
) -> Mark | None:
    kind = mark.annotation.label
    word = next((word for word in words if word.means(kind)), None)
    if word is None:
        journal.lose(format_name, unmapped(kind or "", words), note.id)
        return None
    said = dict(mark.more)
    label = word.label(kind)
    if label is None and word.task.label:
        label = said.pop(word.task.label, None)
    if label is None and word.task.any_type:
        label = word.writes.get(None, word.task.plain_types[0])
        journal.lose(format_name, f"annotations without a type (called {cited(label)})", note.id)
    elif label is None and word.task.label_required:
        journal.lose(format_name, f"annotations without the {word.task.label} that {word.task.id} requires", note.id)
        return None
    second = said.pop(word.task.second_label, None) if word.task.second_label else None
    return Mark(word.task.id, replace(mark.annotation, label=label), second or None, tuple(said.items()))


def unmapped(kind: str, words: Sequence[TypeMap]) -> str:
    """What is said of a type that no task knows."""
    tasks = ", ".join(word.task.id for word in words)
    return f"type {cited(kind)} is mapped to nothing in {tasks} (--map FILE can map it)"


def refuse_nothing(before: Corpus, after: Corpus, words: Sequence[TypeMap], path: object) -> None:
    """A file without a note is a mistake and no answer, and so are annotations whose types no task knows."""
    if not before.entries:
        raise ParticipantFault(f"{one_line(path)}: holds no note and no annotation")
    if after.marks or not before.marks:
        return
    kinds = Counter(mark.annotation.label or "" for entry in before.entries for mark in entry.marks)
    named = ", ".join(f"{cited(kind)} ({count:,})" for kind, count in kinds.most_common(_NAMED))
    tasks = ", ".join(word.task.id for word in words)
    example = json.dumps({kinds.most_common(1)[0][0]: (words[0].task.labels or (None,))[0]})
    raise ParticipantFault(
        f"{one_line(path)}: nothing of its {before.marks:,} annotations goes over to {tasks}: found the types {named}"
        f"{', …' if len(kinds) > _NAMED else ''}; --map FILE says which labels they are, as in {one_line(example)}"
    )


def into_types(
    corpus: Corpus, words: Sequence[TypeMap], format_name: str, journal: LossJournal, *, whole: bool = False
) -> Corpus:
    """Each mark's task and label as a type of a flat format, in order of place; ``whole``: see ``FileFormat``."""
    by_task = {word.task.id: word for word in words}
    entries = []
    for entry in corpus.entries:
        typed = (_typed(mark, by_task[mark.task], format_name, entry.note, journal) for mark in entry.marks)
        marks = [mark for mark in typed if mark]
        if not whole:
            marks = [_bare(mark, format_name, entry.note, journal) for mark in marks]
        entries.append(AnnotatedNote(entry.note, tuple(marks)))
    return Corpus(tuple(entries))


def _typed(mark: Mark, word: TypeMap, format_name: str, note: CorpusNote, journal: LossJournal) -> Mark | None:
    task, span = word.task, mark.annotation
    kind = word.kind(span.label)
    if kind is None:
        journal.lose(format_name, f"{task.id} with label {cited(span.label or '')}: no type for it", note.id)
        return None
    beside = span.label if not word.labels_kept else None
    held = ((task.label, beside), (task.second_label, mark.second_label), *mark.more)
    more = tuple((name, value) for name, value in held if name is not None and value is not None)
    return Mark(FLAT, replace(span, label=kind), more=more)


def _bare(mark: Mark, format_name: str, note: CorpusNote, journal: LossJournal) -> Mark:
    """What is left where an annotation has a type and nothing else."""
    for name, _ in mark.more:
        journal.lose(format_name, name, note.id)
    if mark.annotation.confidence is not None:
        journal.lose(format_name, "confidence", note.id)
    return Mark(FLAT, replace(mark.annotation, confidence=None))


def one_word(kind: str, format_name: str, note: CorpusNote, journal: LossJournal) -> str:
    """A type without the white space that would end it."""
    word = _SPACE.sub("_", kind)
    if word != kind:
        journal.lose(format_name, "white space in types (written as _)", note.id)
    return word

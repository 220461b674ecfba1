"""Annotation files of any format in the place of ours: recognised or named, read, mapped to one task, written as ours.

What the loader then reads, checks and hashes is canonical JSON Lines, a line a note. Offsets that do not fit stay as
the file has them, so that validation lists them all as it does for a file of ours.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sandscore.base.byte_sources import InputFile, NamedBytes, opened
from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.base.terminal_text import one_line
from sandscore.formats import FORMATS
from sandscore.task_table.task import TASKS, Task

if TYPE_CHECKING:
    from sandscore.formats.corpus import Corpus, CorpusNote
    from sandscore.formats.file_format import Glance

OURS = "ours"
_LOOK = 1 << 18
_ENOUGH = 1 << 12
_OWN_KEY = "annotationSource"
_BY_THEN = 256
"""Bytes within which most files of ours have said so; nothing more of them is looked at."""
_PACKED = (".gz", ".zst", ".xz", ".bz2")
_TOLD = 10
Labels = Mapping[str, str | None] | str | Path | None


class ForeignReading(Struct, frozen=True, kw_only=True):
    """How an input is to be read: by which format, with whose labels, and whose annotations of several people's.

    ``source`` None: it is looked whether the content leaves no doubt, unless ``guess`` is false.
    """

    source: str | None = None
    labels: Labels = None
    annotator: str | None = None
    guess: bool = True


AS_IT_SEEMS = ForeignReading()


class TakenInput(Struct, frozen=True):
    """What the loader takes in the place of an input, and how that was understood."""

    file: InputFile
    remarks: tuple[str, ...] = ()


def taken(task: Task, file: InputFile, notes: InputFile | None, how: ForeignReading) -> TakenInput:
    """An input of annotations as ours; a file of ours is handed on as it is."""
    name = how.source
    guessed = name is None
    if guessed and how.guess and not isinstance(file, NamedBytes):
        name = recognised(str(file), task)
    if name in {None, OURS}:
        if how.labels is not None or how.annotator is not None:
            raise UsageFault(f"{one_line(file)}: --map and --annotator are for other formats; name it with --from")
        return TakenInput(file)
    if isinstance(file, NamedBytes):
        raise UsageFault(f"{one_line(file)}: what is of another format is given as a path")
    from sandscore.formats.conversion import Conversion, completed, corpus_of
    from sandscore.formats.corpus import LossJournal

    row = FORMATS.find(str(name))
    journal = LossJournal(kept=True, annotator=how.annotator, tasks={**TASKS, task.id: task})
    wanted = Conversion(
        row,
        FORMATS.find(OURS),
        (Path(file),),
        (task,),
        None if notes is None else _notes(notes),
        given=read_labels(how.labels),
        named_only=True,
    )
    content = _lines(completed(corpus_of(wanted, journal), wanted, journal), task)
    said = [f"{one_line(file)}: read as {row.name}, {row.description}; --from names another format"] if guessed else []
    lost = [loss.sentence for loss in journal.losses]
    more = [f"… and {len(lost) - _TOLD:,} more kinds of what is not carried over"] if len(lost) > _TOLD else []
    return TakenInput(NamedBytes(f"{file} (as {row.name})", content), (*said, *lost[:_TOLD], *more))


def read_labels(given: Labels) -> Mapping[str, str | None] | None:
    """A map of foreign types to labels, or the JSON file that holds one."""
    if given is None or isinstance(given, Mapping):
        return given
    from sandscore.formats.format_files import read_json

    held = read_json(Path(given))
    if not isinstance(held, dict) or not all(isinstance(label, str | None) for label in held.values()):
        raise ParticipantFault(f"{given}: expected an object of foreign types, each with a label or null")
    return held


def recognised(path: str, task: Task) -> str | None:
    """The format of which a path is without doubt; None where it may be anything, or nothing can be seen yet."""
    glance = _glance(path)
    if glance is None or glance.keys & {task.array, _OWN_KEY}:
        return None
    found = [row.name for row in FORMATS if row.recognises(glance)]
    return found[0] if len(found) == 1 else None


def task_in(path: str) -> Task:
    """The task whose annotations a file of ours holds."""
    beginning = b""
    if path != "-":
        with opened(path) as source:
            beginning = bytes(source.data[:_LOOK])
    item = _first_item(beginning)
    found = [task for task in TASKS.values() if isinstance(item, dict) and task.array in item]
    if len(found) != 1:
        raise UsageFault(f"{one_line(path)}: does not say of which task it is; name it with --task")
    return found[0]


def _glance(path: str) -> "Glance | None":
    """A look at a path; None at what can be read but once, or is packed, is ours, or cannot be opened."""
    names: tuple[str, ...] = ()
    beginning = b""
    if path == "-" or path.endswith(_PACKED):
        return None
    try:
        if os.path.isdir(path):  # noqa: PTH112 (before anything heavier is needed)
            names = tuple(sorted(os.listdir(path))[:_ENOUGH])  # noqa: PTH208
        elif not os.path.isfile(path):  # noqa: PTH113 (a pipe is read but once)
            return None
        else:
            with open(path, "rb") as file:  # noqa: PTH123
                beginning = file.read(_BY_THEN)
                if _OWN_KEY.encode() in beginning:
                    return None
                beginning += file.read(_LOOK - len(beginning))
    except (OSError, ValueError):
        return None
    from sandscore.formats.file_format import Glance

    return Glance(path, names, beginning, _first_item(beginning))


def _first_item(beginning: bytes) -> Any:
    """The first item of a list or of lines, or an object that is alone; None where the beginning does not hold it."""
    text = beginning.decode("utf-8", "ignore").lstrip()
    if text[:1] == "[" and text[1:].lstrip()[:1] != "]":
        text = text[1:].lstrip()
    if text[:1] not in {"{", "["}:
        return None
    try:
        return json.JSONDecoder().raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def _notes(notes: InputFile) -> "tuple[CorpusNote, ...]":
    """The notes, which are the organiser's."""
    from sandscore.formats.sandscore_json import read_notes

    try:
        return read_notes(notes)
    except ParticipantFault as fault:
        raise OrganiserFault(f"the notes are not valid: {fault}") from None


def _lines(corpus: "Corpus", task: Task) -> bytes:
    """A line a note, keys sorted; no note at all is an empty list."""
    from sandscore.formats.json_fields import is_read, record_of

    records = (record_of(entry, [task]) for entry in corpus.entries if is_read(entry))
    lines = [
        json.dumps(record, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        for record in records
    ]
    return b"".join(line + b"\n" for line in lines) or b"[]\n"

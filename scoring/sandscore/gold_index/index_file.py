"""The gold index: notes and gold as they are once read, in one file that every process maps instead of reading both.

Two bundles one after the other, notes first: whoever must not see gold maps no further. It says what it was made of and
is refused where anything of that differs. It holds texts and gold, and is its owner's alone.
"""

import os
from collections import Counter
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sandscore import __version__
from sandscore.annotations.columns import Columns, Tokens
from sandscore.annotations.data_set import DataSet, NoteRoll
from sandscore.annotations.label_codes import vocabulary
from sandscore.annotations.note_texts import SPILL, NoteTexts, marked
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.base.byte_sources import InputFile, NamedBytes, opened
from sandscore.base.column_files import mapped
from sandscore.base.errors import MissingFile, OrganiserFault
from sandscore.base.file_marks import Marks, marks_of
from sandscore.base.terminal_text import one_line
from sandscore.gold_index import column_bundle
from sandscore.gold_index.column_bundle import DamagedBundle
from sandscore.records.problem import Problem
from sandscore.task_table.task import Task

FORMAT = 3
"""Of the arrays and heads; a release of sandscore refuses what another one made, whatever this says."""
_PREAMBLE = 64
_NO_TEXTS = "the notes have no texts"
_COLUMNS = ("note", "start", "length", "label", "confidence")
_STRINGS = msgspec.json.Decoder(list[str])
_PATIENTS = msgspec.json.Decoder(list[str | None])
OWNER_FOLDER, OWNER_FILE = 0o700, 0o600


class IndexRefused(OrganiserFault):
    """An index that cannot be used, and why."""


class SourceFile(Struct, frozen=True):
    """A file that an index was made of: the hash of its unpacked bytes, its marks, and what was found in it."""

    sha256: str
    marks: Marks | None
    counts: dict[str, int]
    problems: tuple[Problem, ...]


class NotesHead(Struct, frozen=True, forbid_unknown_fields=True):
    """What the notes' half is of."""

    format: int
    sandscore: str
    whole_names: bool
    source: SourceFile


class GoldHead(Struct, frozen=True, forbid_unknown_fields=True):
    """What gold's half is of; ``labels`` as they are numbered in it."""

    task: str
    definition: str
    notes: str
    source: SourceFile
    labels: tuple[str, ...]


class IndexedRoll(NoteRoll):
    """Names that become Python's when somebody asks for them; copied, so that a card may have them when the index is
    gone."""

    def __init__(self, notes: int, ids: NDArray[np.uint8], patients: NDArray[np.uint8]) -> None:
        self._notes, self._patients = notes, patients.tobytes()
        self._ids = bytearray(ids)
        self.written = memoryview(self._ids)

    def __len__(self) -> int:
        return self._notes

    def __getattr__(self, name: str) -> list[Any]:
        if name == "ids":
            self.ids = self._ids.decode("utf-8", "surrogatepass").split("\0")[:-1]
            return self.ids
        if name == "patients":
            self.patients = _PATIENTS.decode(self._patients)
            return self.patients
        raise AttributeError(name)

    def unit_of(self) -> Mapping[str, str]:
        """Each note's patient, else the note itself."""
        return UnitsOfNotes(self)


class UnitsOfNotes(Mapping[str, str]):
    """By note what is resampled; a dictionary once somebody asks."""

    def __init__(self, roll: NoteRoll) -> None:
        self._roll = roll

    @cached_property
    def _found(self) -> Mapping[str, str]:
        return NoteRoll.unit_of(self._roll)

    def __len__(self) -> int:
        return len(self._roll)

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __getitem__(self, note: str) -> str:
        return self._found[note]

    def keys(self) -> KeysView[str]:
        """Of the dictionary, which are compared with others at once."""
        return self._found.keys()

    def items(self) -> ItemsView[str, str]:
        """Of the dictionary."""
        return self._found.items()

    def values(self) -> ValuesView[str]:
        """Of the dictionary."""
        return self._found.values()


class GoldIndex(Struct, frozen=True):
    """An index that was opened; ``gold`` and what follows is empty where only the notes' half was asked for."""

    name: str
    dataset: DataSet
    notes: SourceFile
    gold: SourceFile | None = None
    columns: Columns | None = None

    def findings(self, array: str) -> dict[str, ProblemCollector]:
        """What was found in notes and gold when they were read: warnings."""
        return {
            role: _restored(self.name, array, source)
            for role, source in (("notes", self.notes), ("gold", self.gold))
            if source is not None
        }

    def refuse_others(self, gold: InputFile | None, notes: InputFile | None) -> None:
        """Where one of these files is not what the index was made of. Untouched ones are not read for that."""
        for role, path, source in (("gold", gold, self.gold), ("notes", notes, self.notes)):
            if path is not None and source is not None and not _is_of(source, path):
                raise IndexRefused(
                    f"{one_line(self.name)} was made of {'other notes' if role == 'notes' else 'another gold'} than "
                    f"{one_line(str(path))}; sandscore index makes a new one"
                )


def is_index(path: InputFile) -> bool:
    """Whether a file begins as an index does; what may be read only once is none."""
    try:
        if isinstance(path, NamedBytes) or not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return bytes(file.read(len(column_bundle.MAGIC))) == column_bundle.MAGIC
    except (OSError, ValueError):
        return False


def content(
    task: Task, dataset: DataSet, columns: Columns, notes: SourceFile, gold: SourceFile
) -> Iterator[bytes | memoryview]:
    """The bytes of an index."""
    if dataset.texts is None or columns.tokens is None or columns.text is not None:
        raise ValueError(_NO_TEXTS)
    yield from column_bundle.pieces(
        NotesHead(FORMAT, __version__, dataset.whole_names, notes),
        {"ids": _ids(dataset.roll.ids), "patients": _names(dataset.roll.patients), **_arrays_of(dataset.texts)},
    )
    tokens = columns.tokens
    rows: dict[str, NDArray[Any]] = {name: getattr(columns, name) for name in _COLUMNS}
    rows |= {"words": tokens.words, "begin": tokens.begin, "size": tokens.size}
    if columns.entity is not None:
        rows |= {"entity": columns.entity, "entities": _names(name for name in dataset.entities if name is not None)}
    labels = tuple(dataset.vocabulary.names)
    yield from column_bundle.pieces(GoldHead(task.id, _definition(task), notes.sha256, gold, labels), rows)


def opened_index(path: InputFile, task: Task) -> GoldIndex:
    """The index, looked at to its last byte; raises IndexRefused."""
    data = _mapped(path)
    found = _notes(path, data, task)
    with _damage(path):
        half = column_bundle.read(data[column_bundle.size_of(bytes(data[:_PREAMBLE])) :], GoldHead)
    head = half.head
    if (head.task, head.definition) != (task.id, _definition(task)):
        other = head.task if head.task != task.id else "another definition of it"
        raise IndexRefused(f"{one_line(str(path))} is an index for the task {one_line(other)}, not for {task.id}")
    if head.notes != found.notes.sha256:
        raise IndexRefused(f"{one_line(str(path))} is damaged: gold and notes are of two; {_ANEW}")
    dataset, rows = found.dataset, dict(half.arrays)
    with _damage(path):
        dataset.vocabulary.learn(list(head.labels))
        entity = rows.get("entity")
        if entity is not None:
            dataset.entities.update(
                (name, number) for number, name in enumerate(_STRINGS.decode(rows["entities"].data))
            )
        tokens = Tokens(rows["words"], rows["begin"], rows["size"])
        columns = Columns(**{name: rows[name] for name in _COLUMNS}, tokens=tokens, entity=entity)
    return GoldIndex(str(path), dataset, found.notes, head.source, columns)


def opened_notes(path: Path, task: Task) -> GoldIndex:
    """The notes' half alone; of gold not a byte is mapped."""
    begin = bytes(_mapped(path, _PREAMBLE))
    with _damage(path):
        size = column_bundle.size_of(begin)
    return _notes(path, _mapped(path, size), task)


_ANEW = "sandscore index makes a new one"


class _damage:  # noqa: N801 (used as a statement)
    """What is wrong with an index's bytes, as a sentence."""

    def __init__(self, path: InputFile) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, fault: BaseException | None, _trace: object) -> None:
        if isinstance(fault, DamagedBundle | KeyError | msgspec.DecodeError):
            why = fault if isinstance(fault, DamagedBundle) else "it holds what no index does"
            raise IndexRefused(f"{one_line(str(self._path))} is no index, or damaged ({why}); {_ANEW}") from None


def _mapped(path: InputFile, most: int | None = None) -> memoryview:
    try:
        with Path(str(path)).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return mapped(file.fileno(), size if most is None else min(most, size))
    except (OSError, ValueError) as fault:
        why = fault.strerror if isinstance(fault, OSError) else "is no file"
        raise MissingFile(f"{one_line(str(path))}: {why}") from None


def _notes(path: InputFile, data: memoryview, task: Task) -> GoldIndex:
    with _damage(path):
        half = column_bundle.read(data, NotesHead)
    head, arrays = half.head, half.arrays
    if (head.format, head.sandscore) != (FORMAT, __version__):
        made = f"sandscore {one_line(head.sandscore)}, format {head.format}"
        raise IndexRefused(f"{one_line(str(path))} was made by {made}, this is {__version__}, {FORMAT}; {_ANEW}")
    with _damage(path):
        roll, texts = _roll(arrays), _texts_of(arrays)
    dataset = DataSet(vocabulary(task, task.label), head.whole_names, growing=False, roll=roll, texts=texts)
    return GoldIndex(str(path), dataset, head.source)


def _arrays_of(texts: NoteTexts) -> dict[str, NDArray[Any]]:
    """All that texts are made of."""
    laid = texts.laid
    return {"texts": laid.texts, "text_sizes": np.diff(laid.begin), "chars": laid.chars, "marks": laid.marks}


def _texts_of(arrays: Mapping[str, NDArray[Any]]) -> NoteTexts:
    """Marks are made where there was no kernel to make them."""
    texts, sizes, chars, marks = (arrays[name] for name in ("texts", "text_sizes", "chars", "marks"))
    made = marks if len(marks) else marked(texts, sizes, chars)
    return NoteTexts(texts, sizes, chars, made, spooled=len(texts) > SPILL)


def _names(names: Iterable[str | None]) -> NDArray[np.uint8]:
    """Names as JSON, which is the quickest way to have them as Python's strings again."""
    return np.frombuffer(msgspec.json.encode([*names]), np.uint8)


def _ids(ids: list[str]) -> NDArray[np.uint8]:
    """A zero behind each, as the kernel looks for them; names with a zero in them as JSON."""
    joined = "\0".join([*ids, ""])
    return (
        np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
        if joined.count("\0") == len(ids)
        else _names(ids)
    )


def _roll(arrays: Mapping[str, NDArray[Any]]) -> NoteRoll:
    """What notes are called; as JSON that can be told only by reading it, and of no notes there is nothing to read."""
    ids, patients = arrays["ids"], arrays["patients"]
    if len(ids) and ids[-1]:
        return NoteRoll(_STRINGS.decode(ids.data), _PATIENTS.decode(patients.data))
    return IndexedRoll(len(arrays["text_sizes"]), ids, patients)


def _definition(task: Task) -> str:
    """Of all that the task table says: labels, spellings, what must be there."""
    return sha256(msgspec.json.encode(task)).hexdigest()


def _restored(name: str, array: str, source: SourceFile) -> ProblemCollector:
    found = ProblemCollector(name, array)
    found.counts = Counter(source.counts)
    found.restore({}, 0, source.problems)
    return found


def _is_of(source: SourceFile, path: InputFile) -> bool:
    if source.marks is not None and isinstance(path, str | Path) and str(path) != "-":
        try:
            if marks_of(Path(path)) == source.marks:
                return True
        except OSError:
            pass  # whoever opens it says what is wrong
    with opened(path) as file:
        return file.sha256() == source.sha256

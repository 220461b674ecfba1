"""The notes a challenge is about, numbered, and how the files that speak of them are joined."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from sandscore.annotations.label_codes import LabelCodes
from sandscore.annotations.note_texts import NoteTexts
from sandscore.base.arrays import Ints, Values

NAMELESS = "note"
"""What the only note is called where the one-note form is all there is."""


class WholeNamesNeededError(Exception):
    """Two different names of one file end alike: files must be joined on whole names."""


class TextsNeededError(Exception):
    """Notes' texts are asked for, and were not kept: files must be read again with them."""


class NoteRoll:
    """What notes are called, and their patients."""

    written: Values | None = None
    """The notes' names in UTF-8, a zero behind each, where somebody has them."""

    def __init__(self, ids: Iterable[str] = (), patients: Iterable[str | None] = ()) -> None:
        self.ids, self.patients = [*ids], [*patients]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def units(self) -> list[str]:
        """What is resampled: each note's patient, else the note itself."""
        return [patient or note for note, patient in zip(self.ids, self.patients, strict=True)]

    def unit_of(self) -> Mapping[str, str]:
        """The same by note."""
        return dict(zip(self.ids, self.units, strict=True))


class DataSet(Struct):
    """Numbered notes. ``texts`` is None where nobody supplied the notes; then gold names them (``growing``)."""

    vocabulary: LabelCodes
    whole_names: bool = False
    growing: bool = True
    roll: NoteRoll = field(default_factory=NoteRoll)
    texts: NoteTexts | None = None
    numbered: dict[str | None, int] = field(default_factory=dict)
    interned: dict[str, int] = field(default_factory=dict)
    entities: dict[str | None, int] = field(default_factory=lambda: {None: -1})
    compiled: Any = None
    """What the kernel knows of it, and reads blocks into; made when it is asked for."""

    @property
    def numbers(self) -> dict[str | None, int]:
        """Notes by what they are joined on."""
        if (known := len(self.numbered)) < len(self.roll):
            self.numbered |= {key: at for at, key in enumerate(self.roll.ids[known:], known)}
        return self.numbered

    def add(self, key: str | None, patient: str | None = None) -> int:
        """Number a new note."""
        number = self.numbers[key] = len(self.roll)
        self.roll.ids.append(NAMELESS if key is None else key)
        self.roll.patients.append(patient)
        return number

    def extend(self, keys: list[str], patients: list[str | None]) -> None:
        """Number new notes, whose keys differ."""
        self.roll.ids += keys
        self.roll.patients += patients

    def find(self, key: str | None) -> int | None:
        """The note's number (None asks for the only one); a growing data set makes room for it."""
        number = 0 if key is None and len(self.roll) == 1 else self.numbers.get(key)
        return self.add(key) if number is None and self.growing else number

    def intern(self, texts: list[str]) -> list[int]:
        """A number for each text, equal for equal texts."""
        return [self.interned.setdefault(text, len(self.interned)) for text in texts]


class Readings(Struct, frozen=True):
    """The notes themselves, where a data set holds each of them once for every annotator who read it; ``note`` says of
    every reading which note it is of."""

    notes: DataSet
    note: Ints

    def by_note(self, whole: Any, general: Any, leaks: Any) -> tuple[Any, Any, Any]:
        """Counts of readings as those of their notes: of measures in columns, of documents, and what is asked of
        leaks."""
        raise NotImplementedError


class NoteNames:
    """The names one file gives to notes: what each is joined on, and whether it came before."""

    def __init__(self, whole: bool) -> None:
        self._whole = whole
        self._seen: dict[str, str] = {}

    def fresh(self, names: list[str], last_segments: list[str] | None = None) -> list[str] | None:
        """The keys of names none of which came before; else None, and nothing is done."""
        keys = names if self._whole else last_segments or [name.rpartition("/")[2] for name in names]
        if len(set(keys)) < len(keys) or not self._seen.keys().isdisjoint(keys):
            return None
        self._seen.update(zip(keys, names, strict=True))
        return keys

    def key(self, name: str, last_segment: str | None = None) -> tuple[str, bool]:
        """The part files are joined on, and whether this file has had the note already."""
        short = name.rpartition("/")[2] if last_segment is None else last_segment
        key = name if self._whole else short
        earlier = self._seen.get(key)
        if earlier is None:
            self._seen[key] = name
        elif earlier != name:
            raise WholeNamesNeededError
        return key, earlier is not None

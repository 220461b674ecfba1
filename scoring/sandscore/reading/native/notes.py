"""Blocks of notes by the compiled kernel."""

from ctypes import CDLL, byref

from sandscore.reading.native.library import TAKEN, NoteRows, address, bytes_of
from sandscore.reading.native.rooms import NOTES, Room
from sandscore.reading.notetexts import GatheredTexts


class NoteReader:
    """Reads blocks of one notes file."""

    def __init__(self, library: CDLL, texts: GatheredTexts) -> None:
        self._library, self._texts = library, texts
        self._room = Room(NoteRows(), NOTES)

    def read(self, data: memoryview, *, lines: bool) -> tuple[list[str], list[str | None]] | None:
        """Identifiers and patients of a block's notes, or None; ``keep`` keeps their texts."""
        block, rows = bytes_of(data), self._room.rows
        self._room.fit(len(block))
        rows.texts = address(self._texts.room(len(block)))
        if self._library.read_notes(address(block), len(block), lines, byref(rows)) != TAKEN:
            return None
        named = iter(self._room.words("patients", rows.patients_used))
        has_patient = self._room.held["has_patient"][: rows.records].tolist()
        patients = [next(named) if has else None for has in has_patient]
        return self._room.words("names", rows.named), patients

    def keep(self) -> None:
        """The texts of the notes that were read last."""
        records = self._room.rows.records
        self._texts.keep(self._room.copied("sizes", records), self._room.copied("chars", records))

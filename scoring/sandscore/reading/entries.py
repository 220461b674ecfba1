"""Which notes a file's records are about: found in the data set, each only once, and which of them are missing."""

from sandscore.reading.checking import PointTo
from sandscore.reading.datasets import DataSet, Names
from sandscore.reading.explaining import shortened
from sandscore.reading.findings import Findings
from sandscore.records.problems import Severity


class Entries:
    """The entries of one file, by the number of their note."""

    def __init__(self, dataset: DataSet, findings: Findings, point: PointTo) -> None:
        self._dataset, self._findings, self._point = dataset, findings, point
        self._names = Names(whole=dataset.whole_names)
        self._found: set[int] = set()

    def numbers(self, names: list[str], record: int) -> list[int]:
        """The notes of records that follow one another; in one go where nothing is to be said about any of them."""
        keys = self._names.fresh(names)
        if keys is None:
            return [self.number(name, record + i) for i, name in enumerate(names)]
        known = [self._dataset.numbers.get(key) for key in keys]
        numbers = [number for number in known if number is not None]
        if len(numbers) < len(keys):
            return [self._numbered(key, record + i) for i, key in enumerate(keys)]
        self._found.update(numbers)
        return numbers

    def number(self, name: str | None, record: int) -> int:
        """The note a record is about; -1 where there is no such note."""
        key, repeated = self._names.key(name) if name is not None else (None, False)
        number = self._numbered(key, record)
        if repeated and number >= 0:
            told = f"a second entry for the note {shortened(key)}"
            self._findings.add("duplicate-note", (record, -1), self._point(record), key, told)
        return number

    def _numbered(self, key: str | None, record: int) -> int:
        number = self._dataset.find(key)
        if number is not None:
            self._found.add(number)
            return number
        told = f"{shortened(key)} is not a note of the data set"
        if key is None:
            told = f"the one-note form is for a data set of one note; this one has {len(self._dataset.ids)}"
        self._findings.add("unknown-note", (record, -1), self._point(record), key, told)
        return -1

    def close(self, annotations: int, missing: Severity | None) -> None:
        """Notes the file says nothing about, and a file that says nothing at all; names are let go of."""
        absent = (n for n in range(len(self._dataset.ids)) if n not in self._found)
        for number in absent if missing else ():
            note = self._dataset.ids[number]
            told = f"no entry for the note {shortened(note)}: scored as nothing found"
            self._findings.add("missing-note", (1 << 62, number), "", note, told, missing)
        counts = self._findings.counts
        if not annotations and not counts["json"] and not counts["schema"]:
            self._findings.add("empty", (-1, -1), "", None, "the file holds no annotation")
        self._names, self._found = Names(whole=self._dataset.whole_names), set()

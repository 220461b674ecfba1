"""The texts of notes by number, end to end in UTF-8; in a nameless file where they are too long for memory."""

import mmap
import os
from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sandscore.annotations.columns import Ints, Small
from sandscore.annotations.kernel.kernel_library import MARK_EVERY, Notes, address, kernel
from sandscore.base.column_files import Spool, about_to_write, forget, small_pages

Bytes = NDArray[np.uint8]
Marks = NDArray[np.uint32]
SPILL = 1 << 29
"""Bytes of a notes file whose texts memory holds."""
_LOOKED_AT = 1 << 25
_WIDEST = 4
_TOGETHER = 1024
_BEYOND_LATIN, _THREE, _FOUR, _RETURN = 0xCC, 0xE0, 0xF0, 13
"""The first byte of U+0300 in UTF-8; of characters of three bytes, and of four."""


class GatheredTexts:
    """Texts on their way to become a data set's; ``size`` is of their file, which they do not exceed."""

    def __init__(self, size: int) -> None:
        self._spool = Spool() if size > SPILL else None
        self._held = small_pages(0 if self._spool else size, np.uint8)
        self._used = self._given = 0
        self._sizes, self._chars = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        self._marks = [np.zeros(0, np.uint32)]

    def room(self, size: int) -> Bytes:
        """Where further texts, of no more bytes than that, may be put."""
        if self._spool is None:
            about_to_write(self._held, max(self._used, self._given), self._used + size)
            self._given = max(self._given, self._used + size)
            return self._held[self._used :]
        if len(self._held) < size:
            self._held = np.empty(size, np.uint8)
        return self._held

    def add(self, texts: list[str]) -> None:
        """Further texts."""
        written = [text.encode("utf-8", "surrogatepass") for text in texts]
        joined = np.frombuffer(b"".join(written), np.uint8)
        self.room(len(joined))[: len(joined)] = joined
        self.keep(np.array([*map(len, written)], np.int64), np.array([*map(len, texts)], np.int64))

    def keep(self, sizes: Ints, chars: Ints) -> None:
        """Texts of so many bytes and characters, which were put into the room."""
        texts = self.room(0)[: int(sizes.sum())]
        self._marks.append(_marked(texts, sizes, chars))
        self._sizes.append(sizes)
        self._chars.append(chars)
        if self._spool is None:
            self._used += len(texts)
        else:
            self._spool.append(texts)

    def all(self) -> "NoteTexts":
        """Every text."""
        texts = self._held[: self._used] if self._spool is None else self._spool.column(np.uint8)
        sizes, chars, marks = np.concatenate(self._sizes), np.concatenate(self._chars), np.concatenate(self._marks)
        return NoteTexts(texts, sizes, chars, marks, spooled=self._spool is not None)


class NoteTexts(Sequence[str]):
    """Texts, decoded one by one as they are asked for."""

    def __init__(self, texts: Bytes, sizes: Ints, chars: Ints, marks: Marks, *, spooled: bool) -> None:
        counts = _mark_counts(sizes, chars)
        first_mark = np.cumsum(counts) - counts
        self._texts, self._begin = texts, np.concatenate(([0], np.cumsum(sizes)))
        self._outlive = (chars, first_mark, marks)
        self._spooled, self._looked_at = spooled, 0
        held = {"texts": texts, "begin": self._begin, "chars": chars, "first_mark": first_mark, "marks": marks}
        self.told = Notes(**{name: address(array) for name, array in held.items()})

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "NoteTexts":
        """Of what ``arrays`` gave, wherever it was kept; marks are made where there was no kernel to make them."""
        texts, sizes, chars, marks = (arrays[name] for name in ("texts", "text_sizes", "chars", "marks"))
        if len(marks) != int(_mark_counts(sizes, chars).sum()):
            marks = _marked(texts, sizes, chars)
        return cls(texts, sizes, chars, marks, spooled=len(texts) > SPILL)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that texts are made of."""
        chars, _, marks = self._outlive
        return {"texts": self._texts, "text_sizes": np.diff(self._begin), "chars": chars, "marks": marks}

    @property
    def laid_out(self) -> tuple[NDArray[Any], ...]:
        """The arrays that the kernel is told of, in their order."""
        return self._texts, self._begin, *self._outlive

    def __len__(self) -> int:
        return len(self._begin) - 1

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        first, last = self._begin[number : number + 2].tolist()
        self._passed(last - first)
        return str(self._texts[first:last].data, "utf-8", "surrogatepass")

    def code_points(self, first: int, last: int) -> NDArray[Any]:
        """The characters of texts that follow one another, as numbers."""
        begin, end = int(self._begin[first]), int(self._begin[last])
        self._passed(end - begin)
        written = self._texts[begin:end]
        if end - begin == int(self.sizes[first:last].sum()):
            return written
        whole = str(written.data, "utf-8", "surrogatepass")
        return np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)

    def parts(self, note: Ints, start: Ints, length: Ints) -> tuple[Bytes, Ints]:
        """What stands where, of notes that are in order, a line feed behind each part; and the bytes of each part."""
        if self._spooled or (library := kernel()) is None:
            return self._parts_one_by_one(note, start, length)
        widest = 1 if len(self._texts) == int(self.sizes.sum()) else _WIDEST
        copied = np.empty(widest * int(length.sum()) + len(note), np.uint8)
        sizes, columns = np.empty(len(note), np.int64), [np.ascontiguousarray(one) for one in (note, start, length)]
        used = library.copy_parts(
            self.told, *map(address, columns), len(note), address(copied), len(copied), address(sizes)
        )
        if used < 0:
            raise IndexError("not within a note")
        return copied[:used], sizes

    def _parts_one_by_one(self, note: Ints, start: Ints, length: Ints) -> tuple[Bytes, Ints]:
        found, last, text = [], -1, ""
        for number, begin, end in zip(note.tolist(), start.tolist(), (start + length).tolist(), strict=True):
            if number != last:
                last, text = number, self[number]
            found.append(text[begin:end].encode("utf-8", "surrogatepass"))
        joined = b"".join(part + b"\n" for part in found)
        return np.frombuffer(joined, np.uint8), np.array([*map(len, found)], np.int64)

    def beyond_latin(self, first: int, last: int) -> tuple[Ints, Ints]:
        """The characters of these texts from U+0300 on, and carriage returns: whose they are, and as numbers."""
        begin, end = int(self._begin[first]), int(self._begin[last])
        self._passed(end - begin)
        written, ends = self._texts[begin:end], self._begin[first + 1 : last + 1] - begin
        odd = np.flatnonzero((written >= _BEYOND_LATIN) | (written == _RETURN))
        lead = written[odd].astype(np.int64)
        more = np.select([lead >= _FOUR, lead >= _THREE, lead >= _BEYOND_LATIN], [3, 2, 1])
        points = np.where(more > 0, lead & (0x3F >> more), lead)
        for step in range(1, 4):
            there = more >= step
            points[there] = points[there] << 6 | written[odd[there] + step] & 0x3F
        return first + np.searchsorted(ends, odd, side="right"), points

    @property
    def sizes(self) -> Ints:
        """The characters of each text."""
        return self._outlive[0]

    def picked(self, numbers: Ints) -> "NoteTexts":
        """Some of them in this order, each as often as it is named."""
        gathered = GatheredTexts(int(np.diff(self._begin)[numbers].sum()))
        for first in range(0, len(numbers), _TOGETHER):
            gathered.add([self[number] for number in numbers[first : first + _TOGETHER].tolist()])
        return gathered.all()

    def read_only(self) -> "NoteTexts":
        """The same in memory that nobody can write to."""
        if not len(self._texts):
            return self
        held = os.memfd_create("notes")
        os.truncate(held, len(self._texts))
        with mmap.mmap(held, len(self._texts)) as writable:
            writable.write(self._texts.data)
        mapped = mmap.mmap(held, len(self._texts), access=mmap.ACCESS_READ)
        os.close(held)
        chars, _, marks = self._outlive
        return NoteTexts(np.frombuffer(mapped, np.uint8), np.diff(self._begin), chars, marks, spooled=False)

    def passed(self, numbers: Small) -> None:
        """These are about to be looked at where they are."""
        if self._spooled:
            known = numbers[numbers >= 0]
            self._passed(int((self._begin[known + 1] - self._begin[known]).sum()))

    def _passed(self, size: int) -> None:
        self._looked_at += size if self._spooled else 0
        if self._looked_at > _LOOKED_AT:
            forget(self._texts)
            self._looked_at = 0


def _mark_counts(sizes: Ints, chars: Ints) -> Ints:
    """Texts that are ASCII need no marks."""
    counts: Ints = np.where(sizes == chars, 0, sizes // MARK_EVERY + 1)
    return counts


def _marked(texts: Bytes, sizes: Ints, chars: Ints) -> Marks:
    """Where characters are in texts, if there is a kernel to ask."""
    library = kernel()
    if library is None:
        return np.zeros(0, np.uint32)
    marks = np.empty(int(_mark_counts(sizes, chars).sum()), np.uint32)
    library.mark_characters(address(texts), address(sizes), address(chars), len(sizes), address(marks))
    return marks

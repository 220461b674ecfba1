"""The texts of notes by number, end to end in UTF-8; in a nameless file where they are too long for memory."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from sandscore.base.arrays import HeldArrays, Ints, Octets, Values, as_bytes, np, packed, room_for, seen_as
from sandscore.base.column_files import Spool, about_to_write, forget
from sandscore.base.removable_rooms import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPILL = 1 << 29
"""Bytes of a notes file whose texts memory holds."""
_LOOKED_AT = 1 << 25
_TOGETHER = 1024
_BEYOND_LATIN, _THREE, _FOUR, _RETURN = 0xCC, 0xE0, 0xF0, 13
"""The first byte of U+0300 in UTF-8; of characters of three bytes, and of four."""


class GatheredTexts:
    """Texts on their way to become a data set's; ``size`` is of their file, which they do not exceed."""

    def __init__(self, size: int) -> None:
        self._spool = Spool() if size > SPILL else None
        self._held = room_for(0 if self._spool else size, "B")
        self._used = self._given = 0
        self._sizes, self._chars, self._marks = bytearray(), bytearray(), bytearray()

    def room(self, size: int) -> memoryview:
        """Where further texts, of no more bytes than that, may be put."""
        if self._spool is None:
            about_to_write(self._held, max(self._used, self._given), self._used + size)
            self._given = max(self._given, self._used + size)
            return self._held[self._used :]
        if len(self._held) < size:
            self._held = room_for(size, "B")
        return self._held

    def add(self, texts: list[str]) -> None:
        """Further texts."""
        written = [text.encode("utf-8", "surrogatepass") for text in texts]
        joined = b"".join(written)
        self.room(len(joined))[: len(joined)] = joined
        self.keep(packed(map(len, written), "q"), packed(map(len, texts), "q"))

    def keep(self, sizes: memoryview, chars: memoryview) -> None:
        """Texts of so many bytes and characters, which were put into the room."""
        texts = self.room(0)[: sum(sizes)]
        self._marks += as_bytes(_marked(texts, sizes, chars))
        self._sizes += as_bytes(sizes)
        self._chars += as_bytes(chars)
        if self._spool is None:
            self._used += len(texts)
        else:
            self._spool.append(texts)

    def all(self) -> "NoteTexts":
        """Every text."""
        texts = self._held[: self._used] if self._spool is None else self._spool.column("B")
        sizes, chars, marks = seen_as(self._sizes, "q"), seen_as(self._chars, "q"), seen_as(self._marks, "I")
        return NoteTexts(texts, sizes, chars, marks, spooled=self._spool is not None)


class _LaidOut(HeldArrays):
    """Texts end to end, where each begins, its characters, its first mark, and the marks."""

    texts: Octets
    begin: Ints
    chars: Ints
    first_mark: Ints
    marks: "NDArray[Any]"


class NoteTexts(Sequence[str]):
    """Texts, decoded one by one as they are asked for."""

    def __init__(self, texts: Values, sizes: Values, chars: Values, marks: Values, *, spooled: bool) -> None:
        begin, first_mark = _borders(sizes, chars)
        self._laid = _LaidOut(texts, begin, chars, first_mark, marks)
        self._spooled, self._looked_at = spooled, 0

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Values]) -> "NoteTexts":
        """Of what ``arrays`` gave, wherever it was kept; marks are made where there was no kernel to make them."""
        texts, sizes, chars, marks = (arrays[name] for name in ("texts", "text_sizes", "chars", "marks"))
        marks = marks if len(marks) else _marked(texts, sizes, chars)
        return cls(texts, sizes, chars, marks, spooled=len(texts) > SPILL)

    @property
    def arrays(self) -> "dict[str, NDArray[Any]]":
        """All that texts are made of."""
        laid = self._laid
        return {"texts": laid.texts, "text_sizes": np.diff(laid.begin), "chars": laid.chars, "marks": laid.marks}

    @property
    def laid_out(self) -> tuple[Values, ...]:
        """The memory that the kernel is told of, in its order."""
        return (*self._laid.held.values(),)

    def __len__(self) -> int:
        return len(self._laid.held["begin"]) - 1

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        first, last = self._laid.held["begin"][number : number + 2].tolist()
        self._passed(last - first)
        return str(as_bytes(self._laid.held["texts"][first:last]), "utf-8", "surrogatepass")

    def code_points(self, first: int, last: int) -> "NDArray[Any]":
        """The characters of texts that follow one another, as numbers."""
        begin, end = int(self._laid.begin[first]), int(self._laid.begin[last])
        self._passed(end - begin)
        written = self._laid.texts[begin:end]
        if end - begin == int(self.sizes[first:last].sum()):
            return written
        whole = str(written.data, "utf-8", "surrogatepass")
        return np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), np.uint32)

    def parts(self, note: Ints, start: Ints, length: Ints) -> tuple[Octets, Ints]:
        """What stands where, of notes that are in order, a line feed behind each part; and the bytes of each part."""
        copied = None if self._spooled else compiled().text_parts(self, note, start, length)
        if copied is not None:
            return copied
        found, last, text = [], -1, ""
        for number, begin, end in zip(note.tolist(), start.tolist(), (start + length).tolist(), strict=True):
            if number != last:
                last, text = number, self[number]
            found.append(text[begin:end].encode("utf-8", "surrogatepass"))
        joined = b"".join(part + b"\n" for part in found)
        return np.frombuffer(joined, np.uint8), np.array([*map(len, found)], np.int64)

    def beyond_latin(self, first: int, last: int) -> tuple[Ints, Ints]:
        """The characters of these texts from U+0300 on, and carriage returns: whose they are, and as numbers."""
        begin, end = int(self._laid.begin[first]), int(self._laid.begin[last])
        self._passed(end - begin)
        written, ends = self._laid.texts[begin:end], self._laid.begin[first + 1 : last + 1] - begin
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
        return self._laid.chars

    @property
    def characters(self) -> int:
        """Of all texts together."""
        return int(sum(self._laid.held["chars"]))

    def picked(self, numbers: Ints) -> "NoteTexts":
        """Some of them in this order, each as often as it is named."""
        gathered = GatheredTexts(int(np.diff(self._laid.begin)[numbers].sum()))
        for first in range(0, len(numbers), _TOGETHER):
            gathered.add([self[number] for number in numbers[first : first + _TOGETHER].tolist()])
        return gathered.all()

    def passed(self, numbers: Values) -> None:
        """These are about to be looked at where they are."""
        if self._spooled:
            known = np.asarray(numbers)
            known = known[known >= 0]
            self._passed(int((self._laid.begin[known + 1] - self._laid.begin[known]).sum()))

    def _passed(self, size: int) -> None:
        self._looked_at += size if self._spooled else 0
        if self._looked_at > _LOOKED_AT:
            forget(self._laid.held["texts"])
            self._looked_at = 0


def _borders(sizes: Values, chars: Values) -> tuple[Values, Values]:
    """Where texts begin, and their first marks."""
    if known := compiled().text_borders(sizes, chars):
        return known
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))), room_for(0, "q")


def _marked(texts: Values, sizes: Values, chars: Values) -> Values:
    """Where characters are in texts, if there is a kernel to ask."""
    marks = None if len(texts) == sum(chars) else compiled().text_marks(texts, sizes, chars)
    return room_for(0, "I") if marks is None else marks

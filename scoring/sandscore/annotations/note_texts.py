"""The texts of notes by number, end to end in UTF-8; in a nameless file where they are too long for memory."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from sandscore.base.arrays import HeldArrays, Ints, Octets, Values, as_bytes, np, packed, room_for, seen_as
from sandscore.base.column_files import Spool, about_to_write, forget
from sandscore.base.removable_rooms import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPILL = 1 << 29
"""Bytes of a notes file whose texts memory holds."""
_LOOKED_AT = 1 << 25


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
        self._marks += as_bytes(marked(texts, sizes, chars))
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


class LaidOutTexts(HeldArrays):
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
        self.laid = LaidOutTexts(texts, begin, chars, first_mark, marks)
        self._spooled, self._looked_at = spooled, 0

    def __len__(self) -> int:
        return len(self.laid.held["begin"]) - 1

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        first, last = self.laid.held["begin"][number : number + 2].tolist()
        self._passed(last - first)
        return str(as_bytes(self.laid.held["texts"][first:last]), "utf-8", "surrogatepass")

    def written(self, first: int, last: int) -> Octets:
        """The bytes of texts that follow one another."""
        begin, end = self.laid.held["begin"][first], self.laid.held["begin"][last]
        self._passed(int(end - begin))
        found: Octets = self.laid.texts[begin:end]
        return found

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

    @property
    def sizes(self) -> Ints:
        """The characters of each text."""
        return self.laid.chars

    @property
    def characters(self) -> int:
        """Of all texts together."""
        return int(sum(self.laid.held["chars"]))

    def passed(self, numbers: Values) -> None:
        """These are about to be looked at where they are."""
        if self._spooled:
            known = np.asarray(numbers)
            known = known[known >= 0]
            self._passed(int((self.laid.begin[known + 1] - self.laid.begin[known]).sum()))

    def _passed(self, size: int) -> None:
        self._looked_at += size if self._spooled else 0
        if self._looked_at > _LOOKED_AT:
            forget(self.laid.held["texts"])
            self._looked_at = 0


def _borders(sizes: Values, chars: Values) -> tuple[Values, Values]:
    """Where texts begin, and their first marks."""
    if known := compiled().text_borders(sizes, chars):
        return known
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))), room_for(0, "q")


def marked(texts: Values, sizes: Values, chars: Values) -> Values:
    """Where characters are in texts, if there is a kernel to ask."""
    marks = None if len(texts) == sum(chars) else compiled().text_marks(texts, sizes, chars)
    return room_for(0, "I") if marks is None else marks

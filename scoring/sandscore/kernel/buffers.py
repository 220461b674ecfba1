"""The memory that the kernel writes into: as large as the largest block needs, and used for one block after another."""

from sandscore.base.arrays import Kind, room_for, seen_as
from sandscore.kernel.kernel_library import NoteRows, Rows, address

Plan = dict[str, tuple[int, Kind]]
"""By name: how many bytes a value takes in JSON at the least, and what it becomes."""
_ROW, _TOKEN, _RECORD, _NOTE = 32, 2, 64, 26
ROWS: Plan = {
    **dict.fromkeys(
        ("note", "start", "length", "label", "text", "written", "words", "found", "repeats", "overlaps"), (_ROW, "i")
    ),
    "confidence": (_ROW, "d"),
    **dict.fromkeys(("begin", "size"), (_TOKEN, "i")),
    "per_record": (_RECORD, "i"),
    **dict.fromkeys(("names", "decoded"), (1, "B")),
}
NOTES: Plan = {
    **dict.fromkeys(("names", "patients"), (1, "B")),
    "has_patient": (_NOTE, "B"),
    **dict.fromkeys(("sizes", "chars"), (_NOTE, "q")),
}


class Room:
    """Memory by name, and the structure that tells the kernel of them."""

    def __init__(self, rows: Rows | NoteRows, plan: Plan) -> None:
        self.rows, self._plan = rows, plan
        self._record = _RECORD if isinstance(rows, Rows) else _NOTE
        self.held: dict[str, memoryview] = {}
        self._size = -1

    def fit(self, size: int) -> None:
        """Make room for what a block of so many bytes can hold."""
        if size <= self._size:
            return
        self._size = size
        for name, (least, kind) in self._plan.items():
            self.held[name] = room_for(size // least + 1, kind)
            if hasattr(self.rows, name):
                setattr(self.rows, name, address(self.held[name]))
        for limit, least in (("row_room", _ROW), ("token_room", _TOKEN), ("record_room", self._record)):
            if hasattr(self.rows, limit):
                setattr(self.rows, limit, size // least + 1)

    def release(self) -> None:
        """Give the memory back; whoever reads another block makes room again."""
        self.held.clear()
        self._size = -1

    def copied(self, name: str, size: int) -> memoryview:
        """The first values of some memory, to keep."""
        return seen_as(bytearray(self.held[name][:size].cast("B")), self._plan[name][1])

    def words(self, name: str, size: int) -> list[str]:
        """Names that end in a zero each."""
        return str(self.held[name][: size - 1], "utf-8").split("\0") if size else []

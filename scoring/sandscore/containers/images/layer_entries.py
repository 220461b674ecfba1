"""The entries of a layer or an archive, out of its bytes as they come: a tar reader that refuses what it need not know.

Everything in a tar is the participant's word. Names stay inside, nothing comes twice, nothing is a device (but for
those below /dev, which every Debian brings and no engine uses), no header is longer than a name may be, and what one
reader of tars takes for something else than another (sparse files, content behind a link) is not taken at all.
"""

import hashlib
from typing import Protocol

from msgspec import Struct

from sandscore.base.terminal_text import one_line
from sandscore.records.run_record import Outcome, RunFault

_BLOCK = 512
_MOST_EXTENSION = 1 << 20
_MOST_ENTRIES = 1_000_000
_MOST_PATH, _MOST_PART = 4096, 255
_LONG_NAME, _LONG_TARGET, _EXTENDED, _GLOBAL = b"L", b"K", b"x", b"g"
_EXTENSIONS = (_LONG_NAME, _LONG_TARGET, _EXTENDED, _GLOBAL)
FILE, FOLDER, SYMBOLIC_LINK, HARD_LINK, DEVICE = "file", "folder", "symbolic link", "hard link", "device"


class LayerEntry(Struct, frozen=True):
    """``path`` from the root on, ``target`` as a link has it, ``mode`` without what changes a user or group."""

    path: tuple[bytes, ...]
    kind: str
    mode: int = 0o755
    user: int = 0
    group: int = 0
    size: int = 0
    changed: int = 0
    target: bytes = b""


class EntryTaker(Protocol):
    """Handed each entry, and a file's content in pieces after it."""

    def begin(self, entry: LayerEntry, offset: int) -> None: ...

    def content(self, piece: memoryview) -> None: ...

    def end(self) -> None: ...


class NoTaker:
    """Looks at entries and keeps nothing."""

    def begin(self, entry: LayerEntry, offset: int) -> None: ...

    def content(self, piece: memoryview) -> None: ...

    def end(self) -> None: ...


class EntryTally:
    """How many entries all layers of an image have."""

    def __init__(self, most: int = _MOST_ENTRIES) -> None:
        self._left = self._most = most

    def count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise RunFault(Outcome.IMAGE_MISSING, f"the image has more than {self._most:,} files")


class EntryReader:
    """Fed with bytes as they come; ``offset`` is how many there were."""

    def __init__(self, taker: EntryTaker, tally: EntryTally) -> None:
        self._taker, self._tally = taker, tally
        self.offset = 0
        self._buffer = bytearray()
        self._wanted = _BLOCK
        self._extending: bytes | None = None
        self._content = self._padding = 0
        self._zeros = 0
        self._said: dict[bytes, bytes] = {}
        self._seen: dict[bytes, str] = {}

    @property
    def content_left(self) -> int:
        """Bytes of a file that come next, with what fills its last block."""
        return self._content + self._padding

    def skip(self) -> None:
        """Those bytes are passed over, unseen."""
        self.offset += self.content_left
        self._content = self._padding = 0

    def feed(self, piece: bytes) -> None:
        view = memoryview(piece)
        while view:
            if self._content:
                view = self._take_content(view)
            elif self._padding:
                taken = min(self._padding, len(view))
                self._padding -= taken
                self.offset += taken
                view = view[taken:]
            else:
                taken = min(self._wanted - len(self._buffer), len(view))
                self._buffer += view[:taken]
                self.offset += taken
                view = view[taken:]
                if len(self._buffer) == self._wanted:
                    whole, self._buffer, self._wanted = bytes(self._buffer), bytearray(), _BLOCK
                    self._take_block(whole)

    def finish(self) -> None:
        """The bytes have come to their end; so must the entries."""
        if self._content or self._buffer or self._extending or self._said:
            raise refused("ends in the middle of a file")

    def _take_content(self, view: memoryview) -> memoryview:
        taken = min(self._content, len(view))
        self._taker.content(view[:taken])
        self._content -= taken
        self.offset += taken
        if not self._content:
            self._taker.end()
        return view[taken:]

    def _take_block(self, block: bytes) -> None:
        if self._extending is not None:
            self._extend(self._extending, block)
        elif not any(block):
            self._zeros += 1
        elif self._zeros:
            raise refused("goes on after its end")
        else:
            self._take_header(block)

    def _take_header(self, block: bytes) -> None:
        self._tally.count()
        if _number(block[148:156]) != sum(block) - sum(block[148:156]) + 8 * 32:
            raise refused("is not a tar")
        kind, size = block[156:157], _number(block[124:136])
        if kind in _EXTENSIONS:
            if not 0 < size <= _MOST_EXTENSION:
                raise refused("has a header that is too long")
            self._extending, self._wanted = kind + size.to_bytes(4, "big"), -(-size // _BLOCK) * _BLOCK
            return
        said, self._said = self._said, {}
        if b"size" in said:
            size = _decimal(said[b"size"])
        entry = _entry(block, kind, size, said)
        self._require_once(entry)
        self._content, self._padding = entry.size, -entry.size % _BLOCK
        self._taker.begin(entry, self.offset)
        if not entry.size:
            self._taker.end()

    def _extend(self, extending: bytes, block: bytes) -> None:
        kind, size = extending[:1], int.from_bytes(extending[1:], "big")
        self._extending = None
        body = block[:size]
        if kind == _LONG_NAME:
            self._said[b"path"] = body.rstrip(b"\0")
        elif kind == _LONG_TARGET:
            self._said[b"linkpath"] = body.rstrip(b"\0")
        else:
            found = _records(body)
            if kind == _EXTENDED:
                self._said |= found
            elif found.keys() & {b"path", b"linkpath", b"size"}:
                raise refused("names all its files at once")

    def _require_once(self, entry: LayerEntry) -> None:
        """Folders may be named again, as some builders do; nothing else has two contents."""
        mark = path_mark(entry.path)
        before = self._seen.get(mark)
        if before is not None and (before, entry.kind) != (FOLDER, FOLDER):
            raise refused("has two entries of one name", entry.path)
        self._seen[mark] = entry.kind


def path_mark(path: tuple[bytes, ...]) -> bytes:
    """Sixteen bytes for a path of any length."""
    return hashlib.blake2b(b"/".join(path), digest_size=16).digest()


def refused(told: str, path: tuple[bytes, ...] | None = None) -> RunFault:
    """The image's fault, with the name that it is about."""
    name = "" if path is None else f": '{one_line(b'/'.join(path).decode(errors='replace'), 100)}'"
    return RunFault(Outcome.IMAGE_MISSING, f"a layer of the image {told}{name}")


def _entry(block: bytes, kind: bytes, size: int, said: dict[bytes, bytes]) -> LayerEntry:
    name = said.get(b"path") or _name(block)
    path = _inside(name)
    if kind in (b"\0", b"0", b"7"):
        what = FOLDER if kind == b"\0" and name.endswith(b"/") else FILE
    else:
        what = _KINDS.get(kind, "")
    if not what or any(key.startswith(b"GNU.sparse") for key in said):
        raise refused("has an entry of a kind that no image needs", path)
    if what is not FILE and size:
        raise refused("has content where none can be", path)
    if what is DEVICE and path[:1] != (b"dev",):
        raise refused("has a device or a pipe", path)
    if not path and what is not FOLDER:
        raise refused("has an entry without a name")
    target = said.get(b"linkpath") or _text(block[157:257])
    if what is HARD_LINK:
        target = b"/".join(_inside(target))
    if what is SYMBOLIC_LINK:
        _require_inside(path, target)
    mode = _number(block[100:108])
    return LayerEntry(
        path=path,
        kind=what,
        mode=mode & (0o1777 if what is FOLDER else 0o777),
        user=_number(block[108:116]) % (1 << 31),
        group=_number(block[116:124]) % (1 << 31),
        size=size,
        changed=_number(block[136:148]) % (1 << 40),
        target=target,
    )


_KINDS = {b"5": FOLDER, b"1": HARD_LINK, b"2": SYMBOLIC_LINK, b"3": DEVICE, b"4": DEVICE, b"6": DEVICE}


def _name(block: bytes) -> bytes:
    prefix = _text(block[345:500]) if block[257:263] == b"ustar\0" else b""
    return b"/".join(filter(None, (prefix, _text(block[:100]))))


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _inside(name: bytes) -> tuple[bytes, ...]:
    """The parts of a name that neither begins at the root nor climbs."""
    parts = tuple(part for part in name.split(b"/") if part not in (b"", b"."))
    if name.startswith(b"/") or b".." in parts or b"\0" in name:
        raise refused("names a file outside", parts)
    if len(name) > _MOST_PATH or any(len(part) > _MOST_PART for part in parts):
        raise refused("has a name that is too long")
    return parts


def _require_inside(path: tuple[bytes, ...], target: bytes) -> None:
    """A symbolic link does not climb above the root, from which one that begins with a slash is read."""
    depth = 0 if target.startswith(b"/") else len(path) - 1
    if not target or len(target) > _MOST_PATH or b"\0" in target:
        raise refused("has a link to nothing", path)
    for part in target.split(b"/"):
        depth += 0 if part in (b"", b".") else -1 if part == b".." else 1
        if depth < 0:
            raise refused("has a link that leads out", path)


def _number(field: bytes) -> int:
    """Octal digits, or a number in binary where the first bit is set."""
    if field[0] & 0x80:
        if field[0] != 0x80:
            raise refused("has a negative number in a header")
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if not all(48 <= digit <= 55 for digit in digits):
        raise refused("is not a tar")
    return int(digits or b"0", 8)


def _decimal(said: bytes) -> int:
    if not said.isdigit() or len(said) > 18:
        raise refused("has a size that is none")
    return int(said)


def _records(body: bytes) -> dict[bytes, bytes]:
    """The records of an extended header: length, key and value of each."""
    found: dict[bytes, bytes] = {}
    while body:
        length, space, _ = body.partition(b" ")
        whole = _decimal(length) if space else 0
        record = body[len(length) + 1 : whole]
        key, equals, value = record[:-1].partition(b"=")
        if whole > len(body) or not record.endswith(b"\n") or not equals or key in found:
            raise refused("has a header that cannot be read")
        found[key] = value
        body = body[whole:]
    return found

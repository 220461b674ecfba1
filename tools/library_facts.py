"""The facts of a shared library of any system, read from its own tables: machine, what it gives, and what it needs."""

import struct

from msgspec import Struct

_ELF = {62: "x86_64", 183: "aarch64"}
_MACH = {0x01000007: "x86_64", 0x0100000C: "arm64"}
_PE = {0x8664: "amd64"}


class LibraryFacts(Struct, frozen=True):
    """Of one library: exported names, libraries it asks for, names it takes from them, with their version in ELF."""

    system: str
    machine: str
    exported: frozenset[str]
    libraries: frozenset[str]
    taken: frozenset[str]
    least: str | None = None
    """The oldest system it says it runs on, or the newest version of glibc it asks for."""


def facts_of(data: bytes) -> LibraryFacts:
    """Of a library in the format of Linux, macOS or Windows."""
    if data[:4] == b"\x7fELF":
        return _elf(data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return _mach(data)
    if data[:2] == b"MZ":
        return _pe(data)
    raise ValueError("no shared library of 64 bits")


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _elf(data: bytes) -> LibraryFacts:
    at, step, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * step) for i in range(count)]
    by_kind = {section[1]: section for section in sections}
    symbols, dynamic = by_kind[11], by_kind[6]
    strings = sections[symbols[6]][4]
    versions = _elf_versions(data, by_kind.get(0x6FFFFFFE), sections)
    numbers = by_kind.get(0x6FFFFFFF)
    exported, taken, asked = set(), set(), set()
    for i in range(1, symbols[5] // 24):
        name, info, _, section = struct.unpack_from("<IBBH", data, symbols[4] + i * 24)
        if section:
            exported.add(_text(data, strings + name))
        elif info >> 4 == 1:  # a weak one may stay unknown
            taken.add(_text(data, strings + name))
            if numbers:
                asked.add(versions.get(struct.unpack_from("<H", data, numbers[4] + 2 * i)[0] & 0x7FFF, ""))
    entries = [struct.unpack_from("<QQ", data, dynamic[4] + i * 16) for i in range(dynamic[5] // 16)]
    libraries = {_text(data, strings + value) for tag, value in entries if tag == 1}
    glibc = [one.removeprefix("GLIBC_") for one in asked if one.startswith("GLIBC_")]
    least = max(glibc, key=lambda one: [*map(int, one.split("."))], default=None)
    machine = _ELF[struct.unpack_from("<H", data, 18)[0]]
    return LibraryFacts("linux", machine, frozenset(exported), frozenset(libraries), frozenset(taken), least)


def _elf_versions(data: bytes, needed: tuple[int, ...] | None, sections: list[tuple[int, ...]]) -> dict[int, str]:
    found: dict[int, str] = {}
    if needed is None:
        return found
    strings, at = sections[needed[6]][4], needed[4]
    for _ in range(needed[7]):
        _, count, _, first, following = struct.unpack_from("<HHIII", data, at)
        entry = at + first
        for _ in range(count):
            _, _, number, name, after = struct.unpack_from("<IHHII", data, entry)
            found[number] = _text(data, strings + name)
            entry += after
        at += following
    return found


def _mach(data: bytes) -> LibraryFacts:
    machine, commands = _MACH[struct.unpack_from("<I", data, 4)[0]], struct.unpack_from("<I", data, 16)[0]
    exported: set[str] = set()
    taken: set[str] = set()
    libraries: set[str] = set()
    at, least = 32, None
    for _ in range(commands):
        kind, size = struct.unpack_from("<II", data, at)
        if kind & 0x7FFFFFFF == 0xC:
            libraries.add(_text(data, at + struct.unpack_from("<I", data, at + 8)[0]))
        elif kind == 0x2:
            first, count, strings = struct.unpack_from("<III", data, at + 8)
            for i in range(count):
                name, sort = struct.unpack_from("<IB", data, first + 16 * i)
                if sort & 0x1:
                    (exported if sort & 0x0E else taken).add(_text(data, strings + name).removeprefix("_"))
        elif kind == 0x32:
            oldest = struct.unpack_from("<I", data, at + 12)[0]
            least = f"{oldest >> 16}.{oldest >> 8 & 255}"
        at += size
    return LibraryFacts("macos", machine, frozenset(exported), frozenset(libraries), frozenset(taken), least)


def _pe(data: bytes) -> LibraryFacts:
    head = struct.unpack_from("<I", data, 60)[0]
    machine, sections, optional = (
        *struct.unpack_from("<HH", data, head + 4),
        struct.unpack_from("<H", data, head + 20)[0],
    )
    tables = [struct.unpack_from("<II", data, head + 24 + 112 + 8 * i)[0] for i in range(2)]
    parts = [struct.unpack_from("<IIII", data, head + 24 + optional + 40 * i + 8) for i in range(sections)]

    def place(address: int) -> int:
        where: int = next(
            raw + address - begin for size, begin, stored, raw in parts if begin <= address < begin + stored
        )
        return where

    count, names = (
        struct.unpack_from("<I", data, place(tables[0]) + 24)[0],
        struct.unpack_from("<I", data, place(tables[0]) + 32)[0],
    )
    listed = (struct.unpack_from("<I", data, place(names) + 4 * i)[0] for i in range(count))
    exported = frozenset(_text(data, place(one)) for one in listed)
    libraries, taken, at = set(), set(), place(tables[1])
    while (entry := struct.unpack_from("<IIIII", data, at))[3]:
        libraries.add(_text(data, place(entry[3])))
        thunk = place(entry[0] or entry[4])
        while address := struct.unpack_from("<Q", data, thunk)[0]:
            taken.add(_text(data, place(address & 0x7FFFFFFF) + 2))
            thunk += 8
        at += 20
    return LibraryFacts("windows", _PE[machine], exported, frozenset(libraries), frozenset(taken))

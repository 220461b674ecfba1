"""Writes a site into a folder so that nobody ever reads half of it, and replaces only what changed.

Everything is first written beside its place; when all of it lies there it is moved in, leaves before the
pages that link to them, and what is no longer part of the site goes last. ``site.json`` remembers what is
ours: a file that is not stays untouched, and one of ours never takes its place.

File names that are safe everywhere, for boards and submissions whose own names may be anything.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import told, write_files

if TYPE_CHECKING:
    from sandscore.records.board import Board

_SAFE = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_UNSAFE = re.compile(r"[^a-z0-9]+")
_LONGEST = 60
_RESERVED = frozenset({"index", "board", "cards", "con", "prn", "aux", "nul"})


def file_name(name: str) -> str:
    """The name itself where it is plain; else what is plain of it, and a hash that tells it from others."""
    if len(name) <= _LONGEST and _SAFE.fullmatch(name) and name not in _RESERVED:
        return name
    bare = _UNSAFE.sub("-", name.lower()).strip("-")[:_LONGEST].strip("-")
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{bare}-{digest}" if bare else digest


def board_names(boards: "Sequence[Board]") -> list[tuple[str, ...]]:
    """What to call each board: its task, its phase, and where that is not enough, what sets it apart."""
    short = [(board.task, board.phase or "") for board in boards]
    names = []
    for board, name in zip(boards, short, strict=True):
        alike = [_traits(other) for other, called in zip(boards, short, strict=True) if called == name]
        apart = [
            trait for trait, seen in zip(_traits(board), zip(*alike, strict=True), strict=True) if len({*seen}) > 1
        ]
        names.append(tuple(part for part in (*name, *apart) if part))
    return names


def _traits(board: "Board") -> tuple[str, ...]:
    return board.headline, board.profile, " ".join(board.gold)


MANIFEST = "site.json"


class Written(Struct, frozen=True):
    """What became of the files of a site."""

    files: int
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def write_site(site: Path, files: Mapping[str, bytes]) -> Written:
    """Make the folder hold these files, given leaves first: every page comes after those that it links to."""
    with writing(site):
        known = _known(site)
        foreign = next((name for name in files if name not in known and (site / name).exists()), None)
        if foreign is not None:
            raise UsageFault(f"{site / foreign} is there already and was not published; choose another folder")
        manifest = _manifest(files)
        changed = [name for name, content in files.items() if not _holds(site / name, content)]
        stale = sorted(known - files.keys())
        if changed or stale or not _holds(site / MANIFEST, manifest):
            write_files(site, {MANIFEST: _announced(files, stale)})
            write_files(site, {name: files[name] for name in changed} | {MANIFEST: manifest})
        for name in stale:
            _remove(site, name)
        return Written(len(files), tuple(changed), tuple(stale))


def write_page(path: Path, content: bytes) -> None:
    """One page, whole or not at all; its folder is made."""
    with writing(path):
        write_files(path.parent, {path.name: content})


def writing(path: Path) -> AbstractContextManager[None]:
    """A refusal to write there, as a sentence."""
    return told(path, in_the_way=f"{path}: a file stands where a folder is needed, or the other way round")


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content


def _manifest(files: Mapping[str, bytes]) -> bytes:
    return _listed({name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)})


def _announced(files: Mapping[str, bytes], stale: list[str]) -> bytes:
    """All that is about to be ours, so that who is killed half-way finds it to be ours again."""
    return _listed(dict.fromkeys(sorted({*files, *stale}), ""))


def _listed(sums: Mapping[str, str]) -> bytes:
    return json.dumps({"files": sums}, indent=1).encode() + b"\n"


def _known(site: Path) -> set[str]:
    """The files of the site as it was last written; names that lead out of it are not believed."""
    path = site / MANIFEST
    if not path.is_file():
        return set()
    try:
        names = json.loads(path.read_bytes())["files"].keys()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageFault(f"{path} is not the list of a published site; choose another folder") from None
    return {name for name in names if _inside(name)}


def _inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and name != MANIFEST


def _remove(site: Path, name: str) -> None:
    path = site / name
    path.unlink(missing_ok=True)
    if path.parent != site and path.parent.is_dir() and not any(path.parent.iterdir()):
        path.parent.rmdir()

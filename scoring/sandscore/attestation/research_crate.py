"""The research crate of a challenge: one archive, described by RO-Crate 1.1, that names every file by its hash.

Whoever has it can check by it alone that nothing was added, taken away or changed since it was made.
"""

import errno
import hashlib
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path, PurePosixPath
from typing import IO

from msgspec import Struct

from sandscore.attestation.evidence_files import CRATE_METADATA
from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.base.terminal_text import one_line
from sandscore.base.whole_files import write_file

BOARDS, CARDS, LOG = "boards", "cards", "log"
_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://schema.org/sha256"}]
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
_FORMATS = {".json": "application/json", ".jsonl": "application/jsonl", ".toml": "application/toml"}
_MOST_FILES, _MOST_BYTES, _BLOCK = 100_000, 8 << 30, 1 << 20
_BROKEN: tuple[type[Exception], ...] = (zipfile.BadZipFile, EOFError, ValueError, OverflowError, RuntimeError)
_BROKEN += (zlib.error, lzma.LZMAError)
_OF_THE_ARCHIVE = (None, errno.EINVAL)
"""What bzip2 says of a damaged stream, and seeking to a place before the beginning; else it is the disk."""


class CrateFile(Struct, frozen=True):
    """One file of a crate, as its description names it."""

    name: str
    description: str
    sha256: str
    size: int


class CrateFacts(Struct, frozen=True):
    """What a crate says of a challenge beside its files."""

    name: str
    description: str
    date: str
    version: str
    phases: Sequence[Mapping[str, str]]
    license: str | None
    citation: str | None
    url: str | None = None


def metadata_of(facts: CrateFacts, files: Sequence[CrateFile]) -> bytes:
    """The description, as it is written."""
    graph = [*_root(facts, files), *(_file(one) for one in files), *map(_phase, facts.phases)]
    boards = [{"@id": _id(one.name)} for one in files if one.name.startswith(f"{BOARDS}/")]
    program = {
        "@id": "#sandscore",
        "@type": "SoftwareApplication",
        "name": "sandscore",
        "softwareVersion": facts.version,
    }
    ranking = {"@id": "#ranking", "@type": "CreateAction", "name": "Submissions scored and ranked"}
    graph += [program, ranking | {"instrument": {"@id": "#sandscore"}, "result": boards}]
    return json.dumps({"@context": _CONTEXT, "@graph": graph}, indent=1, ensure_ascii=False).encode() + b"\n"


def _root(facts: CrateFacts, files: Sequence[CrateFile]) -> Iterator[dict[str, object]]:
    profile = {"@id": "https://w3id.org/ro/crate/1.1"}
    yield {"@id": CRATE_METADATA, "@type": "CreativeWork", "conformsTo": profile, "about": {"@id": "./"}}
    terms = _license(facts.license)
    root: dict[str, object] = {"@id": "./", "@type": "Dataset", "name": facts.name, "description": facts.description}
    organisers = {"@id": facts.url or "#organisers", "@type": "Organization", "name": f"The organisers of {facts.name}"}
    if facts.url:
        organisers["url"] = facts.url
    by = {"@id": organisers["@id"]}
    root |= {"datePublished": facts.date, "license": {"@id": terms["@id"]}, "author": by, "publisher": by}
    root |= {"hasPart": [{"@id": _id(one.name)} for one in files]}
    mentioned = ["#ranking", *(_phase(one)["@id"] for one in facts.phases)]
    root |= {"mentions": [{"@id": one} for one in mentioned]}
    if facts.citation:
        root["citation"] = {"@id": "#citation"}
        yield {"@id": "#citation", "@type": "CreativeWork", "name": facts.citation}
    yield root
    yield {**terms}
    yield {**organisers}


def _license(given: str | None) -> dict[str, str]:
    if given is None:
        said = "No licence was given: all rights are reserved."
        return {"@id": "#license", "@type": "CreativeWork", "name": "No licence", "description": said}
    if not given.startswith(("http://", "https://")) and not _SPDX.fullmatch(given):
        return {"@id": "#license", "@type": "CreativeWork", "name": given, "description": given}
    where = given if "://" in given else f"https://spdx.org/licenses/{given}"
    return {"@id": where, "@type": "CreativeWork", "name": given, "description": "The licence of boards and cards"}


def _file(one: CrateFile) -> dict[str, str]:
    name = PurePosixPath(one.name)
    entity = {"@id": _id(one.name), "@type": "File", "name": name.name, "description": one.description}
    entity |= {"contentSize": str(one.size), "sha256": one.sha256}
    return entity | {"encodingFormat": _FORMATS.get(name.suffix, "text/plain")}


def _phase(one: Mapping[str, str]) -> dict[str, str]:
    dates = {to: one[of] for of, to in (("opens", "startDate"), ("closes", "endDate")) if of in one}
    return {"@id": f"#phase-{_id(one['name'])}", "@type": "Event", "name": one["name"]} | dates


def _id(name: str) -> str:
    from urllib.parse import quote

    return quote(name)


def unpack_crate(path: Path, folder: Path) -> list[str]:
    """The files of a crate, each as it was described, into the folder; their names. Believes nothing."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {one.filename: one for one in archive.infolist() if not one.is_dir()}
            if CRATE_METADATA not in entries:
                raise ParticipantFault(f"{path} is not the archive of a challenge: it has no {CRATE_METADATA}")
            return _taken(path, archive, entries, folder)
    except FileNotFoundError:
        raise MissingFile(f"{path}: there is no such file") from None
    except _BROKEN as fault:
        raise _not_whole(path, fault) from None
    except OSError as fault:
        if fault.errno in _OF_THE_ARCHIVE:
            raise _not_whole(path, fault) from None
        raise


def _not_whole(path: Path, fault: Exception) -> ParticipantFault:
    return ParticipantFault(f"{path} is not a whole archive: {one_line(str(fault))}")


def check_folder(folder: Path) -> list[str]:
    """The same for a folder: every file that is described is there, as it was, and no other is."""
    described = _described(folder, (folder / CRATE_METADATA).read_bytes())
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    _refuse_other_files(folder, described, there)
    for name, one in described.items():
        content = (folder / name).read_bytes()
        _refuse_other_content(folder, one, hashlib.sha256(content).hexdigest())
    return sorted(described)


def _taken(path: Path, archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo], folder: Path) -> list[str]:
    with archive.open(CRATE_METADATA) as file:
        described = _described(path, file.read(_MOST_FILES * 1000))
    _refuse_other_files(path, described, entries.keys())
    for name, one in described.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with archive.open(entries[name]) as source:
            write_file(folder / name, _pieces(source, one.size, digest.update))
        _refuse_other_content(path, one, digest.hexdigest())
    return sorted(described)


def _pieces(source: IO[bytes], size: int, seen: Callable[[bytes], None]) -> Iterator[bytes]:
    """No more than a piece beyond the size it should have."""
    left = size
    while left >= 0 and (piece := source.read(_BLOCK)):
        left -= len(piece)
        seen(piece)
        yield piece


def _described(path: Path, content: bytes) -> dict[str, CrateFile]:
    from urllib.parse import unquote

    try:
        graph = json.loads(content)["@graph"]
        found = [one for one in graph if one.get("@type") == "File"]
        files = [CrateFile(unquote(one["@id"]), "", one["sha256"], int(one["contentSize"])) for one in found]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise ParticipantFault(f"{path}: {CRATE_METADATA} does not describe an archive of sandscore") from None
    if odd := next((one for one in files if not _plain(one.name)), None):
        raise ParticipantFault(f"{path} describes a file that no archive has: {one_line(odd.name)}")
    if len(files) > _MOST_FILES or sum(one.size for one in files) > _MOST_BYTES:
        raise ParticipantFault(f"{path} is larger than any archive of a challenge")
    return {one.name: one for one in files}


def _plain(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return bool(parts) and name == "/".join(parts) and ".." not in parts and parts[0] != "/" and "\0" not in name


def _refuse_other_files(path: Path, described: Mapping[str, CrateFile], there: Set[str]) -> None:
    missing, more = sorted(described.keys() - there), sorted(there - described.keys() - {CRATE_METADATA})
    if missing:
        raise ParticipantFault(f"{path} lacks {one_line(missing[0])}, which it describes")
    if more:
        raise ParticipantFault(f"{path} holds {one_line(more[0])}, which it does not describe")


def _refuse_other_content(path: Path, one: CrateFile, sha256: str) -> None:
    if sha256 != one.sha256:
        raise ParticipantFault(f"{path}: {one_line(one.name)} is not as it was archived: its SHA-256 is {sha256}")

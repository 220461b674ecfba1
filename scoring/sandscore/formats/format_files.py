"""Bytes in, whole files or whole directories out; names made from identifiers can name nothing else."""

import os
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sandscore.annotations.json_blocks import form_of
from sandscore.annotations.problem_collector import what_it_is
from sandscore.base import strict_json
from sandscore.base.byte_sources import InputFile, opened
from sandscore.base.errors import MissingFile, ParticipantFault, UsageFault
from sandscore.base.removable_rooms import part_of_a_room
from sandscore.base.terminal_text import cited
from sandscore.base.whole_files import replace_folder, room_beside, told, write_file
from sandscore.formats.corpus import FormatFiles, Output

LONGEST_NAME = 200
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, however they are written."""
_PLAIN = re.compile(r"[A-Za-z0-9_\-.]")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)


def read_bytes(path: InputFile) -> bytes:
    """All bytes of a file, of standard input for ``-``, unpacked if it is ``.gz`` or ``.zst``."""
    with opened(path) as source:
        return bytes(source.data)


def read_text(path: InputFile) -> str:
    """A UTF-8 file, every character kept: no newline is translated, a byte order mark stays."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as fault:
        said = unread(data, f"byte {fault.start} is not UTF-8: save the file as UTF-8")
        raise ParticipantFault(f"{path}: {said}") from None


def unread(data: bytes, fault: str) -> str:
    """What a file is that holds no text in UTF-8, where the room that knows is there; else the fault."""
    no_text = part_of_a_room("remedies.foreign_bytes:no_text")
    return (no_text(memoryview(data)) if no_text else None) or fault


def read_json(path: InputFile) -> Any:
    """The value of a JSON file; a list where it holds JSON Lines."""
    data = read_bytes(path)
    try:
        if data and form_of(memoryview(data)) == "lines":
            return [strict_json.loads(line) for line in data.split(b"\n") if line.strip()]
        return strict_json.loads(data)
    except strict_json.JsonFault as fault:
        raise ParticipantFault(f"{path}: {what_it_is(memoryview(data), str(fault))}") from None


def text_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines as ``\\n`` ends them, without a carriage return or a byte order mark around them."""
    for number, line in enumerate(StringIO(text.removeprefix("\ufeff")), 1):
        yield number, line.removesuffix("\n").removesuffix("\r")


def one_path(paths: Sequence[Path], what: str) -> Path:
    if len(paths) != 1:
        raise UsageFault(f"{what} is one path, but {len(paths)} were given")
    return paths[0]


def files_in(directory: Path, endings: tuple[str, ...]) -> list[Path]:
    """The directory's own files with one of the endings, by name; a link among them is refused."""
    if not directory.exists():
        raise MissingFile(f"{directory}: there is no such directory")
    if not directory.is_dir():
        raise MissingFile(f"{directory}: is a file, not a directory")
    found = sorted(path for path in directory.iterdir() if path.suffix in endings)
    for path in found:
        if path.is_symlink():
            raise ParticipantFault(f"{path}: is a symbolic link; put the file itself there")
    return found


def quoted_name(identifier: str) -> str:
    """An identifier as a file name without an ending: reversible, and never a path, a device or hidden."""
    name = "".join(c if _PLAIN.match(c) else _percent(c) for c in identifier)
    if name.startswith(".") or _DEVICE.match(name):
        name = _percent(name[0]) + name[1:]
    if len(name) > LONGEST_NAME:
        raise ParticipantFault(
            f"note {cited(identifier)}: the identifier is too long for a file name ({len(name)} characters, "
            f"at most {LONGEST_NAME})"
        )
    return name or "%"


def unquoted_name(name: str) -> str:
    """The identifier a file name was made from; a name that was not made by us stays as it is."""
    if name == "%":
        return ""
    identifier = unquote(name, errors="replace")
    try:
        return identifier if quoted_name(identifier) == name else name
    except ParticipantFault:
        return name


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8"))


def save(output: Output, target: Path, *, force: bool) -> None:
    """Write all of it or nothing. What is there already stays unless ``force`` is given."""
    if os.path.lexists(target) and not force:
        raise UsageFault(f"{target}: is there already; --force replaces it")
    if target.is_dir() and isinstance(output, bytes):
        raise UsageFault(f"{target}: is a directory; this format is one file")
    if os.path.lexists(target) and not isinstance(output, bytes):
        _refuse_to_replace(target, output)
    with told(target.parent, "{where}: nothing can be written there ({why})", fault=UsageFault):
        if isinstance(output, bytes):
            target.parent.mkdir(parents=True, exist_ok=True)
            write_file(target, output)
            return
        beside = room_beside(target)
    replace_folder(target, output.content, beside)


def _refuse_to_replace(target: Path, output: FormatFiles) -> None:
    """``force`` replaces what an earlier conversion wrote, never a directory that holds anything else."""
    if target.is_symlink() or not target.is_dir():
        raise UsageFault(f"{target}: is not a directory, and this format is one")
    endings = {Path(name).suffix for name in output.content}
    for path in target.iterdir():
        if path.suffix not in endings or path.is_symlink() or not path.is_file():
            raise UsageFault(f"{target}: holds {path.name}, which no conversion wrote; not replaced")

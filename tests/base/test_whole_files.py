"""The writer of files: whole or not there, whatever goes wrong, and said in a sentence."""

import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.base.whole_files import (
    part_of,
    remove_parts,
    replace_folder,
    room_beside,
    told,
    write_file,
    write_files,
    write_synced,
)


def dying() -> Iterator[bytes]:
    yield b"half"
    raise KeyboardInterrupt


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_pieces_are_written_as_they_come(tmp_path: Path) -> None:
    write_file(tmp_path / "card.json", (piece for piece in (b"a", memoryview(b"b"), b"c")))
    assert (tmp_path / "card.json").read_bytes() == b"abc"
    assert names(tmp_path) == {"card.json"}


@pytest.mark.parametrize("sync", [False, True])
def test_who_dies_over_a_file_leaves_the_one_before(tmp_path: Path, sync: bool) -> None:
    (tmp_path / "card.json").write_bytes(b"whole")
    with pytest.raises(KeyboardInterrupt):
        write_file(tmp_path / "card.json", dying(), sync=sync)
    assert (tmp_path / "card.json").read_bytes() == b"whole"
    assert names(tmp_path) == {"card.json"}


def test_killed_without_warning_leaves_a_part_that_is_not_the_file(tmp_path: Path) -> None:
    program = f"""
import os, pathlib
from sandscore.base.whole_files import write_file
def killed():
    yield b"half"
    os.kill(os.getpid(), 9)
write_file(pathlib.Path({str(tmp_path / "card.json")!r}), killed())
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9
    (left,) = names(tmp_path)
    assert left.startswith(".card.json.")
    assert left.endswith(".part")
    remove_parts(tmp_path / "card.json")
    assert names(tmp_path) == set()


def test_what_is_not_to_be_replaced_stays(tmp_path: Path) -> None:
    write_file(tmp_path / "salt", b"first", mode=0o600, replace=False)
    assert stat.S_IMODE((tmp_path / "salt").stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "salt", b"second", replace=False)
    assert (tmp_path / "salt").read_bytes() == b"first"
    assert names(tmp_path) == {"salt"}


def test_where_there_are_no_links_nothing_is_replaced_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_part: Path, _path: Path) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr("os.link", refused)
    write_file(tmp_path / "salt", b"first", replace=False)
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "salt", b"second", replace=False)
    assert (tmp_path / "salt").read_bytes() == b"first"
    assert names(tmp_path) == {"salt"}


def test_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_file(tmp_path / "written", b"")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"old")
    (tmp_path / "link").symlink_to("kept")
    write_file(tmp_path / "link", b"new")
    assert not (tmp_path / "link").is_symlink()
    assert [(tmp_path / name).read_bytes() for name in ("kept", "link")] == [b"old", b"new"]


@pytest.mark.parametrize("letter", ["a", "é", "\N{GRINNING FACE}"])
def test_the_longest_name_there_can_be(tmp_path: Path, letter: str) -> None:
    name = letter * (255 // len(letter.encode()))
    write_file(tmp_path / name, b"x")
    assert names(tmp_path) == {name}


def test_a_pipe_is_written_through(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, [b"through ", b"it"])
    reader.join()
    assert read == [b"through it"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("to_file", [False, True], ids=["pipe", "file"])
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_by_name_is_written_where_it_stands(tmp_path: Path, name: str, to_file: bool) -> None:
    program = f"""
import pathlib, sys
from sandscore.base.whole_files import write_file
print("before", flush=True)
write_file(pathlib.Path({name!r}), b"card\\n")
print("after")
"""
    with (tmp_path / "out").open("wb") as out:
        ran = subprocess.run(
            [sys.executable, "-c", program], stdout=out if to_file else subprocess.PIPE, stderr=None, check=True
        )
    said = (tmp_path / "out").read_bytes() if to_file else ran.stdout
    assert said == b"before\ncard\nafter\n"


def test_files_of_one_moment_move_in_together(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": b"old", "deep/b": b"old", "far/away/still": b"new"})
    assert (tmp_path / "far/away/still").read_bytes() == b"new"
    (tmp_path / "c").mkdir()
    with pytest.raises(IsADirectoryError):
        write_files(tmp_path, {"c": b"", "a": b"new"})
    assert [(tmp_path / name).read_bytes() for name in ("a", "deep/b")] == [b"old", b"old"]
    assert {path.name for path in tmp_path.rglob("*")} == {"a", "deep", "b", "c", "far", "away", "still"}


def test_a_folder_is_swapped_or_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_folder(tmp_path / "d", {"one": b"1", "two": b"2"}, room_beside(tmp_path / "d"))
    replace_folder(tmp_path / "d", {"one": b"3"}, room_beside(tmp_path / "d"))
    assert {path.name: path.read_bytes() for path in (tmp_path / "d").iterdir()} == {"one": b"3"}
    move = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if path.name == "new":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return move(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(OSError, match="Input/output"):
        replace_folder(tmp_path / "d", {"one": b"4"}, room_beside(tmp_path / "d"))
    assert (tmp_path / "d" / "one").read_bytes() == b"3"
    assert names(tmp_path) == {"d"}


def test_what_must_last_is_on_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    sync, move = os.fsync, Path.replace

    def synced(number: int) -> None:
        said.append("file" if stat.S_ISREG(os.fstat(number).st_mode) else "folder")
        sync(number)

    def moved(path: Path, target: Path) -> Path:
        said.append("name")
        return move(path, target)

    monkeypatch.setattr("os.fsync", synced)
    monkeypatch.setattr(Path, "replace", moved)
    write_synced(tmp_path / "new" / "file", b"x")
    assert said == ["file", "name", "folder"]


def test_somebody_elses_part_is_moved_in(tmp_path: Path) -> None:
    with part_of(tmp_path / "copy") as part:
        part.write_bytes(b"copied")
        assert names(tmp_path) == {part.name}
    assert (tmp_path / "copy").read_bytes() == b"copied"


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, InfrastructureFault),
        (errno.EDQUOT, InfrastructureFault),
        (errno.EROFS, UsageFault),
        (errno.EACCES, UsageFault),
    ],
)
def test_refusals_are_sentences(number: int, kind: type[Exception]) -> None:
    """Room is nobody's wrong usage; a place that may not be written to is, where a user named it."""
    with pytest.raises(kind) as fault, told("card.json", "cannot write {where}: {why}", fault=UsageFault):
        raise OSError(number, os.strerror(number))
    assert str(fault.value) == f"cannot write card.json: {os.strerror(number)}"


def test_a_device_without_room(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureFault, match="No space left on device"), told(tmp_path):
        write_file(Path("/dev/full"), b"x" * 10_000)

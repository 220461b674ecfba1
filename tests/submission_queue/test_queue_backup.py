"""A queue out of its backup is what it was: files, modes, numbers, what was told, the log; its data come along."""

import io
import json
import shutil
import sqlite3
import stat
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from queue_samples import HALF, HIDDEN, RIGHT, WRONG_PLACE, hand_in, queue, with_home

from sandscore.attestation.log_reading import ENTRIES
from sandscore.cli.main import run
from sandscore.queue.homes.sqlite.sqlite_database import FILE
from sandscore.queue.homes.sqlite.sqlite_row import SqliteRow
from sandscore.queue.public_log import PublicLog
from sandscore.queue.queue_backup import MARK
from sandscore.queue.queue_layout import LOGBOOK
from sandscore.queue.workspace import Workspace, open_workspace

pytestmark = pytest.mark.usefixtures("near_children")

PASSING = {".publishing.lock", ".published"}
"""Of workers that run, not of the queue."""


def files_of(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Mode and content of everything below; a link by where it leads."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        name, mode = path.relative_to(folder).as_posix(), stat.S_IMODE(path.lstat().st_mode)
        if path.is_symlink():
            found[name] = (0, str(path.readlink()))
        elif path.is_dir():
            found[name] = (mode, "folder")
        elif path.name not in PASSING and not path.name.startswith("queue.sqlite"):
            found[name] = (mode, path.read_bytes())
    return found


def told(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> list[object]:
    """What every reading verb says."""
    said: list[object] = []
    ids = [one.id for one in with_home(workspace, lambda home: home.submissions())]
    for words in (["list"], ["disclosed"], ["status"], ["history"], *(["show", one] for one in ids)):
        capsys.readouterr()
        place = [words[0], str(workspace.root), *words[1:]]
        assert run(["queue", *place, "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        if isinstance(found, dict):
            for passing in ("free_bytes", "oldest_waiting_seconds", "folder"):
                found.pop(passing, None)
        said.append(found)
    return said


def test_a_restored_queue_is_the_queue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    practice = tmp_path / "here" / "challenge" / "practice"
    practice.mkdir(parents=True)
    (practice / "notes.json").write_text('[{"identifier": "p1", "text": "On 3 May."}]', encoding="utf-8")
    workspace = queue(tmp_path / "here", HIDDEN.replace('"hidden",', '"hidden", practice = "practice/",', 1))
    assert workspace.settings.practice, "there is something to move"
    for spans, team in ((RIGHT, "A"), (HALF, "B"), (WRONG_PLACE, "C")):
        hand_in(workspace, spans, team)
    open_elsewhere = sqlite3.connect(workspace.private / FILE)
    open_elsewhere.execute("SELECT * FROM submission").fetchall()  # so that what is new stays in the write-ahead log
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    back = hand_in(workspace, HALF, "E")
    assert run(["queue", "cancel", str(workspace.root), back, "--as", "Ada", "--why", "asked by phone"]) == 0
    hand_in(workspace, RIGHT, "D")
    before, files = told(workspace, capsys), files_of(workspace.root)
    backup = tmp_path / "backup.tar"
    journal, whole = workspace.private / "journal.jsonl", files["private/journal.jsonl"]
    with journal.open("ab") as file:
        file.write(b'{"a line that somebody has beg')
    assert run(["queue", "backup", str(workspace.root), str(backup)]) == 0
    open_elsewhere.close()
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    shutil.rmtree(tmp_path / "here")

    root = tmp_path / "elsewhere" / "queue"
    assert run(["queue", "restore", str(backup), str(root)]) == 0
    restored = files_of(root)
    assert restored["private/journal.jsonl"] == whole, "lines, and no half of one"
    data = {name for name in restored if name.startswith("private/restored")}
    changed = {name for name in files if files[name] != restored.get(name)}
    assert changed == {"private/settings.json"}, "which names the folder of the data"
    assert restored.keys() - data == files.keys()
    there = open_workspace(root)
    for old, new in (
        (workspace.settings.data, there.settings.data),
        (workspace.settings.practice, there.settings.practice),
    ):
        assert old.keys() == new.keys()
        assert all(Path(place).is_relative_to(root) and Path(place).is_dir() for place in new.values())
    assert (told(there, capsys), there.dataset(None)) == (before, workspace.dataset(None))
    assert run(["queue", "check", str(root)]) == 0
    assert run(["queue", "work", str(root), "--once"]) == 0
    assert [one.status for one in with_home(there, lambda home: home.submissions())] == [
        "SCORED", "SCORED", "INVALID", "REJECTED", "SCORED",
    ]  # fmt: skip
    assert run(["verify", str(there.boards / "date.json"), "--log", str(root / "public" / "log")]) == 0


def test_a_backup_while_workers_and_teams_are_busy(tmp_path: Path) -> None:
    """What was handed in before the backup began is in it, whatever goes on meanwhile."""
    workspace = queue(tmp_path)
    early = [hand_in(workspace, RIGHT, f"Team {at}") for at in range(12)]
    command = [sys.executable, "-m", "sandscore", "queue", "work", str(workspace.root), "--once"]
    worker = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    backups: list[Path] = []
    while worker.poll() is None and len(backups) < 6:
        backups.append(tmp_path / f"backup-{len(backups)}.tar")
        assert run(["queue", "backup", str(workspace.root), str(backups[-1])]) == 0
        hand_in(workspace, HALF, f"Late {len(backups)}")
    assert worker.wait(120) == 0
    for at, backup in enumerate(backups):
        root = tmp_path / f"restored-{at}"
        assert run(["queue", "restore", str(backup), str(root)]) == 0
        found = {one.id for one in with_home(open_workspace(root), lambda home: home.submissions())}
        assert set(early) <= found
        assert run(["queue", "check", str(root)]) == 0
    assert run(["queue", "work", str(root), "--once"]) == 0
    ended = with_home(open_workspace(root), lambda home: home.submissions())
    assert {one.status for one in ended} == {"SCORED"}


def test_what_comes_in_while_the_queue_is_copied_is_taken_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal is packed after the copy, and what was handed in after both."""
    workspace, backup, root = queue(tmp_path / "here"), tmp_path / "backup.tar", tmp_path / "elsewhere"
    copied, known = SqliteRow.back_up, [hand_in(workspace)]

    def busy(row: SqliteRow, there: Workspace, target: Path) -> None:
        copied(row, there, target)
        known.append(hand_in(there, HALF, "Late"))

    monkeypatch.setattr(SqliteRow, "back_up", busy)
    assert run(["queue", "backup", str(workspace.root), str(backup)]) == 0
    shutil.rmtree(workspace.root)
    assert run(["queue", "restore", str(backup), str(root)]) == 0
    assert run(["queue", "work", str(root), "--once"]) == 0
    found = with_home(open_workspace(root), lambda home: home.submissions())
    assert [(one.id, str(one.status)) for one in found] == [(one, "SCORED") for one in known]


def waits_for_a_lock(process: "subprocess.Popen[bytes]") -> bool:
    lines = [line.split() for line in Path("/proc/locks").read_text(encoding="utf-8").splitlines()]
    return any(words[1:3] == ["->", "FLOCK"] and words[5] == str(process.pid) for words in lines)


def test_a_backup_waits_for_whoever_writes_the_log(tmp_path: Path) -> None:
    workspace, backup, root = queue(tmp_path / "here"), tmp_path / "backup.tar", tmp_path / "elsewhere"
    hand_in(workspace)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    lines = workspace.private / LOGBOOK / ENTRIES
    before = lines.read_bytes()
    with PublicLog(workspace).resting():
        with lines.open("ab") as file:
            file.write(b"half of a li")
        command = [sys.executable, "-m", "sandscore", "queue", "backup", str(workspace.root), str(backup)]
        backing = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while not waits_for_a_lock(backing):
            assert backing.poll() is None, "it did not wait"
            time.sleep(0.05)
        lines.write_bytes(before)
    assert backing.wait(120) == 0
    assert run(["queue", "restore", str(backup), str(root)]) == 0
    assert (root / "private" / LOGBOOK / ENTRIES).read_bytes() == before


def archive(path: Path, *entries: tuple[str, bytes | None]) -> Path:
    with tarfile.open(path, "w") as made:
        for name, content in entries:
            entry = tarfile.TarInfo(name)
            if content is None:
                entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
                made.addfile(entry)
            else:
                entry.size = len(content)
                made.addfile(entry, io.BytesIO(content))
    return path


ODD = json.dumps({"format": 1, "sandscore": "1", "data": {}, "practice": {}}).encode()


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([], "is not a backup of a queue"),
        ([("other.json", b"{}")], "is not a backup of a queue"),
        ([(MARK, b"[]")], "is not a backup of a queue"),
        ([(MARK, ODD.replace(b"1,", b"9,", 1))], "has format 9"),
        ([(MARK, ODD), ("private/../../x", b"")], "holds what no queue has"),
        ([(MARK, ODD), ("/etc/x", b"")], "holds what no queue has"),
        ([(MARK, ODD), ("private/link", None)], "holds what no queue has"),
        ([(MARK, ODD), ("elsewhere/x", b"")], "holds what no queue has"),
    ],
)
def test_what_is_no_backup_is_refused(
    tmp_path: Path, entries: list[tuple[str, bytes | None]], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = archive(tmp_path / "odd.tar", *entries)
    assert run(["queue", "restore", str(source), str(tmp_path / "queue")]) == 78
    assert said in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["odd.tar"], "nothing is left of it"


def test_a_backup_that_is_cut_off_and_a_place_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace, backup = queue(tmp_path), tmp_path / "backup.tar"
    assert run(["queue", "backup", str(workspace.root), str(backup)]) == 0
    cut = tmp_path / "cut.tar"
    cut.write_bytes(backup.read_bytes()[:9000])
    assert run(["queue", "restore", str(cut), str(tmp_path / "other")]) == 78
    assert run(["queue", "restore", str(backup), str(workspace.root)]) == 2
    assert run(["queue", "restore", str(tmp_path / "none.tar"), str(tmp_path / "new")]) == 66
    assert "Traceback" not in capsys.readouterr().err

"""A queue on a disk that really runs full: python queue_disk.py STORY FOLDER, in a mount namespace of its own.

The disk is a small tmpfs, so the file system itself says ENOSPC; it goes away with the processes that see it. Workers
that meet the full disk have children of their own; those that drain the queue with room keep theirs near.
"""

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).resolve().parent))

import pytest
from cli.running import sandscore
from intake import served
from near_children import keep_near
from queue_samples import HALF, RIGHT, WRONG_PLACE, annotations, challenge_folder, hand_in, queue, with_home
from submission_queue.synapse_homes import finals, state
from submission_queue.synapse_standin import synapse

from sandscore.base.bundled_content import submissions
from sandscore.intake.submission_intake import PARTS
from sandscore.intake.team_registry import TeamRegistry
from sandscore.queue.homes.sqlite.sqlite_database import FILE
from sandscore.queue.workspace import Workspace
from sandscore.site.site_folder import MANIFEST

DRIVE = "from sandscore.cli.main import main; main()"
BLOCK = b"x" * 4096
WORST = (0, 12_288, 40_960, 163_840, 400_000)
"""Bytes left: for nothing, not for the write-ahead log, not for a card, not for a board, not for a site."""
PATIENCE = 90.0
"""Seconds that a worker on a busy machine may need to come to what it is waited for."""
FULL = ("No space left on device", "the disk is full", "is full: ")


class Disk:
    """Sixteen megabytes, and a file that takes up what is to be missing."""

    def __init__(self, place: Path) -> None:
        self.place, self._ballast = place, place / "ballast"
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", place], check=True)

    def fill(self, leave: int) -> None:
        self.clear()
        with self._ballast.open("wb", buffering=0) as file:
            written = 0
            try:
                while True:
                    written += file.write(BLOCK)
            except OSError:
                file.truncate(max(0, written - leave))

    def lock(self, *, writable: bool) -> None:
        """The whole disk, for everybody."""
        subprocess.run(["mount", "-o", f"remount,{'rw' if writable else 'ro'}", self.place], check=True)

    def clear(self) -> None:
        self._ballast.unlink(missing_ok=True)


class Said:
    """What the command line said, and its exit code. It never speaks in tracebacks. ``until`` is asked again and again
    of what a process of its own has complained of; then that is asked to stop."""

    def __init__(self, *words: object, until: Callable[[str], bool] | None = None) -> None:
        if until is None:
            ran = sandscore(*words)
            self.code, self.out, self.err = ran.code, ran.out, ran.err
        else:
            self.code, self.out, self.err = _stopped(words, until)
        assert "Traceback" not in self.err, self.err

    def wants_room(self) -> bool:
        return wants_room(self.err)


def _stopped(words: Iterable[object], until: Callable[[str], bool]) -> tuple[int, str, str]:
    """Half a second later, so that more would be said if there were more to say."""
    command = [sys.executable, "-c", DRIVE, *map(str, words)]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        begun = time.monotonic()
        while process.poll() is None and not until(_read(errors)) and time.monotonic() - begun < PATIENCE:
            time.sleep(0.1)
        time.sleep(0.5)
        process.terminate()
        out, _ = process.communicate(timeout=120)
        return process.returncode, out, _read(errors)


def _read(errors: IO[str]) -> str:
    """From the beginning, and without moving the place where the process writes."""
    return os.pread(errors.fileno(), 1 << 20, 0).decode()


def wants_room(text: str) -> bool:
    return any(words in text for words in FULL)


def sound(workspace: Workspace) -> None:
    """The database is whole, and no file is half written."""
    with sqlite3.connect(workspace.private / FILE) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()
    assert not list(workspace.root.rglob("*.part"))
    for path in workspace.root.rglob("*.json"):
        json.loads(path.read_bytes())


def working(disk: Disk) -> None:
    """Workers on a disk with less and less amiss; nothing ends wrongly, and with room everything ends once."""
    workspace = queue(disk.place, lease_seconds=1.0, most_failures=1000, spare_bytes=0)
    spans = {1.0: RIGHT, 0.8: HALF, None: WRONG_PLACE}
    expected = {
        hand_in(workspace, given): score for given in spans.values() for score in spans if spans[score] is given
    }
    for number in range(6):
        expected[hand_in(workspace, HALF, f"Team {number}")] = 0.8
    complained = 0

    def stuck_or_done(said: str) -> bool:
        return wants_room(said) or all(
            one.status.final for one in with_home(workspace, lambda home: home.submissions())
        )

    for leave in WORST:
        disk.fill(leave)
        worker = Said("queue", "work", workspace.root, "--board-every", "0.3", "--grace", "0.1", until=stuck_or_done)
        assert worker.code in (0, 75), worker.err
        complained += worker.wants_room()
        disk.clear()
        sound(workspace)
    assert complained >= 3, "it says what is wrong"
    drained = Said("queue", "work", workspace.root, "--once")
    assert drained.code == 0, drained.err
    sound(workspace)
    found = with_home(workspace, lambda home: home.submissions())
    ended = {one.id: one.scores.get("instance_strict") for one in found}
    assert ended == expected
    assert {str(one.status) for one in found if expected[one.id] is None} == {"INVALID"}
    with sqlite3.connect(workspace.private / FILE) as connection:
        ends = connection.execute("SELECT submission FROM attempt WHERE outcome IN ('SCORED', 'INVALID')").fetchall()
    connection.close()
    assert sorted(ends) == sorted((one,) for one in expected), "each ended once"
    assert len(json.loads((workspace.site / "date" / "board.json").read_bytes())["rows"]) == len(expected) - 1


def waiting(disk: Disk) -> None:
    """With less than the spare room nothing is begun, so that no submission uses up its tries."""
    workspace = queue(disk.place, most_failures=2, spare_bytes=1 << 20)
    ids = [hand_in(workspace, RIGHT, f"Team {number}") for number in range(3)]
    disk.fill(900_000)
    worker = Said("queue", "work", workspace.root, until=wants_room)
    assert (worker.code, worker.err.count("is full: ")) == (0, 1), worker.err
    found = with_home(workspace, lambda home: home.submissions())
    assert [(one.id, str(one.status), one.attempt, one.failures) for one in found] == [
        (one, "RECEIVED", 0, 0) for one in ids
    ]
    disk.clear()
    assert Said("queue", "work", workspace.root, "--once").code == 0
    found = with_home(workspace, lambda home: home.submissions())
    assert [(str(one.status), one.attempt) for one in found] == [("SCORED", 1)] * 3


def submitting(disk: Disk) -> None:
    """An id that was printed is kept; everything else was refused with 75 and has left nothing."""
    workspace = queue(disk.place, spare_bytes=0)
    spans = {name: [(at, text) for at, text in places] for name, places in RIGHT.items()}
    given = disk.place.parent / "given.json"
    promised = []
    for number, leave in enumerate([0, 8_192, 24_576, 49_152, 131_072, 1 << 20]):
        given.write_bytes(annotations(spans) + b" " * 10_000 * number)
        disk.fill(leave)
        said = Said("queue", "submit", workspace.root, "--task", "date", "--team", "A", "--predictions", given)
        assert (said.code, bool(said.out.strip())) in ((0, True), (75, False)), said.err
        assert said.code == 0 or said.wants_room(), said.err
        promised += said.out.split()
        disk.clear()
        sound(workspace)
    assert 0 < len(promised) < 6, "some went in, some did not"
    found = with_home(workspace, lambda home: home.submissions())
    assert [one.id for one in found] == promised
    assert len(list(workspace.files.iterdir())) >= len(promised)
    assert Said("queue", "work", workspace.root, "--once").code == 0
    found = with_home(workspace, lambda home: home.submissions())
    assert [str(one.status) for one in found] == ["SCORED"] * len(promised)


def reading(disk: Disk) -> None:
    """Whoever only reads goes on, on a full disk and on one that nobody may write to, after a clean end and after a
    kill that left a log of SQLite's behind."""
    workspace = queue(disk.place, spare_bytes=0)
    first = hand_in(workspace, RIGHT, "Team A")
    assert Said("queue", "work", workspace.root, "--once").code == 0
    second = hand_in(workspace, HALF, "Team B")
    assert Said("queue", "cancel", workspace.root, second).code == 0
    third = hand_in(workspace, HALF, "Team C")
    out, root = disk.place.parent, workspace.root
    for left_behind in (False, True):
        if left_behind:
            _killed_while_open(workspace)
        for name in ("full", "locked"):
            if name == "full":
                disk.fill(0)
            else:
                disk.lock(writable=False)
            said = {
                words: Said("queue", words, root, *more)
                for words, more in (
                    ("list", ()),
                    ("show", (first,)),
                    ("status", ()),
                    ("history", ()),
                    ("disclosed", ()),
                    ("receipt", (first,)),
                    ("export", ("-o", out / f"export-{name}-{left_behind}")),
                    ("archive", ("-o", out / f"{name}-{left_behind}.zip")),
                    ("backup", (out / f"{name}-{left_behind}.tar",)),
                )
            }
            faults = {words: one.err for words, one in said.items() if one.code}
            assert not faults, f"{name}, {left_behind}: {faults}"
            assert all(one in said["list"].out for one in (first, second, "SCORED", "REJECTED"))
            assert Said("publish", workspace.boards / "date.json", "-o", out / f"site-{name}-{left_behind}").code == 0
            assert Said("verify", workspace.boards / "date.json").code == 0
            submitted = Said("queue", "cancel", root, first)
            assert submitted.code in (2, 75), submitted.err
            if name == "full":
                disk.clear()
            else:
                worker = Said("queue", "work", root, until=lambda said: "read-only" in said)
                assert "read-only" in worker.err, worker.err
                disk.lock(writable=True)
        restored = Said("queue", "restore", out / f"locked-{left_behind}.tar", out / f"restored-{left_behind}")
        assert restored.code == 0, restored.err
        listed = [
            Said("queue", "list", place, "--format", "json").out for place in (root, out / f"restored-{left_behind}")
        ]
        assert listed[0] == listed[1]
    assert Said("queue", "work", root, "--once").code == 0
    found = with_home(workspace, lambda home: home.submissions())
    assert [(one.id, str(one.status), one.attempt) for one in found] == [
        (first, "SCORED", 1),
        (second, "REJECTED", 0),
        (third, "SCORED", 1),
    ]


def _killed_while_open(workspace: Workspace) -> None:
    """A process that has written and dies: its log and the index of that stay beside the database."""
    code = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA wal_autocheckpoint=0'); c.execute('UPDATE submission SET losses=losses+1');"
        "c.execute('UPDATE submission SET losses=losses-1');"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, workspace.private / FILE], check=False)
    assert (workspace.private / f"{FILE}-wal").stat().st_size > 0


def publishing(disk: Disk) -> None:
    """A site that cannot be written stays as it was; a queue, an export or a rescoring that has no room says so."""
    workspace = queue(disk.place, spare_bytes=0)
    hand_in(workspace, RIGHT, "Team A")
    assert Said("queue", "work", workspace.root, "--once").code == 0
    board, site = workspace.boards / "date.json", disk.place / "site"
    assert Said("publish", board, "-o", site).code == 0
    shown = {path: path.read_bytes() for path in site.rglob("*") if path.is_file() and path.name != MANIFEST}
    hand_in(workspace, HALF, "Team B")
    assert Said("queue", "work", workspace.root, "--once").code == 0
    (workspace.root / "challenge.toml").write_text('challenge = "other"\n', encoding="utf-8")
    for leave in (0, 49_152):
        disk.fill(leave)
        said = Said("publish", board, "-o", site)
        assert (said.code, said.wants_room()) == (75, True), said.err
        assert {path: path.read_bytes() for path in shown} == shown, "what was published stays whole"
    disk.fill(4_096)
    for words in (
        ("queue", "init", disk.place / "other", "--challenge", challenge_folder(disk.place.parent / "c")),
        ("queue", "export", workspace.root, "-o", disk.place / "export"),
        ("queue", "export", workspace.root, "--backup", "-o", disk.place / "backup.sqlite"),
    ):
        said = Said(*words)
        assert said.code in (0, 75), said.err
        assert said.code == 0 or said.wants_room(), said.err
    disk.clear()
    assert Said("publish", board, "-o", site).code == 0
    assert all(path.read_bytes() != shown[path] for path in shown if path.name == "board.json"), "now it is new"
    assert Said("verify", site / "date" / "board.json").code == 0


def on_synapse(disk: Disk) -> None:
    """The local state of a worker: what cannot be kept here is handed back, or done again, and ends there once."""
    with synapse(disk.place.parent / "synapse") as found:
        given = (submissions() / "date-good" / "predictions.json").read_bytes()
        keys = [found.submit_file(given) for _ in range(3)]
        known = {"evaluation": found.id, "config": str(found.config()), "publish": False}
        folder = state(
            disk.place / "state", known, lease_seconds=1.0, first_wait_seconds=0.1, most_failures=1000, spare_bytes=0
        )
        complained = 0
        for leave in (0, 12_288):
            disk.fill(leave)
            worker = Said("queue", "work", folder, "--grace", "0.1", until=wants_room)
            assert worker.code in (0, 75), worker.err
            complained += worker.wants_room()
            assert not {found.status(key) for key in keys} & {"SCORED", "INVALID", "REJECTED"}
            disk.clear()
        assert complained == 2, "it says what is wrong"
        drained = Said("queue", "work", folder, "--once")
        assert drained.code == 0, drained.err
        assert [(found.status(key), finals(found, key)) for key in keys] == [("SCORED", 1)] * 3


def serving(disk: Disk) -> None:
    """What was answered 201 is kept, all else was refused with 503 and has left nothing; what is only read goes on."""
    workspace = queue(disk.place, spare_bytes=0)
    registry = TeamRegistry(workspace)
    registry.add("A", None, "test")
    token = registry.issue("A", "Ada", "test")
    promised, refused, bearer = [], 0, {"authorization": f"Bearer {token}"}
    with served.serving(workspace.root) as server:
        for number, leave in enumerate([0, 8_192, 24_576, 49_152, 131_072, 1 << 20]):
            content = annotations(RIGHT) + b" " * 10_000 * number
            disk.fill(leave)
            status, told = server.hand_in(token, content, key=f"k{number}")
            assert status in (201, 503), told
            if status == 201:
                promised.append(told["id"])
            else:
                refused += 1
                assert (told["code"], told["exit_code"]) == ("unavailable", 75)
                assert str(disk.place) not in json.dumps(told), "paths are the organiser's"
            disk.fill(0)
            listed = server.ask("GET", "/api/v1/submissions", headers=bearer)
            assert (listed[0], {one["id"] for one in json.loads(listed[2])}) == (200, {*promised})
            disk.clear()
            assert not list((workspace.private / "intake" / PARTS).iterdir())
            sound(workspace)
        assert promised, "some went in"
        assert refused, "some did not"
        again = server.hand_in(token, annotations(RIGHT), key="k0")
        assert again[0] == 201, "with room the same key goes in"
        promised += [again[1]["id"]]
    assert "Traceback" not in server.said.read_text(), server.said.read_text()
    found = with_home(workspace, lambda home: home.submissions())
    assert sorted(one.id for one in found) == sorted(promised)
    assert Said("queue", "work", workspace.root, "--once").code == 0
    found = with_home(workspace, lambda home: home.submissions())
    assert {str(one.status) for one in found} == {"SCORED"}


STORIES: dict[str, Callable[[Disk], None]] = {
    story.__name__: story for story in (working, waiting, submitting, serving, reading, publishing, on_synapse)
}

if __name__ == "__main__":
    os.environ["SANDSCORE_SALT"] = "salt"
    with pytest.MonkeyPatch.context() as patched:
        keep_near(patched)
        STORIES[sys.argv[1]](Disk(Path(sys.argv[2]) / "disk"))

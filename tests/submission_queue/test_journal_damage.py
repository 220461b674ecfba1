"""A journal that is not as it was written: every kind of damage is named by its line, and nothing is passed over."""

import hashlib
import json
import random
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from queue_samples import RIGHT, hand_in, queue, with_home

from sandscore.base.errors import OrganiserFault
from sandscore.cli.main import run
from sandscore.queue.homes.sqlite.sqlite_database import FILE, Database
from sandscore.queue.homes.sqlite.submission_journal import FILE as JOURNAL
from sandscore.queue.workspace import Workspace

TEAMS = 6


@pytest.fixture
def filled(tmp_path: Path) -> tuple[Workspace, list[str]]:
    workspace = queue(tmp_path)
    ids = [hand_in(workspace, RIGHT, f"Team {number}") for number in range(TEAMS)]
    with_home(workspace, lambda home: home.cancel(ids[2]))
    return workspace, ids


def lose_database(workspace: Workspace) -> None:
    for path in workspace.private.glob(f"{FILE}*"):
        path.unlink()
    assert run(["queue", "init", str(workspace.root), "--challenge", str(workspace.private / "challenge.toml")]) == 0


def listed(workspace: Workspace) -> list[str]:
    return [one.id for one in with_home(workspace, lambda home: home.submissions())]


def test_each_line_says_its_number_its_predecessor_and_its_checksum(filled: tuple[Workspace, list[str]]) -> None:
    """Reckoned here from the bytes alone: half a SHA-256 over the line up to where the checksum begins."""
    before = ""
    for number, line in enumerate((filled[0].private / JOURNAL).read_bytes().splitlines(), 1):
        said = json.loads(line)
        assert (said["number"], said["before"]) == (number, before)
        content, _, _ = line.rpartition(b',"sum":')
        before = hashlib.sha256(content).hexdigest()[:32]
        assert said["sum"] == before


def cut(*lines: int) -> Callable[[list[bytes]], list[bytes]]:
    return lambda given: [line for number, line in enumerate(given, 1) if number not in lines]


def at(number: int, change: Callable[[bytes], bytes]) -> Callable[[list[bytes]], list[bytes]]:
    return lambda given: [change(line) if at == number else line for at, line in enumerate(given, 1)]


def swapped(given: list[bytes]) -> list[bytes]:
    return [given[0], given[2], given[1], *given[3:]]


KINDS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], Sequence[int]]] = {
    "garbage": (at(3, lambda _: b"\x07garbage\n"), [3]),
    "bad utf-8": (at(3, lambda line: line.replace(b"Team 2", b"Te\xff\xfem2")), [3]),
    "nul": (at(2, lambda line: bytes(len(line) - 1) + b"\n"), [2]),
    "empty line": (at(4, lambda _: b"\n"), [4]),
    "cut short inside": (at(5, lambda line: line[:40] + b"\n"), [5]),
    "cut short at the end": (at(7, lambda line: line[:-9]), [7]),
    "without its line feed": (at(7, lambda line: line[:-1]), [7]),
    "another name": (at(1, lambda line: line.replace(b"Team 0", b"Team 9")), [1]),
    "swapped": (swapped, [2, 3]),
    "repeated": (lambda given: [*given[:3], given[2], *given[3:]], [4]),
    "repeated at the end": (lambda given: [*given, given[0]], [8]),
    "gone": (cut(4), [4]),
    "two gone": (cut(3, 4), [3]),
    "the first gone": (cut(1), [1]),
    "of another queue": (at(3, lambda line: resummed(line, before="0" * 32)), [3, 4]),
}
"""What is done to the seven lines, and the lines of the file that are named then."""


def resummed(line: bytes, **changes: object) -> bytes:
    """The line with other content and a checksum that holds."""
    said = json.loads(line) | changes
    said.pop("sum")
    content = json.dumps(said, separators=(",", ":"))[:-1].encode()
    return content + b',"sum":"%s"}\n' % hashlib.sha256(content).hexdigest()[:32].encode()


@pytest.mark.parametrize("lost", [False, True], ids=["database there", "database lost"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_damage_is_named(
    filled: tuple[Workspace, list[str]], kind: str, lost: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, ids = filled
    change, lines = KINDS[kind]
    path = workspace.private / JOURNAL
    given = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(change(given)))
    if lost:
        lose_database(workspace)
    capsys.readouterr()
    assert run(["queue", "list", str(workspace.root)]) == 78
    said = capsys.readouterr().err
    assert [int(found) for found in re.findall(r"line (\d+) (?:is|follows) ", said)][: len(lines)] == list(lines), said
    assert "Traceback" not in said
    assert run(["queue", "check", str(workspace.root)]) == 78
    assert f"line {lines[0]} " in capsys.readouterr().out

    damaged = path.read_bytes()
    assert run(["queue", "check", str(workspace.root), "--accept-damage"]) == 0
    told = capsys.readouterr().out
    kept = [entry for entry in workspace.private.iterdir() if ".damaged-" in entry.name]
    assert [entry.read_bytes() for entry in kept] == [damaged]
    there = listed(workspace)
    if not lost:
        assert sorted(there) == sorted(ids), "what the database knows is not lost"
    assert all(one in told for one in ids if one not in there and one.encode() in damaged)
    assert run(["queue", "check", str(workspace.root)]) == 0
    lose_database(workspace)
    assert sorted(listed(workspace)) == sorted(there), "the new journal holds all that is there"
    assert hand_in(workspace, RIGHT, "Team late") in listed(workspace)


def test_truncated_files_are_noticed_by_the_database(
    filled: tuple[Workspace, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    workspace, ids = filled
    path = workspace.private / JOURNAL
    given = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(given[:4]))
    capsys.readouterr()
    assert run(["queue", "list", str(workspace.root)]) == 78
    gone = sum(map(len, given[4:]))
    assert f"line 5 and what follows are gone: {gone:,} bytes" in capsys.readouterr().err
    assert run(["queue", "check", str(workspace.root), "--accept-damage"]) == 0
    lose_database(workspace)
    assert sorted(listed(workspace)) == sorted(ids), "the database knew what the journal had lost"


def test_a_flipped_bit_anywhere_is_named(filled: tuple[Workspace, list[str]]) -> None:
    """1,000 places, drawn with a seed, under a database that has to read everything."""
    workspace, _ = filled
    path = workspace.private / JOURNAL
    whole, draws = path.read_bytes(), random.Random(20261119)
    lose_database(workspace)
    database = Database(workspace.root)
    for _ in range(1000):
        place = draws.randrange(len(whole) * 8)
        content = bytearray(whole)
        content[place // 8] ^= 1 << place % 8
        path.write_bytes(content)
        line = whole[: place // 8].count(b"\n") + 1
        with pytest.raises(OrganiserFault, match=rf"\bline {line} ") as caught, database.writing():
            pass
        assert str(caught.value.exit_code) == "78"
    path.write_bytes(whole)
    with database.writing() as connection:
        assert connection.execute("SELECT count(*) FROM submission").fetchone()[0] == TEAMS
    database.close()


def test_a_journal_of_an_older_version_goes_on_with_checksums(filled: tuple[Workspace, list[str]]) -> None:
    """Lines that have none are covered by the first that has one."""
    workspace, ids = filled
    path = workspace.private / JOURNAL
    older = []
    for line in path.read_bytes().splitlines():
        said = {key: value for key, value in json.loads(line).items() if key not in ("number", "before", "sum")}
        older.append(json.dumps(said, separators=(",", ":")).encode() + b"\n")
    path.write_bytes(b"".join(older))
    lose_database(workspace)
    assert listed(workspace) == ids
    fresh = [hand_in(workspace, RIGHT, f"Team {name}") for name in "xy"]
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [line.get("number") for line in lines] == [None] * 7 + [8, 9]
    assert lines[7]["before"] == hashlib.sha256(b"".join(older)).hexdigest()[:32]
    lose_database(workspace)
    assert listed(workspace) == [*ids, *fresh]
    path.write_bytes(path.read_bytes().replace(b"Team 1", b"Team 8"))
    assert run(["queue", "list", str(workspace.root)]) == 78


def test_a_kill_while_damage_is_accepted_loses_nothing(
    filled: tuple[Workspace, list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Broken off at each of its steps, it can be done again, with the same end."""
    workspace, ids = filled
    path = workspace.private / JOURNAL
    path.write_bytes(path.read_bytes().replace(b"Team 4", b"Team 5", 1))
    module = "sandscore.queue.homes.sqlite.submission_journal"
    for step in ("kept", "written", "taken up"):
        copy = tmp_path / step.replace(" ", "-")
        shutil.copytree(workspace.root, copy, symlinks=True)
        with monkeypatch.context() as broken:
            if step == "taken up":
                broken.setattr(f"{module}.SubmissionJournal._take_up", stopping)
            else:
                broken.setattr(f"{module}.write_synced", after(1 if step == "written" else 0))
            database = Database(copy)
            with pytest.raises(KeyboardInterrupt):
                database.accept_damage()
            database.close()
        assert run(["queue", "check", str(copy), "--accept-damage"]) == 0
        database = Database(copy)
        with database.reading() as connection:
            assert [row[0] for row in connection.execute("SELECT id FROM submission ORDER BY seq")] == ids
        database.close()
        assert run(["queue", "check", str(copy)]) == 0


def stopping(*_: object) -> int:
    raise KeyboardInterrupt


def after(writes: int) -> Callable[[Path, bytes], None]:
    from sandscore.base.whole_files import write_synced

    done: list[Path] = []

    def write(path: Path, content: bytes) -> None:
        if len(done) == writes:
            raise KeyboardInterrupt
        done.append(path)
        write_synced(path, content)

    return write

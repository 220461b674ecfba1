"""The two halves of a queue's folder, and the move of folders that older versions made.

What lies where, and with which rights, is written down in docs/organisers.md.
"""

import asyncio
import json
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from queue_samples import HALF, RIGHT, annotations, as_older_versions, challenge_folder, hand_in, queue, with_home
from submission_queue.synapse_homes import state

from sandscore.base.errors import OrganiserFault
from sandscore.cli.main import run
from sandscore.queue.attempt_files import card_name
from sandscore.queue.homes.sqlite.sqlite_database import FILE
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.homes.sqlite.sqlite_row import SqliteRow
from sandscore.queue.homes.synapse.synapse_row import SynapseRow
from sandscore.queue.homes.synapse.synapse_session import new_cache
from sandscore.queue.layout_move import update_layout
from sandscore.queue.queue_layout import owner_only
from sandscore.queue.workspace import Workspace, open_workspace
from sandscore.records.submission import Committed

DRIVE = "from sandscore.cli.main import main; main()"
LINKS = {
    "challenge.toml": "private/challenge.toml",
    "settings.json": "private/settings.json",
    "site": "public/site",
    "boards": "public/boards",
    "cards": "public/cards",
}
STEPS = ("rename", "replace", "mkdir", "chmod", "unlink", "rmdir", "symlink")
"""Of the operating system: all that a move does to a folder."""


def rights(root: Path) -> dict[str, int]:
    found = [root, *root.rglob("*")]
    return {str(path.relative_to(root)): stat.S_IMODE(path.lstat().st_mode) for path in found if not path.is_symlink()}


def expected_rights(root: Path) -> dict[str, int]:
    def of(path: Path) -> int:
        if path == root:
            return 0o711
        public = path.relative_to(root).parts[0] == "public"
        return (0o755 if public else 0o700) if path.is_dir() else (0o644 if public else 0o600)

    return {str(path.relative_to(root)): of(path) for path in [root, *root.rglob("*")] if not path.is_symlink()}


def links(root: Path) -> dict[str, str]:
    return {path.name: str(path.readlink()) for path in root.iterdir() if path.is_symlink()}


def content(root: Path) -> dict[str, bytes]:
    """Of every file but the database's, which holds what it held in other bytes."""
    found = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(root)): path.read_bytes() for path in found if not path.name.startswith(FILE)}


def rows(root: Path) -> list[Any]:
    with closing(sqlite3.connect(root / "private" / FILE)) as connection:
        return [connection.execute(f"SELECT * FROM {table}").fetchall() for table in ("submission", "attempt")]


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A queue that has scored two submissions, and one that waits: how it is to be when it was moved."""
    folder = tmp_path_factory.mktemp("worked")
    with owner_only():
        workspace = queue(folder)
        hand_in(workspace, RIGHT, "Team A")
        hand_in(workspace, HALF, "Team B")
        assert run(["queue", "work", str(workspace.root), "--once"]) == 0
        hand_in(workspace, HALF, "Team C")
    return workspace.root


@pytest.fixture
def older(worked: Path, tmp_path: Path) -> Path:
    return as_older_versions(shutil.copytree(worked, tmp_path / "q", symlinks=True))


def test_new_queues_have_two_halves(worked: Path) -> None:
    assert {path.name for path in worked.iterdir()} == {"private", "public", *LINKS}
    assert links(worked) == LINKS
    assert {path.name for path in (worked / "public").iterdir()} == {"site", "boards", "cards", "log"}


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_rights_do_not_depend_on_the_mask(tmp_path: Path, mask: int) -> None:
    """The two that every other lies between: what depends on a bit of it differs in one of them."""
    challenge, root = challenge_folder(tmp_path / "challenge"), tmp_path / "q"
    (tmp_path / "given.json").write_bytes(annotations(HALF))

    def says(*words: str) -> None:
        subprocess.run([sys.executable, "-c", DRIVE, "queue", *words], check=True, umask=mask, capture_output=True)

    says("init", str(root), "--challenge", str(challenge))
    says("submit", str(root), "--task", "date", "--team", "A", "--predictions", str(tmp_path / "given.json"))
    says("work", str(root), "--once")
    gold = json.loads((challenge.parent / "date.json").read_text())
    gold[0]["textDateAnnotations"].pop()
    (challenge.parent / "date.json").write_text(json.dumps(gold))
    says("rescore", str(root), "--apply")
    assert (root / "public" / "boards" / "date.v1.json").exists()
    assert rights(root) == expected_rights(root)


def test_an_older_queue_is_read_as_it_is_and_moved_by_the_next_worker(
    older: Path, worked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ("list", "export -o exported", "rescore --plan"):
        verb, *more = words.split()
        assert (
            run(["queue", verb, str(older), *(str(tmp_path / one) if one == "exported" else one for one in more)]) == 0
        )
    assert not (older / "private").exists()
    assert len(list((tmp_path / "exported" / "cards" / "date").iterdir())) == 2
    assert run(["queue", "work", str(older), "--once"]) == 0
    assert links(older) == LINKS
    assert rights(older) == expected_rights(older)
    for board in ("public/boards/date.json", "boards/date.json"):
        assert run(["verify", str(older / board)]) == 0
    capsys.readouterr()
    assert run(["queue", "list", str(older), "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in listed] == ["SCORED"] * 3
    workspace = open_workspace(older)
    for one in with_home(workspace, lambda home: home.submissions()):
        folder = with_home(workspace, partial(EmbeddedHome.kept, submission=one))
        assert folder is not None
        assert (folder / card_name(1)).is_file()
    assert run(["queue", "init", str(older), "--challenge", str(older / "challenge.toml")]) == 2


def test_init_moves_it_too_and_says_so(older: Path, worked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["queue", "init", str(older), "--challenge", "nothing.toml"]) == 0
    assert "keeps private/ and public/ apart" in capsys.readouterr().err
    assert (content(older), rows(older), links(older)) == (content(worked), rows(worked), LINKS)


def test_a_move_killed_after_any_step_goes_on(older: Path, worked: Path, tmp_path: Path) -> None:
    step, whole = 0, False
    while not whole:
        place = shutil.copytree(older, tmp_path / "at" / str(step), symlinks=True)
        whole = dies(partial(update_layout, place, SqliteRow()), after=step) == 0
        holds_all(place, worked)
        shutil.rmtree(place)
        step += 1
    assert step > 50, "it was killed in many places"


def test_a_move_killed_at_any_moment_goes_on(older: Path, worked: Path, tmp_path: Path) -> None:
    chance = random.Random(11)
    begun = time.monotonic()
    assert dies(lambda: update_layout(shutil.copytree(older, tmp_path / "timed", symlinks=True), SqliteRow())) == 0
    takes, killed = time.monotonic() - begun, 0
    for number in range(25):
        place = shutil.copytree(older, tmp_path / "at" / str(number), symlinks=True)
        for _ in range(2):
            killed += dies(partial(update_layout, place, SqliteRow()), within=chance.uniform(0, takes)) != 0
        holds_all(place, worked)
    assert killed > 5


def holds_all(place: Path, worked: Path) -> None:
    """It can be read where it was broken off, and is as it should be when it went on; once more changes nothing."""
    with_home(open_workspace(place), lambda home: home.submissions())
    for _ in range(2):
        update_layout(place, SqliteRow())
        assert (content(place), rows(place), links(place)) == (content(worked), rows(worked), LINKS)
        assert rights(place) == expected_rights(place)
    assert {path.name for path in place.iterdir()} == {"private", "public", *LINKS}


def dies(work: Callable[[], object], after: int | None = None, within: float | None = None) -> int:
    """In a process of its own, killed before its step ``after``, or when so much time has passed; how it ended."""
    child = os.fork()
    if not child:
        os.close(2)
        if after is not None:
            _die_at(after)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    if within is not None:
        time.sleep(within)
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code


def _die_at(step: int) -> None:
    left = step

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal left
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return real(*given, **named)

        return call

    for name in STEPS:
        setattr(os, name, counted(getattr(os, name)))


def test_what_was_only_in_the_log_of_a_killed_process_is_there(older: Path, worked: Path) -> None:
    workspace = open_workspace(older)
    child = os.fork()
    if not child:
        hand_in_and_stay(workspace)
    os.waitpid(child, 0)
    assert (older / f"{FILE}-wal").stat().st_size > 0
    assert update_layout(older, SqliteRow())
    assert not list(older.glob(f"{FILE}*"))
    listed = with_home(workspace, lambda home: home.submissions())
    assert [one.team for one in listed] == ["Team A", "Team B", "Team C", "Team D"]


def hand_in_and_stay(workspace: Workspace) -> None:
    """A connection that is never closed leaves its log behind."""
    held = sqlite3.connect(workspace.private / FILE)
    held.execute("SELECT * FROM submission").fetchall()
    hand_in(workspace, RIGHT, "Team D")
    os.kill(os.getpid(), signal.SIGKILL)


def test_nothing_is_moved_under_somebody_at_work(older: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = open_workspace(older)

    async def worker() -> None:
        home = EmbeddedHome(workspace)
        await home.open()
        [one] = await home.claimable(1)
        claim = await home.claim(one, "elsewhere/1@1", 60.0)
        assert claim is not None
        assert not update_layout(older, SqliteRow()), "a claim is live"
        assert await home.release(claim, "stopped", our_fault=False) is Committed.DONE
        assert not update_layout(older, SqliteRow()), "somebody has it open"
        await home.close()

    asyncio.run(worker())
    assert capsys.readouterr().err.count("as long as somebody works with it") == 2
    assert not (older / "private").exists()
    assert (older / FILE).exists()
    assert update_layout(older, SqliteRow())


def test_claims_of_the_dead_do_not_count(older: Path) -> None:
    claim = "import sys; sys.path[:0] = sys.argv[2:]; from submission_queue.test_queue_layout import claim_one as c; "
    command = [sys.executable, "-c", f"{claim} c(sys.argv[1])", str(older), *sys.path]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    with closing(sqlite3.connect(older / FILE)) as connection:
        [(status,)] = connection.execute("SELECT status FROM submission WHERE until IS NOT NULL").fetchall()
    assert status == "EVALUATION_IN_PROGRESS"
    assert update_layout(older, SqliteRow())


def claim_one(root: str) -> None:
    """As a worker that is killed over it."""
    from sandscore.base.process_identity import own_name

    async def claimed() -> None:
        home = EmbeddedHome(open_workspace(Path(root)))
        await home.open()
        [one] = await home.claimable(1)
        assert await home.claim(one, own_name(), 3600.0) is not None
        os.kill(os.getpid(), signal.SIGKILL)

    asyncio.run(claimed())


def test_a_file_in_the_place_of_a_link_is_newer(worked: Path, tmp_path: Path) -> None:
    root = shutil.copytree(worked, tmp_path / "q", symlinks=True)
    settings = json.loads((root / "settings.json").read_text()) | {"lease_seconds": 7.0}
    (root / "settings.json").unlink()
    (root / "settings.json").write_text(json.dumps(settings))
    assert open_workspace(root).settings.lease_seconds == 7.0
    assert not update_layout(root, SqliteRow())
    assert json.loads((root / "private" / "settings.json").read_text()) == settings
    assert (links(root), rights(root)) == (LINKS, expected_rights(root))


def test_two_databases_are_one_too_many(worked: Path, tmp_path: Path) -> None:
    root = shutil.copytree(worked, tmp_path / "q", symlinks=True)
    (root / FILE).write_bytes(b"an older copy")
    with pytest.raises(OrganiserFault, match="are both there"):
        update_layout(root, SqliteRow())


def test_copies_of_what_links_led_to_are_taken_back(worked: Path, tmp_path: Path) -> None:
    root = shutil.copytree(worked, tmp_path / "q", symlinks=False)
    assert not (root / "site").is_symlink()
    assert update_layout(root, SqliteRow())
    assert (content(root), links(root)) == (content(worked), LINKS)


def test_links_of_the_organiser_lead_where_they_led(older: Path, tmp_path: Path) -> None:
    (older / "attempts").rename(tmp_path / "big disk")
    (older / "attempts").symlink_to("../big disk")
    assert update_layout(older, SqliteRow())
    assert (older / "private" / "attempts").resolve() == tmp_path / "big disk"
    assert run(["queue", "work", str(older), "--once"]) == 0


def test_what_else_lies_there_stays_and_is_shut(older: Path) -> None:
    (older / "notes.json").write_text("[]")
    (older / "gold").mkdir(mode=0o755)
    assert update_layout(older, SqliteRow())
    assert (older / "notes.json").read_text() == "[]"
    assert {stat.S_IMODE((older / name).stat().st_mode) for name in ("notes.json", "gold")} == {0o600, 0o700}


def test_what_may_not_be_seen_becomes_private(older: Path) -> None:
    assert update_layout(older, SqliteRow(), lambda name: name == "site")
    assert links(older) == {name: to for name, to in LINKS.items() if name not in ("boards", "cards")}
    assert {path.name for path in (older / "public").iterdir()} == {"site"}
    assert (older / "private" / "boards" / "date.json").exists()
    assert rights(older) == expected_rights(older)


@contextmanager
def cache_of_a_living_process(folder: Path) -> Iterator[None]:
    cache = new_cache(folder)
    yield
    cache.rmdir()


def test_the_local_state_of_a_synapse_queue_likewise(tmp_path: Path) -> None:
    root = as_older_versions(state(tmp_path / "state", {"evaluation": "9614"}))
    (root / "results").mkdir()
    (root / "results" / "1-v1.json").write_text("{}")
    with cache_of_a_living_process(root):
        assert not update_layout(root, SynapseRow())
    (root / "synapse-cache" / "some-boot_pid:[1]_7@9+x").mkdir()
    assert update_layout(root, SynapseRow())
    known = LINKS | {"synapse.json": "private/synapse.json"}
    assert links(root) == known
    held = {path.name for path in (root / "private").iterdir()}
    assert held == {"challenge.toml", "settings.json", "salt", "synapse.json", "results", "synapse-cache"}
    assert rights(root) == expected_rights(root)
    assert SynapseRow().owns(root, {}) == "the state of the Synapse queue 9614"

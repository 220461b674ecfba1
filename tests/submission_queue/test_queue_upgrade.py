"""Queues of older versions: opened, upgraded, and never frozen without a way out that the message names.

What boards must say is what the first release published (``older_queues``).
"""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from older_queues import LATER, LaterVersion, first_board, first_release
from queue_samples import HALF, RIGHT, hand_in, queue

from sandscore import __version__
from sandscore.cli.main import run
from sandscore.queue.homes.sqlite.sqlite_database import FILE

pytestmark = pytest.mark.usefixtures("near_children")

KEPT = ("rank", "rank_set", "group", "team", "submission", "measures", "k", "p_vs_leader", "p_first", "signature")
"""What a row of the first release said that only depends on scores, rules and draws."""
OLD_RULES = {"tie_rule": "holm", "interval": "percentile", "seed_rule": "names"}


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> LaterVersion:
    return LaterVersion(tmp_path_factory.mktemp("later"))


def rows(board: Any) -> list[dict[str, Any]]:
    return [{key: row[key] for key in KEPT} for row in board["rows"]]


def shown(root: Path, slug: str) -> Any:
    return json.loads((root / "public" / "boards" / f"{slug}.json").read_bytes())


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert run(["queue", *words, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def files(root: Path) -> dict[str, bytes]:
    """All but what SQLite, the cells of readers and scoring keep beside, to be quicker."""
    found = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.name.startswith(FILE)]
    found = [path for path in found if path.parent.name not in ("counts", "indexes")]
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def test_the_plan_says_what_would_be_written_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = first_release(tmp_path)
    before = files(root)
    plan = said(capsys, "upgrade", str(root), "--plan")
    assert (plan["rules"], plan["written"]) == (OLD_RULES, None)
    assert [(board["task"], board["rows"], board["moves"]) for board in plan["boards"]] == [
        ("address", 2, []),
        ("date", 4, []),
    ]
    assert files(root) == before
    assert said(capsys, "list", str(root))[-1]["status"] == "RECEIVED"


@pytest.mark.parametrize("worked", [False, True], ids=["at once", "after a worker"])
def test_boards_of_the_first_release_stay_what_they_were(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], worked: bool
) -> None:
    """Scored anew, ranked anew, and equal to the last digit but for the version that signs. A worker that came before
    the upgrade has left them alone, and said what to do."""
    root = first_release(tmp_path)
    board, before = f"{root}/public/boards/date-final.json", first_board(tmp_path, "date-final")
    if worked:
        assert run(["queue", "work", str(root), "--once"]) == 0
        assert f"brought up to date by sandscore queue upgrade {root} --apply" in capsys.readouterr().err
        assert rows(shown(root, "date-final")) == rows(before)
        assert shown(root, "address-final") == first_board(tmp_path, "address-final")
        assert run(["verify", board]) == 0
    done = said(capsys, "upgrade", str(root), "--apply")
    assert (len(done["written"]), done["rules"]) == (6, {} if worked else OLD_RULES)
    assert 'tie_rule = "holm"\ninterval = "percentile"\nseed_rule = "names"\n' in (root / "challenge.toml").read_text()
    now = shown(root, "date-final")
    resigned = [row | {"signature": row["signature"].replace("v0.1.0", f"v{__version__}")} for row in rows(before)]
    assert (now["sandscore"], before["sandscore"]) == (__version__, "0.1.0")
    assert rows(now) == resigned
    assert len(shown(root, "address-final")["rows"]) == 2 + worked
    for key in ("seed", "gold", "units", "stability", "headline"):
        assert now[key] == before[key]
    assert [(pair["delta"], pair["p"], pair["p_holm"]) for pair in now["pairwise"]] == [
        (pair["delta"], pair["p"], pair["p_holm"]) for pair in before["pairwise"]
    ]
    assert run(["verify", board, "--log", str(root / "public/log")]) == 0
    with closing(sqlite3.connect(root / "private" / FILE)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (2,)
    again = said(capsys, "upgrade", str(root), "--apply")
    assert (again["rules"], again["written"]) == ({}, [])


def test_where_gold_is_hidden_places_stay_and_nothing_exact_is_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = first_release(tmp_path, everybody=False)
    done = said(capsys, "upgrade", str(root), "--apply")
    assert [board["moves"] for board in done["boards"]] == [[], []]
    board, before = shown(root, "date-final"), first_board(tmp_path, "date-final")
    assert [(row["submission"], row["rank"]) for row in board["rows"]] == [
        (row["submission"], row["rank"]) for row in before["rows"]
    ]
    for now, then in zip(board["rows"], before["rows"], strict=True):
        shown_f1, exact = (row["measures"]["instance_strict"]["f1"] for row in (now, then))
        assert shown_f1 != exact
        assert shown_f1 == pytest.approx(exact, abs=0.05)
    assert set(board["gold"].values()).isdisjoint(before["gold"].values())


def test_a_data_set_keeps_the_name_that_its_first_boards_gave_it(tmp_path: Path) -> None:
    """Its folder is moved before the upgrade, and once more afterwards."""
    root = first_release(tmp_path)
    lay = "data"
    for lies in ("moved", "again"):
        (tmp_path / lay).rename(tmp_path / lies)
        settings = json.loads((root / "settings.json").read_bytes())
        (root / "settings.json").write_text(json.dumps(settings | {"data": {"": str(tmp_path / lies)}}))
        assert run(["queue", "upgrade", str(root), "--apply"]) == 0
        assert run(["queue", "work", str(root), "--once"]) == 0
        assert [*shown(root, "address-final")["gold"]] == [*first_board(tmp_path, "address-final")["gold"]] == ["data"]
        assert json.loads((root / "settings.json").read_bytes())["names"] == {"": "data"}
        lay = lies
    assert len(shown(root, "address-final")["rows"]) == 3


def test_rules_that_an_organiser_chose_are_not_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = first_release(tmp_path)
    challenge = root / "challenge.toml"
    challenge.write_text('tie_rule = "stepdown"\n' + challenge.read_text())
    assert "tie_rule" not in said(capsys, "upgrade", str(root), "--plan")["rules"]
    assert run(["queue", "upgrade", str(root), "--apply"]) == 0
    assert shown(root, "date-final")["config"]["tie_rule"] == "stepdown"
    assert challenge.read_text().count("tie_rule") == 1


@pytest.mark.parametrize("verb", ["upgrade", "rescore"])
def test_a_board_of_two_versions_names_the_way_out(tmp_path: Path, later: LaterVersion, verb: str) -> None:
    workspace = queue(tmp_path)
    right, half = hand_in(workspace, RIGHT, "Right"), hand_in(workspace, HALF, "Half")
    root = str(workspace.root)
    assert run(["queue", "work", root, "--once"]) == 0
    late = hand_in(workspace, RIGHT, "Late")
    frozen = later.ran(["queue", "work", root, "--once"])
    assert "not the same version (0." in frozen.stderr
    assert f"brought up to date by sandscore queue upgrade {root} --apply" in frozen.stderr
    assert [row["submission"] for row in shown(workspace.root, "date")["rows"]] == [right, half]
    plan = json.loads(later.says("queue", "upgrade", root, "--plan", "--format", "json"))
    assert [(one["id"], one["before"], one["after"]) for one in plan["groups"][0]["submissions"]] == [
        (right, 1.0, 1.0),
        (half, 0.8, 0.8),
    ]
    # 1, 1 and 4/5 by hand: the late one shares the first place, and Half comes third
    moves = {one["submission"]: (one["rank_before"], one["rank_after"]) for one in plan["boards"][0]["moves"]}
    assert (moves[late], moves[half]) == ((None, 1), (2, 3))
    written = json.loads(later.says("queue", verb, root, "--apply", "--format", "json"))["written"]
    assert sorted(written) == sorted([right, half])
    board = shown(workspace.root, "date")
    assert (board["sandscore"], len(board["rows"])) == (LATER, 3)
    assert run(["verify", str(workspace.boards / "date.json")]) == 0


STEPS = """
import os, sqlite3
left = [{after}]
def counted(real):
    def step(*given, **named):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), 9)
        return real(*given, **named)
    return step
for name in ("replace", "rename", "fsync", "symlink", "unlink", "mkdir", "chmod"):
    setattr(os, name, counted(getattr(os, name)))
import atexit
atexit.register(lambda: print("steps", -left[0]))
"""
"""Counts what is asked of the operating system, and dies at one of them."""


@pytest.mark.slow
def test_an_upgrade_that_was_killed_goes_on(tmp_path: Path, later: LaterVersion) -> None:
    original = first_release(tmp_path / "kept")
    challenge = original / "challenge.toml"
    challenge.write_text("resamples = 100\nrandomisations = 99\n" + challenge.read_text())
    words = ["queue", "upgrade", str(tmp_path / "q"), "--apply"]

    def upgraded(die_at: int) -> tuple[int, int, list[Any]]:
        shutil.rmtree(tmp_path / "q", ignore_errors=True)
        shutil.copytree(original, tmp_path / "q")
        first = later.ran(words, STEPS.format(after=die_at))
        last = later.ran(words) if first.returncode else first
        assert last.returncode == 0, last.stderr
        found = [rows(shown(tmp_path / "q", slug)) for slug in ("date-final", "address-final")]
        with closing(sqlite3.connect(tmp_path / "q" / "private" / FILE)) as database:
            versions = [row[0] for row in database.execute("SELECT version FROM submission WHERE status='SCORED'")]
        assert versions == [2] * 6
        return first.returncode, int(first.stdout.rpartition("steps ")[2] or 0), found

    code, steps, whole = upgraded(0)
    assert (code, [len(board) for board in whole]) == (0, [4, 2])
    assert steps > 50
    for die_at in range(5, steps, steps // 4):
        code, _, found = upgraded(die_at)
        assert (code, found) == (-9, whole), die_at


def test_all_cards_count_at_once_or_none(tmp_path: Path, later: LaterVersion) -> None:
    """A worker that reads the queue while it is upgraded never finds some of the cards new and others old."""
    workspace = queue(tmp_path)
    for team in "ABCDEF":
        hand_in(workspace, HALF, team)
    root = str(workspace.root)
    assert run(["queue", "work", root, "--once"]) == 0
    seen = f"""
import sqlite3
from sandscore.queue.homes.sqlite.sqlite_admin import SqliteAdmin
real = SqliteAdmin.add_version
def looked(*given):
    with sqlite3.connect({str(workspace.private / FILE)!r}) as other:
        print("seen", other.execute("SELECT count(DISTINCT version) FROM submission").fetchone()[0])
    return real(*given)
SqliteAdmin.add_version = looked
"""
    ran = later.ran(["queue", "upgrade", root, "--apply"], seen)
    assert (ran.returncode, ran.stdout.count("seen 1"), ran.stdout.count("seen")) == (0, 6, 6)


def test_a_queue_that_is_worked_with_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = first_release(tmp_path)
    with closing(sqlite3.connect(root / FILE)) as worker:
        worker.execute("PRAGMA journal_mode=WAL")
        worker.execute("BEGIN")
        worker.execute("SELECT count(*) FROM submission").fetchone()
        before = (root / "challenge.toml").read_bytes()
        assert run(["queue", "upgrade", str(root), "--apply"]) == 75
    assert "stop its workers" in capsys.readouterr().err
    assert (root / "challenge.toml").read_bytes() == before


@pytest.mark.parametrize("options", [[], ["--plan", "--apply"]], ids=["neither", "both"])
def test_either_plan_or_apply(tmp_path: Path, options: list[str]) -> None:
    assert run(["queue", "upgrade", str(queue(tmp_path).root), *options]) == 2

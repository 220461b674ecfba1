"""Phases of a year: workers follow challenge.toml while they work, refuse a broken edit, and no clock misleads them."""

import datetime
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from queue_samples import HALF, RIGHT, hand_in, queue, with_home
from submission_queue.test_claims import INVALID, Queue

from sandscore.base.clock import utc_now
from sandscore.base.errors import ParticipantFault
from sandscore.challenges.challenge_reading import parse_challenge, read_challenge
from sandscore.cli.main import run
from sandscore.queue import edited_challenge
from sandscore.queue.edited_challenge import following
from sandscore.queue.new_submission import open_phase
from sandscore.queue.workspace import Workspace, asked_workspace, open_workspace, said_challenge
from sandscore.records.submission import Committed, Signal

pytestmark = pytest.mark.usefixtures("near_children")

DRIVE = "from sandscore.cli.main import main; main()"
PHASES = """
challenge = "year"
resamples = 100
randomisations = 99
data = {notes = "public", gold = "public"}

[quota]
total = 3

[[phases]]
name = "spring"
feedback = "blind"
opens = 2026-03-01T00:00:00Z
closes = 2026-05-31T23:59:59Z

[[phases]]
name = "autumn"
opens = 2026-09-01T00:00:00Z
closes = 2026-11-30T23:59:59Z
quota = {day = 1}
"""
MONTH = datetime.timedelta(days=30)
IN_MAY = datetime.datetime(2026, 5, 20, 12, tzinfo=datetime.UTC)


def clock(monkeypatch: pytest.MonkeyPatch, moment: datetime.datetime) -> None:
    """Every clock on the wall in this process; how long the machine is up is another matter."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sandscore.") and hasattr(module, "utc_now"):
            monkeypatch.setattr(module, "utc_now", lambda: moment)


@pytest.mark.parametrize(
    ("after", "open_", "said"),
    [
        pytest.param(-3 * MONTH, None, "no phase takes submissions now", id="before any opens"),
        pytest.param(0 * MONTH, "spring", None, id="within"),
        pytest.param(MONTH, None, "no phase takes submissions now", id="between"),
        pytest.param(5 * MONTH, "autumn", None, id="the next"),
        pytest.param(9 * MONTH, None, "no phase takes submissions now", id="after all"),
    ],
)
def test_phases_open_and_close_by_the_clock(after: datetime.timedelta, open_: str | None, said: str | None) -> None:
    challenge = parse_challenge(PHASES.encode(), "challenge.toml")
    if said is None:
        assert open_phase(challenge, None, IN_MAY + after) == open_
        return
    with pytest.raises(ParticipantFault, match=said):
        open_phase(challenge, None, IN_MAY + after)


@pytest.mark.parametrize(
    ("moment", "taken"),
    [
        ("2026-02-28T23:59:59Z", False),
        ("2026-03-01T00:00:00Z", True),
        ("2026-05-31T23:59:59Z", True),
        ("2026-06-01T00:00:00Z", False),
    ],
)
def test_the_first_and_the_last_second(moment: str, taken: bool) -> None:
    challenge = parse_challenge(PHASES.encode(), "challenge.toml")
    now = datetime.datetime.fromisoformat(moment)
    if taken:
        assert open_phase(challenge, "spring", now) == "spring"
        return
    with pytest.raises(ParticipantFault, match=r"'spring' (opens|closed) at 2026-"):
        open_phase(challenge, "spring", now)


def test_a_quota_holds_across_tasks_and_where_a_phase_has_none_of_its_own_across_phases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three in all, of any task; autumn's own is one a day and counts nothing but autumn's."""
    workspace = queue(tmp_path, PHASES)
    data = tmp_path / "challenge"
    (data / "address.json").write_bytes((data / "date.json").read_bytes().replace(b"textDate", b"textPhysicalAddress"))
    address = (data / "address.json").read_bytes()
    clock(monkeypatch, IN_MAY)
    hand_in(workspace, RIGHT)
    (tmp_path / "address.json").write_bytes(address)
    words = ["queue", "submit", str(workspace.root), "--task", "address", "--team", "Team A"]
    for _ in range(2):
        assert run([*words, "--predictions", str(tmp_path / "address.json")]) == 0
    with pytest.raises(ParticipantFault, match="all 3 submissions it may make in all"):
        hand_in(workspace, HALF)
    hand_in(workspace, HALF, team="Team B")
    clock(monkeypatch, IN_MAY + 5 * MONTH)
    hand_in(workspace, HALF)
    with pytest.raises(ParticipantFault, match="all 1 submissions it may make in a day"):
        hand_in(workspace, HALF)
    clock(monkeypatch, IN_MAY + 5 * MONTH + datetime.timedelta(days=1))
    hand_in(workspace, HALF)
    clock(monkeypatch, IN_MAY)
    with pytest.raises(ParticipantFault, match="all 3 submissions it may make in all"):
        hand_in(workspace, HALF)


@pytest.mark.parametrize("jump", [MONTH, -MONTH], ids=["forward", "back"])
def test_a_clock_that_jumps_takes_no_lease_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: datetime.timedelta
) -> None:
    held = Queue(queue(tmp_path))
    now = utc_now()
    claim = held.claim()
    clock(monkeypatch, now + jump)
    assert held.refused()
    assert held.heartbeat(claim) is Signal.GO_ON
    second = hand_in(held.workspace, HALF, "Team B")
    assert held.commit(claim, INVALID) is Committed.DONE
    clock(monkeypatch, now)
    third = hand_in(held.workspace, RIGHT, "Team C")
    assert run(["queue", "work", str(held.workspace.root), "--once"]) == 0
    every = with_home(held.workspace, lambda home: home.submissions())
    assert [(one.id, str(one.status), one.attempt) for one in every] == [
        (held.id, "INVALID", 1),
        (second, "SCORED", 1),
        (third, "SCORED", 1),
    ]


@pytest.mark.parametrize("jump", [MONTH, -MONTH], ids=["forward", "back"])
def test_a_back_off_lasts_as_long_as_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: datetime.timedelta
) -> None:
    held = Queue(queue(tmp_path, first_wait_seconds=100.0))
    now = utc_now()
    claim = held.claim()
    held.release(claim)
    clock(monkeypatch, now + jump)
    left = with_home(held.workspace, lambda home: home.seconds_until_claimable())
    assert left is not None
    assert 0 < left <= 101.0


def test_what_is_in_force_goes_to_other_processes_as_it_was_read(tmp_path: Path) -> None:
    """The example's challenge, one of phases, and one with a task of its own: equal after the journey."""
    workspace = queue(tmp_path)
    own = 'challenge = "c"\n[tasks.rank]\narray = "textRankAnnotations"\nlabel = "rank"\nlabels = ["a", "b"]\n'
    example = read_challenge(Path(__file__).parents[2] / "gold/example/challenge.toml")
    for challenge in (example, *(parse_challenge(text.encode(), "c") for text in (PHASES, own))):
        arrived = asked_workspace(workspace.root, said_challenge(challenge))
        assert arrived.challenge == challenge
        assert arrived.own_tasks == Workspace(workspace.root, challenge, workspace.settings).own_tasks
        assert arrived.challenge.model_fields_set == challenge.model_fields_set


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        pytest.param("challenge = ", "is not TOML", id="half written"),
        pytest.param('challenge = "siege"\nheadline = "instance_strickt"\n', "line 2: headline", id="unknown measure"),
        pytest.param('challenge = "siege"\ntie_rule = "hold"\n', "line 2", id="unknown rule"),
    ],
)
def test_an_edit_that_cannot_be_used_is_said_once_and_the_last_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], edit: str, said: str
) -> None:
    monkeypatch.setattr(edited_challenge, "_LOOK_SECONDS", 0.0)
    root = queue(tmp_path).root
    followed = following(open_workspace(root))
    before, path = followed.challenge, root / "challenge.toml"
    path.write_text(edit)
    for _ in range(3):
        assert followed.challenge is before
    assert capsys.readouterr().err.count(said) == 1
    path.unlink()
    assert followed.challenge is before
    path.write_text('challenge = "siege"\ntie_rule = "holm"\n')
    assert followed.challenge.tie_rule == "holm"
    assert "it is in force" in capsys.readouterr().err


def until(what: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.1)


def shown(board: Path) -> list[float | None]:
    """F1 of each row, as everybody sees it."""
    rows = json.loads(board.read_bytes())["rows"]
    return [row["measures"]["instance_strict"]["f1"] for row in rows if "instance_strict" in row["measures"]]


def test_a_worker_follows_edits_while_it_works(tmp_path: Path) -> None:
    """A blind phase opens its eyes, a broken edit comes and goes, another goes blind; the worker goes on."""
    text = PHASES.replace("opens = 2026-03-01T00:00:00Z\ncloses = 2026-05-31T23:59:59Z\n", "")
    workspace = queue(tmp_path, text)
    root, board = workspace.root, workspace.boards / "date-spring.json"
    autumn = workspace.boards / "date-autumn.json"
    hand_in(workspace, HALF, phase="spring")
    words = ["queue", "work", str(root), "--board-every", "0.2"]
    with (tmp_path / "said").open("w") as said:
        worker = subprocess.Popen(
            [sys.executable, "-c", DRIVE, *words], stderr=said, stdout=said, env=os.environ | {"PYTHONUNBUFFERED": "1"}
        )
    try:
        until(board.exists)
        assert shown(board) != [0.8]
        challenge = root / "challenge.toml"
        challenge.write_text(text.replace('feedback = "blind"', 'feedback = "full"'))
        # 2 of 3 annotations, no mistake: F1 is 2*2/(2*2+1) = 4/5, by hand
        until(lambda: shown(board) == [0.8])
        mended = challenge.read_text()
        challenge.write_text(mended + "[[phases]]\nname = ")
        until(lambda: "the edit is not used" in (tmp_path / "said").read_text())
        before = open_workspace_as(mended, workspace)
        late = hand_in(before, RIGHT, "Team B", phase="autumn", arrived=IN_MAY + 5 * MONTH)
        until(lambda: autumn.exists() and shown(autumn) == [1.0])
        challenge.write_text(mended.replace('name = "autumn"', 'name = "autumn"\nfeedback = "blind"'))
        until(lambda: shown(autumn) != [1.0])
    finally:
        worker.terminate()
        assert worker.wait(60) == 0, (tmp_path / "said").read_text()
    assert late in (tmp_path / "said").read_text()
    assert "Traceback" not in (tmp_path / "said").read_text()


def open_workspace_as(text: str, workspace: Workspace) -> Workspace:
    """The queue as somebody sees it who has not read the broken file."""
    return Workspace(workspace.root, parse_challenge(text.encode(), "challenge.toml"), workspace.settings)

"""Small parts of the queue: waits, limits, owners, and what a board is made of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from queue_samples import HALF, RIGHT, hand_in, queue, with_home

from sandscore.base.clock import LONGEST_SECONDS, wait_after
from sandscore.base.process_identity import gone, own_name
from sandscore.cli.main import run
from sandscore.queue.board_making import BoardGroup, shown
from sandscore.queue.challenge_limits import limits_of, protocol_of
from sandscore.queue.children.child_messages import ScoredSubmission
from sandscore.records.challenge import Limits
from sandscore.records.ranking_rules import BoardRules

pytestmark = pytest.mark.usefixtures("near_children")


@pytest.mark.parametrize(("failures", "seconds"), [(1, 5), (2, 10), (4, 40), (50, LONGEST_SECONDS)])
def test_waits_double_and_end(failures: int, seconds: float) -> None:
    assert wait_after(failures) == seconds


def test_limits_of_the_challenge_reach_the_run() -> None:
    limits = limits_of(Limits(memory="512m", cpus=2, processes=64, time_limit=90, output="8m", hardening="compat"))
    assert (limits.memory_bytes, limits.cpus, limits.processes) == (512 << 20, 2, 64)
    assert (limits.total_seconds, limits.output_bytes) == (90, 8 << 20)
    assert (limits.hardening, limits.capabilities) == ("compat", ("SETUID", "SETGID"))
    model = limits_of(Limits(ready_time=900, note_time=60, image_size="20g", gpus="all"))
    assert (model.ready_seconds, model.note_seconds, model.image_bytes) == (900, 60, 20 << 30)
    assert (model.gpus, limits.gpus) == ("all", None)
    assert [protocol_of(Limits(batch=said)) for said in (None, False, True)] == ["service", "service", "batch"]


def test_what_the_challenge_leaves_out_stays() -> None:
    assert limits_of(Limits()).memory_bytes == 2 << 30


def test_a_process_is_gone_only_when_that_is_certain() -> None:
    program = "from sandscore.base.process_identity import own_name; print(own_name())"
    dead = subprocess.check_output([sys.executable, "-c", program], text=True).strip()
    assert not gone(own_name())
    assert gone(dead)
    place, _, process = own_name().rpartition("/")
    assert gone(f"{place}/{os.getpid()}@1"), "the number was given to another process"
    assert not gone(f"another machine/{process}")
    assert not gone("nonsense")


def scored(name: str, team: str, score: float | None, created: str) -> ScoredSubmission:
    return ScoredSubmission(name, team, "date", None, 1, created, score, False, "")


def test_a_board_shows_all_or_each_teams_best() -> None:
    members = [
        scored("a1", "A", 0.5, "1"),
        scored("a2", "A", 0.9, "2"),
        scored("a3", "A", 0.9, "3"),
        scored("b1", "B", None, "1"),
    ]
    group = BoardGroup("date", None, BoardRules(), members)
    assert [one.id for one in shown(group, 4)] == ["a1", "a2", "a3", "b1"]
    assert [one.id for one in shown(group, 3)] == ["a2", "b1"]


def test_the_ladder_tells_each_submission_what_was_known_when_it_came(tmp_path: Path) -> None:
    """By hand: 4/5 rounded to thirds (3 patients) is 2/3. Whatever the second learns, the third, the first once
    more, cannot be better than it and learns nothing new."""
    workspace = queue(tmp_path, 'challenge = "ladder"\nresamples = 100\nfeedback = "ladder"\n')
    ids = [hand_in(workspace, spans) for spans in (HALF, RIGHT, HALF)]
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    found = {one.id: one for one in with_home(workspace, lambda home: home.submissions())}
    told = [found[one].feedback for one in ids]
    assert all(view is not None for view in told)
    released = [view["measures"]["instance_strict"]["f1"] for view in told]  # type: ignore[index]
    assert released == [pytest.approx(2 / 3), released[1], released[1]]
    assert len(list(workspace.boards.glob("date.json"))) == 1


def test_a_site_whose_writer_was_killed_is_made_anew(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    (workspace.site / "site.json").unlink()
    hand_in(workspace, HALF, "Team B")
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    assert (workspace.site / "site.json").exists()
    assert "Team B" in (workspace.site / "date" / "index.html").read_text(encoding="utf-8")

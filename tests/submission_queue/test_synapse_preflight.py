"""What is asked before a worker begins, and what ends one that is refused for good."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.running import Ran, sandscore
from submission_queue.standin.world import ORGANISER
from submission_queue.synapse_homes import QUICK
from submission_queue.synapse_standin import LOST, TOKEN, Fault, Queue

from sandscore.base.bundled_content import example_gold, submissions
from sandscore.queue.homes.synapse.synapse_access import check_access
from sandscore.queue.homes.synapse.synapse_preflight import scopes_of

pytestmark = pytest.mark.usefixtures("near_children")

CHALLENGE = example_gold() / "challenge.toml"
GOOD = (submissions() / "date-good" / "predictions.json").read_bytes()
EXAMPLE = CHALLENGE.read_text(encoding="utf-8")
WITH_QUOTA, WITHOUT_QUOTA = (EXAMPLE.replace("day = 5\ntotal = 100\n", own) for own in ("day = 2\n", ""))


def init(queue: Queue, state: Path, *more: Any, challenge: str | None = None) -> Ran:
    file = state.parent / "challenge.toml"
    file.write_text(challenge or EXAMPLE, encoding="utf-8")
    where = ["--synapse", queue.id, "--synapse-config", queue.config(), "--state", state, "--data", example_gold()]
    quick = [
        word
        for name, value in (QUICK | {"retry_seconds": 2.0}).items()
        for word in ("--synapse-option", f"{name}={json.dumps(value) if name != 'task' else value}")
    ]
    return sandscore("queue", "init", "--challenge", file, *where, *quick, *more)


def work(state: Path, *more: str) -> Ran:
    return sandscore("queue", "work", "--once", "--state", state, *more)


def without(queue: Queue, right: str) -> None:
    access = queue.world.evaluations[queue.id]["access"]
    access[ORGANISER] = [one for one in access[ORGANISER] if one != right]


def view_only(queue: Queue) -> None:
    queue.world.scopes[TOKEN] = ["view"]


def no_update(queue: Queue) -> None:
    without(queue, "UPDATE_SUBMISSION")


def no_folders(queue: Queue) -> None:
    queue.world.acls[queue.project]["resourceAccess"][0]["accessType"] = ["READ", "DOWNLOAD", "UPDATE"]


def no_certificate(queue: Queue) -> None:
    queue.world.uncertified = {ORGANISER}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (view_only, "the token lacks the scopes modify, download"),
        (no_update, f"the account lacks UPDATE_SUBMISSION on the evaluation queue {9614}"),
        (no_folders, "the account lacks CREATE, CHANGE_PERMISSIONS in syn"),
        (no_certificate, "no certified user"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_made(
    queue: Queue, tmp_path: Path, spoil: Callable[[Queue], None], said: str
) -> None:
    spoil(queue)
    ran = init(queue, tmp_path / "state")
    assert (ran.code, said in ran.err) == (78, True), ran.err
    assert not (tmp_path / "state").exists()
    assert any(said in one.found and one.by == "organiser" for one in check_access(queue.config(), queue.id))


def test_everything_that_is_missing_is_said_at_once(queue: Queue, tmp_path: Path) -> None:
    for spoil in (view_only, no_folders, no_certificate):
        spoil(queue)
    ran = init(queue, tmp_path / "state")
    assert all(word in ran.err for word in ("scopes", "CHANGE_PERMISSIONS", "certified")), ran.err


def test_init_says_what_teams_will_see_and_who_keeps_the_quota(queue: Queue, tmp_path: Path) -> None:
    ran = init(queue, tmp_path / "state", challenge=WITH_QUOTA)
    assert ran.code == 0, ran.err
    for said in ("status file", "2001 may READ the queue", "2 a day, enforced by workers", "how it ended"):
        assert said in ran.out, said
    assert json.loads((tmp_path / "state" / "settings.json").read_bytes())["lease_seconds"] == 600


def test_scopes_are_read_from_a_token_that_has_them() -> None:
    """The claim of a personal access token, as the client reads it (core/credentials/cred_data.py)."""
    body = base64.urlsafe_b64encode(json.dumps({"access": {"scope": ["view", "modify"]}}).encode()).decode()
    assert scopes_of(f"head.{body.rstrip('=')}.tail") == ["view", "modify"]
    for strange in ("", "x", "a.b.c", f"a.{base64.urlsafe_b64encode(b'[]').decode()}.c", TOKEN):
        assert scopes_of(strange) is None


@pytest.mark.parametrize(("spoil", "said"), [(view_only, "insufficient_scope"), (no_update, "lacks UPDATE_SUBMISSION")])
def test_a_worker_that_is_refused_for_good_ends(
    queue: Queue, tmp_path: Path, spoil: Callable[[Queue], None], said: str
) -> None:
    key = queue.submit_file(GOOD)
    assert init(queue, tmp_path / "state").code == 0
    spoil(queue)
    ran = work(tmp_path / "state")
    assert (ran.code, said in ran.err, "Traceback" in ran.err) == (78, True, False), ran.err
    assert queue.status(key) == "RECEIVED"


def test_a_passing_refusal_ends_nobody(queue: Queue, tmp_path: Path) -> None:

    key = queue.submit_file(GOOD)
    assert init(queue, tmp_path / "state").code == 0
    queue.standin.faults = [Fault("PUT", "/status$", 403, times=2)]
    ran = work(tmp_path / "state")
    assert (ran.code, queue.status(key)) == (0, "SCORED"), ran.err


# Quotas


def test_workers_enforce_the_quota_when_they_claim(queue: Queue, tmp_path: Path) -> None:
    """Two a day: of four valid ones the first two are scored; an INVALID one uses up no slot; requeue asks no quota."""
    state = tmp_path / "state"
    assert init(queue, state, challenge=WITH_QUOTA).code == 0
    broken = queue.submit_file(b"{")
    assert work(state).code == 0
    keys = [queue.submit_file(GOOD) for _ in range(4)]
    other = queue.submit_file(GOOD, team="3001")
    assert work(state).code == 0
    assert queue.status(broken) == "INVALID"
    assert [queue.status(key) for key in keys] == ["SCORED", "SCORED", "REJECTED", "REJECTED"]
    assert queue.status(other) == "SCORED"
    assert "all 2 submissions it may make in a day; the next slot opens at" in queue.annotations(keys[2])["reason"]
    subjects = [one["subject"] for one in queue.world.messages]
    assert [subjects.count(f"Your submission {key} for the task date was refused") for key in keys] == [0, 0, 1, 1]
    assert sandscore("queue", "requeue", keys[2], "--state", state).code == 0
    assert work(state).code == 0
    assert queue.status(keys[2]) == "SCORED"


def test_the_quota_is_written_into_the_rounds_once(queue: Queue, tmp_path: Path) -> None:
    """A queue without rounds gets one; the second time nothing changes, and then workers have nothing to refuse."""

    queue.standin.faults = [Fault("POST", "/round$", LOST)]
    ran = init(queue, tmp_path / "a", "--write-quota", challenge=WITH_QUOTA)
    assert (ran.code, "2 a day, kept by the queue's rounds" in ran.out) == (0, True), ran.err
    (made,) = queue.world.rounds[queue.id].values()
    assert made["limits"] == [{"limitType": "DAILY", "maximumSubmissions": 2}]
    before = dict(made)
    assert init(queue, tmp_path / "b", "--write-quota", challenge=WITH_QUOTA).code == 0
    assert list(queue.world.rounds[queue.id].values()) == [before]
    for _ in range(3):
        queue.submit_file(GOOD)
    assert work(tmp_path / "a").code == 0
    assert sum(one["status"] == "SCORED" for one in queue.world.statuses.values()) == 3
    made["limits"][0]["maximumSubmissions"] = 7
    key = queue.submit_file(GOOD)
    ran = work(tmp_path / "a")
    assert ("do not have the quota" in ran.err, queue.status(key)) == (True, "REJECTED"), ran.err


def test_rounds_that_are_there_get_the_limits_and_keep_the_rest(queue: Queue, tmp_path: Path) -> None:
    monthly = {"limitType": "MONTHLY", "maximumSubmissions": 9}
    times = {"evaluationId": queue.id, "roundStart": "2000-01-01T00:00:00.000Z"}
    over = {"id": "1", "etag": "a", "roundEnd": "2000-02-01T00:00:00.000Z"} | times
    running = {"id": "2", "etag": "b", "roundEnd": "2999-01-01T00:00:00.000Z", "limits": [monthly]} | times
    queue.world.rounds[queue.id] = {"1": over, "2": running}
    ran = init(queue, tmp_path / "a", "--write-quota", challenge=WITH_QUOTA)
    assert ran.code == 0, ran.err
    assert queue.world.rounds[queue.id]["1"] == over
    assert queue.world.rounds[queue.id]["2"]["limits"] == [monthly, {"limitType": "DAILY", "maximumSubmissions": 2}]


def test_what_cannot_be_written_is_said(queue: Queue, tmp_path: Path) -> None:
    nothing = init(queue, tmp_path / "a", "--write-quota", challenge=WITHOUT_QUOTA)
    assert (nothing.code, "no [quota]" in nothing.err) == (78, True), nothing.err
    without(queue, "UPDATE")
    ran = init(queue, tmp_path / "a", "--write-quota", challenge=WITH_QUOTA)
    assert (ran.code, "UPDATE on the queue" in ran.err) == (78, True), ran.err

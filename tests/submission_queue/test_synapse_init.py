"""``queue init --synapse`` makes a worker's state; the other verbs know from it which queue is meant."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.running import Ran, sandscore
from submission_queue.synapse_standin import Queue

from sandscore.base.bundled_content import example_gold, submissions

pytestmark = pytest.mark.usefixtures("near_children")

GOOD = (submissions() / "date-good" / "predictions.json").read_bytes()
CHALLENGE = example_gold() / "challenge.toml"
QUICK = ("poll_seconds=0", "retry_seconds=1.0", "requests_per_minute=100000")


def init(queue: Queue, state: Path, *options: str, number: str | None = None, more: tuple[Any, ...] = ()) -> Ran:
    settings = [word for option in options for word in ("--synapse-option", option)]
    where = ["--synapse", number or queue.id, "--synapse-config", queue.config(), "--state", state]
    return sandscore("queue", "init", *where, "--challenge", CHALLENGE, *settings, *more)


def test_the_other_verbs_need_only_the_state(queue: Queue, tmp_path: Path) -> None:
    state, key = tmp_path / "state", queue.submit_file(GOOD)
    made = init(queue, state, *QUICK, "task=date", 'organisers=["1001"]', more=("--lease", "600", "--format", "json"))
    assert made.code == 0, made.err
    assert json.loads(made.out)["synapse"] == queue.id
    written = json.loads((state / "synapse.json").read_bytes())
    assert (written["evaluation"], written["task"], written["organisers"]) == (queue.id, "date", ["1001"])
    assert json.loads((state / "settings.json").read_bytes())["lease_seconds"] == 600
    assert not (state / "queue.sqlite").exists()
    for words in (["work", "--once", "--state", state], ["work", "--once", state]):
        ran = sandscore("queue", *words)
        assert ran.code == 0, ran.err
    assert queue.status(key) == "SCORED"
    listed = sandscore("queue", "list", "--state", state, "--format", "json")
    assert [(one["id"], one["status"]) for one in json.loads(listed.out)] == [(key, "SCORED")]
    for verb in (["show", key], ["requeue", key], ["cancel", key]):
        ran = sandscore("queue", *verb, "--state", state)
        assert ran.code == 0, ran.err
    assert queue.status(key) == "REJECTED"
    both = ["--synapse", queue.id, "--synapse-config", queue.config(), "--state", state]
    assert sandscore("queue", "list", *both).code == 0


def test_one_machine_of_several_makes_boards_and_keeps_the_log(queue: Queue, tmp_path: Path) -> None:
    """The other works and sends its cards; the log has a line for what it scored, and a board that holds against it."""
    boards, hands, key = tmp_path / "boards", tmp_path / "hands", queue.submit_file(GOOD)
    assert init(queue, boards, *QUICK, "task=date", "share_cards=true").code == 0
    (hands / "private").mkdir(parents=True)
    (hands / "private" / "salt").write_bytes((boards / "private" / "salt").read_bytes())
    (hands / "private" / "salt").chmod(0o600)
    assert init(queue, hands, *QUICK, "task=date", "share_cards=true", "publish=false").code == 0
    ran = sandscore("queue", "work", "--once", "--state", hands)
    assert (ran.code, queue.status(key)) == (0, "SCORED"), ran.err
    assert not [*(hands / "public").rglob("*.json*"), *(hands / "private").glob("logbook/*")]
    assert sandscore("queue", "receipt", key, "--state", hands).code == 2
    ran = sandscore("queue", "work", "--once", "--state", boards)
    assert ran.code == 0, ran.err
    (board,) = (boards / "public" / "boards").glob("*.json")
    ran = sandscore("verify", board, "--log", boards / "public" / "log")
    assert (ran.code, "line 4 of 4 is about this board" in ran.out) == (0, True), ran.out + ran.err
    assert sandscore("queue", "receipt", key, "--state", boards).code == 0


@pytest.mark.parametrize(
    ("options", "number", "code", "said"),
    [
        pytest.param([], "404404", 78, "no evaluation queue 404404", id="no such queue"),
        pytest.param(["task=address-of"], None, 78, "no gold for the task 'address-of'", id="no such task"),
        pytest.param(["tusk=date"], None, 2, "known are annotate_scores", id="no such key"),
        pytest.param(["wiki=perhaps"], None, 2, "wiki", id="no such value"),
        pytest.param(["task"], None, 2, "KEY=VALUE", id="no value"),
        pytest.param(["evaluation=1"], None, 2, "each KEY once", id="twice"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_made(
    queue: Queue, tmp_path: Path, options: list[str], number: str | None, code: int, said: str
) -> None:
    ran = init(queue, tmp_path / "state", *options, number=number)
    assert (ran.code, said in ran.err) == (code, True), ran.err
    assert not (tmp_path / "state").exists()


def test_a_token_that_is_not_accepted(queue: Queue, tmp_path: Path) -> None:
    where = ["--synapse", queue.id, "--synapse-config", queue.config("wrong-token"), "--state", tmp_path / "state"]
    ran = sandscore("queue", "init", *where, "--challenge", CHALLENGE)
    assert (ran.code, "accepts no token" in ran.err, "wrong-token" in ran.err) == (78, True, False)


def test_commands_that_contradict_the_folder(queue: Queue, tmp_path: Path) -> None:
    state, plain = tmp_path / "state", tmp_path / "plain"
    assert init(queue, state, "task=date").code == 0
    assert sandscore("queue", "init", plain, "--challenge", CHALLENGE).code == 0
    faults: list[tuple[list[Any], str]] = [
        (["init", state, "--challenge", CHALLENGE], f"the state of the Synapse queue {queue.id} already"),
        (["init", "--synapse", queue.id, "--challenge", CHALLENGE], "needs --state DIR"),
        (["init", plain, "--synapse", queue.id, "--state", state, "--challenge", CHALLENGE], "no other folder"),
        (["init", "--state", state, "--challenge", CHALLENGE], "with --synapse and --state"),
        (["init", "--challenge", CHALLENGE], "name the DIR to make"),
        (["list", "--synapse", "1", "--state", state], f"the state of the queue {queue.id}, not of 1"),
        (["list", "--synapse", queue.id], f"queue init --synapse {queue.id} --state DIR"),
        (["list", "--state", plain], "does not say which queue"),
        (["list"], "name the queue's DIR"),
        (["submit", state, "--task", "date", "--team", "A", "--image", "x"], "are made on Synapse"),
    ]
    for words, said in faults:
        ran = sandscore("queue", *words)
        assert (ran.code, said in ran.err) == (2, True), f"{words}: {ran.code} {ran.err}"

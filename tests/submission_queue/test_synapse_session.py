"""Connecting: what is wrong is said in a sentence with the right exit code, and the token is said nowhere."""

import asyncio
import io
import json
import logging
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from cli.running import sandscore
from released_samples import words
from submission_queue.synapse_homes import claimed, open_synapse_home, opened, run, scored, state
from submission_queue.synapse_standin import TOKEN, Fault, Queue

from sandscore.base.errors import InfrastructureFault, MissingFile, OrganiserFault, UsageFault
from sandscore.queue.homes.synapse.synapse_errors import clean
from sandscore.queue.homes.synapse.synapse_session import new_cache
from sandscore.records.submission import Committed, Event, Notice


def opening(queue: Queue, evaluation: str = "9614", token: str = TOKEN, **given: object) -> None:
    async def once() -> None:
        home = open_synapse_home(evaluation, queue.config(token), state(queue.folder / "w", **given))  # type: ignore[arg-type]
        try:
            await home.open()
        finally:
            await home.close()
            await home.close()

    asyncio.run(once())


def test_a_configuration_that_is_not_there_is_named(tmp_path: Path, queue: Queue) -> None:
    home = open_synapse_home("9614", tmp_path / "nowhere", state(tmp_path / "w"))
    with pytest.raises(MissingFile, match="nowhere"):
        asyncio.run(home.open())


def test_packages_that_are_missing_are_named(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sandscore.queue.homes.synapse.synapse_session.find_spec", lambda name: None if name == "pandas" else name
    )
    with pytest.raises(UsageFault, match=r"needs pandas: pip install 'sandscore\[synapse\]'"):
        opening(queue)


def test_a_token_that_is_not_accepted_is_the_organisers_to_mend(queue: Queue) -> None:
    with pytest.raises(OrganiserFault, match="accepts no token") as caught:
        opening(queue, token="a-wrong-token")
    assert "a-wrong-token" not in str(caught.value)


@pytest.mark.parametrize(("evaluation", "token"), [("1", TOKEN), ("9614", "participant-token")])
def test_a_queue_that_may_not_be_served_says_what_is_needed(queue: Queue, evaluation: str, token: str) -> None:
    with pytest.raises(OrganiserFault, match="READ_PRIVATE_SUBMISSION"):
        opening(queue, evaluation, token)


def test_a_service_that_is_down_is_worth_another_try(queue: Queue) -> None:
    queue.standin.faults = [Fault("GET", "bundle/all", 503, times=99)]
    with pytest.raises(InfrastructureFault, match="503"):
        opening(queue, options={"retry_seconds": 0.2})


def test_an_error_without_a_reason_is_survived(tmp_path: Path) -> None:
    """The client stumbles over a JSON error that gives no reason."""

    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        async with opened(queue) as home:
            queue.world.unreasoned = True
            queue.standin.faults = [Fault("GET", "bundle/all", 400)]
            with pytest.raises(InfrastructureFault, match="cannot be understood"):
                await home.submissions()
            assert len(await home.submissions()) == 1

    run(tmp_path, test)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"poll": 3}', "synapse.json is not the Synapse options of a queue: /poll: unknown key"),
        ('{"logs": "folder"}', "of a queue: /logs: "),
        ("{", "of a queue: it is not JSON: line 1, column 2: "),
        ('{"task": "phi"}', "no gold for the task 'phi'"),
        ('{"phase": "final"}', "must name the phase of this queue"),
    ],
)
def test_options_that_are_wrong_are_named(queue: Queue, content: str, told: str) -> None:
    folder = state(queue.folder / "w")
    (folder / "synapse.json").write_text(content, encoding="utf-8")
    with pytest.raises(OrganiserFault) as caught:
        asyncio.run(open_synapse_home("9614", queue.config(), folder).open())
    assert told in str(caught.value)


def test_no_token_in_any_output_file_or_error(tmp_path: Path) -> None:
    """A whole life, with everything that is logged anywhere caught at its most talkative."""
    said, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(said), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)

    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        queue.standin.faults = [Fault("PUT", "/status$", 503), Fault("POST", "/message$", 500)]
        async with opened(queue) as home:
            claim = await claimed(home)
            await home.fetch_predictions(claim, tmp_path / "out.json", 10)
            await home.notify(Notice(claim.submission, 1, Event.SCORED, words("subject", "text")))
            assert await home.commit(claim, scored()) is Committed.DONE
            queue.standin.faults.append(Fault("GET", "bundle/all", 401))
            with pytest.raises(InfrastructureFault) as caught:
                await home.submissions()
            said.write(str(caught.value))
        kept = [path for path in (queue.folder / "w").rglob("*") if path.is_file()]
        assert kept
        assert not [path for path in kept if TOKEN.encode() in path.read_bytes()]

    try:
        with redirect_stdout(said), redirect_stderr(said):
            run(tmp_path, test)
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert "may not have arrived" in said.getvalue(), "nothing was caught"
    assert TOKEN not in said.getvalue()
    assert "X-Amz-Signature=" not in said.getvalue().replace("X-Amz-Signature=[hidden]", "")


def test_what_could_be_a_token_is_hidden() -> None:
    text = f"Authorization: Bearer {TOKEN}\n authtoken = abc ?X-Amz-Signature=f00&x=1 eyJ0eXAi.eyJz.abc-_"
    hidden = "Authorization: Bearer [hidden] authtoken = [hidden] ?X-Amz-Signature=[hidden]&x=1 [hidden]"
    assert clean(text) == hidden


def test_verbs_take_a_synapse_queue(tmp_path: Path, queue: Queue) -> None:
    """list, cancel and requeue; a submission of another queue is not touched."""
    key, other = queue.submit_file(b"{}"), queue.submit_file(b"{}")
    queue.world.evaluations["1"] = queue.world.evaluations["9614"]
    queue.world.submissions[other]["evaluationId"] = "1"
    where = ["--synapse", "9614", "--synapse-config", queue.config(), "--state", state(tmp_path / "w")]
    listed = json.loads(sandscore("queue", "list", *where, "--format", "json").out)
    assert [(one["id"], one["status"], one["team"]) for one in listed] == [(key, "RECEIVED", "user-2001")]
    assert sandscore("queue", "cancel", key, *where).code == 0
    assert queue.status(key) == "REJECTED"
    assert sandscore("queue", "requeue", key, *where).code == 0
    assert [sandscore("queue", "cancel", one, *where).code for one in (other, "77", "nonsense")] == [2, 2, 2]
    assert (queue.status(key), queue.status(other)) == ("RECEIVED", "RECEIVED")


def test_caches_of_dead_processes_are_removed_and_of_living_ones_kept(tmp_path: Path) -> None:
    first = new_cache(tmp_path)
    dead = first.with_name(first.name.replace(f"{os.getpid()}@", "999999999@"))
    dead.mkdir()
    second = new_cache(tmp_path)
    assert set((tmp_path / "synapse-cache").iterdir()) == {first, second}

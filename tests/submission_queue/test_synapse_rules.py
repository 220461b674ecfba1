"""Synapse's own rules: what an account may ask, the order of lists, what a participant with SUBMIT alone can do."""

import asyncio
import io
import json
import random
import tarfile
import time
import zipfile
from collections import Counter
from contextlib import AsyncExitStack
from gzip import compress
from pathlib import Path
from typing import Any

import pytest
import synapseclient
import zstandard
from cli.running import sandscore
from submission_queue.standin.world import PARTICIPANT, Limits
from submission_queue.synapse_homes import claimed, opened, run, scored, state
from submission_queue.synapse_standin import LOST, LOST_503, Fault, Queue
from synapseclient.core.exceptions import SynapseHTTPError
from synapseclient.models import File, Submission

from sandscore.base.bundled_content import submissions
from sandscore.base.errors import ParticipantFault
from sandscore.queue.homes.synapse import synapse_files
from sandscore.queue.homes.synapse.board_wiki import BoardWiki
from sandscore.records.submission import Committed, Signal, Status, Verdict

GOOD = (submissions() / "date-good" / "predictions.json").read_bytes()
STATUS = r"/submission/\d+/status$"


def worker_state(queue: Queue, name: str = "w", **more: Any) -> Path:
    options = {"evaluation": queue.id, "config": str(queue.config())} | more
    return state(queue.folder / name, options)


def work(folder: Path, *more: str) -> Any:
    return sandscore("queue", "work", "--once", "--state", folder, *more)


def test_workers_share_one_budget_and_write_a_status_twice(tmp_path: Path) -> None:
    """Three homes of one state, at the real pace: not one answer is 429, and three connections are the most."""

    async def test(queue: Queue) -> None:
        keys = [queue.submit_file(b"{}") for _ in range(2)]
        queue.world.limits = limits = Limits()
        usual: dict[str, Any] = {"options": {"requests_per_minute": 540, "send_logs": False, "send_messages": False}}
        async with AsyncExitStack() as stack:
            homes = [await stack.enter_async_context(opened(queue, "shared", **usual)) for _ in range(3)]

            async def one(number: int) -> None:
                for submission in await homes[number].claimable(2):
                    claim = await homes[number].claim(submission, f"w{number}", 600)
                    if claim is not None:
                        assert await homes[number].heartbeat(claim) is Signal.GO_ON
                        assert await homes[number].commit(claim, scored()) is Committed.DONE

            await asyncio.gather(*(one(number) for number in range(3)))
        assert {queue.status(key) for key in keys} == {"SCORED"}
        assert limits.refused == []
        assert 1 <= limits.most_at_once <= 3
        assert set(Counter(key for key, *_ in queue.world.status_history).values()) == {2}

    run(tmp_path, test)


def test_a_worker_that_is_throttled_without_a_word_slows_down(tmp_path: Path) -> None:
    """429 and no Retry-After: asked again after one second, two, and so on, not ten times a second."""

    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        async with opened(queue, options={"retry_seconds": 20}) as home:
            (seen,) = await home.claimable(1)
            queue.standin.faults = [Fault("PUT", STATUS, 429, times=2)]
            begun = time.monotonic()
            assert await home.claim(seen, "w1", 30) is not None
        assert time.monotonic() - begun > 2.9
        assert queue.standin.count("PUT", STATUS) == 3

    run(tmp_path, test)


def test_lists_in_no_order_are_whole(tmp_path: Path) -> None:
    """Two hundred and fifty submissions whose three pages are cut from a new order each time."""

    async def test(queue: Queue) -> None:
        keys = [queue.submit_file(b"{}") for _ in range(250)]
        queue.world.shuffled = random.Random(5)
        async with opened(queue) as home:
            assert [one.id for one in await home.submissions()] == keys
            assert [one.id for one in await home.claimable(3)] == keys[:3]

    run(tmp_path, test)


def test_requeue_takes_our_scores_away_and_nothing_else(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        theirs = {
            "baseline_f1": {"type": "DOUBLE", "value": [0.25]},
            "seen": {"type": "TIMESTAMP_MS", "value": ["1700000000000"]},
            "checked": {"type": "BOOLEAN", "value": ["true"]},
        }
        queue.change(key, submissionAnnotations={"id": key, "etag": "x", "annotations": theirs})
        async with opened(queue) as home:
            assert await home.commit(await claimed(home), scored()) is Committed.DONE
            assert "instance_strict_f1" in queue.annotations(key)
            assert await home.requeue(key)
        held = queue.world.statuses[key]["submissionAnnotations"]["annotations"]
        assert {name: held[name] for name in theirs} == theirs
        assert set(held) - set(theirs) <= {"private_queue", "private_disclosed"}

    run(tmp_path, test)


def test_no_score_of_an_earlier_verdict_stands_beside_a_later_one(tmp_path: Path) -> None:
    """Another tool lets the submission wait again, and nobody takes our scores away before it fails."""

    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            assert await home.commit(await claimed(home), scored()) is Committed.DONE
            assert "instance_strict_f1" in queue.annotations(key)
            queue.change(key, status="RECEIVED")
            assert await home.commit(await claimed(home), Verdict(Status.INVALID, None)) is Committed.DONE
        assert queue.status(key) == "INVALID"
        assert "instance_strict_f1" not in queue.annotations(key)

    run(tmp_path, test)


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("predictions.json", GOOD)
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        facts = tarfile.TarInfo("predictions.json")
        facts.size = len(GOOD)
        archive.addfile(facts, io.BytesIO(GOOD))
    return out.getvalue()


def test_what_is_compressed_is_unpacked_and_archives_are_called_that(queue: Queue) -> None:
    found = {name: queue.submit_file(data) for name, data in (("zip", zipped()), ("tar", tarred()))}
    fine, damaged, bomb = (
        queue.submit_file(data) for data in (compress(GOOD), compress(GOOD)[:-9], compress(bytes(10**8)))
    )
    ran = work(worker_state(queue))
    assert ran.code == 0, ran.err
    for name, key in found.items():
        assert f"a {name} archive was submitted" in queue.annotations(key)["reason"]
    assert queue.status(fine) == "SCORED"
    for key in (damaged, bomb):
        assert "the submitted .gz file is damaged, or larger than" in queue.annotations(key)["reason"]


def test_what_zstandard_packed_is_unpacked(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.write_bytes(zstandard.compress(GOOD))
    synapse_files._open_up(part, len(GOOD))
    assert part.read_bytes() == GOOD
    part.write_bytes(zstandard.compress(GOOD)[:-9])
    with pytest.raises(ParticipantFault, match=r"the submitted \.zst file is damaged, or larger than"):
        synapse_files._open_up(part, len(GOOD))


@pytest.mark.parametrize(
    ("head", "named"),
    [
        ("377abcaf271c", "7z archive"),
        ("526172211a0700", "rar archive"),
        ("fd377a585a00", "xz file"),
        ("425a6839", "bzip2 file"),
    ],
)
def test_other_archives_are_called_that(tmp_path: Path, head: str, named: str) -> None:
    """Their first bytes, as 7zFormat.txt, RAR's technical note, xz-file-format.txt and bzip2 have them."""
    (tmp_path / "part").write_bytes(bytes.fromhex(head) + bytes(300))
    with pytest.raises(ParticipantFault, match=named):
        synapse_files._open_up(tmp_path / "part", 1000)


# Starting, and the root of the wiki


def test_a_worker_waits_for_synapse_at_its_start(queue: Queue) -> None:
    """503 for longer than a call is repeated."""
    key = queue.submit_file(GOOD)
    folder = worker_state(queue, retry_seconds=0.2, call_seconds=5)
    queue.standin.faults = [Fault("GET", "bundle/all", 503, times=4), Fault("GET", "/evaluation/9614$", LOST)]
    ran = work(folder)
    assert (ran.code, queue.status(key), "trying again" in ran.err) == (0, "SCORED", True), ran.err


@pytest.mark.parametrize("kind", [LOST, LOST_503, 503])
def test_the_root_of_the_wiki_is_made_once(tmp_path: Path, kind: str | int) -> None:
    """A second try at a root that is there is a 400 (V2DBOWikiPageDaoImpl: "A root wiki already exists")."""

    async def test(queue: Queue) -> None:
        async with opened(queue) as home:
            queue.standin.faults = [Fault("POST", "/wiki2$", kind)]
            wiki = BoardWiki(home._session, queue.project)  # type: ignore[attr-defined]
            await wiki.write("Board", "rows")
        titles = sorted(page["title"] for page in queue.world.wikis[queue.project].values())
        assert titles == ["Board", "Leaderboards"]

    run(tmp_path, test)


# Participants


def participant(queue: Queue) -> synapseclient.Synapse:
    client = synapseclient.Synapse(configPath=str(queue.config("participant-token")), skip_checks=True, silent=True)
    client.login(silent=True)
    return client


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_under_submit_alone_the_standard_client_fails_after_it_has_submitted(queue: Queue, tmp_path: Path) -> None:
    """It submits, and then reads the queue for its receipt. ``silent`` and the model do not."""
    queue.world.evaluations[queue.id]["access"][PARTICIPANT] = ["SUBMIT"]
    client = participant(queue)
    path = tmp_path / "predictions.json"
    path.write_bytes(GOOD)
    file = File(path=str(path), parent_id=queue.private).store(synapse_client=client)
    with pytest.raises(SynapseHTTPError, match="READ"):
        client.submit(queue.id, file.id)
    assert len(queue.world.submissions) == 1
    client.submit(queue.id, file.id, silent=True)
    Submission(evaluation_id=queue.id, entity_id=str(file.id)).store(synapse_client=client)
    assert len(queue.world.submissions) == 3
    ran = work(worker_state(queue))
    assert ran.code == 0, ran.err
    with pytest.raises(SynapseHTTPError):
        client.restGET(f"/evaluation/submission/{min(queue.world.submissions)}/status")
    seen = [one for one in queue.world.entities.values() if one["name"].endswith("_status.json")]
    assert len(seen) == 3
    for one in seen:
        assert queue.world.allowed(PARTICIPANT, one["id"], "DOWNLOAD")
        assert json.loads(queue.world.contents[one["dataFileHandleId"]])["state"] == "SCORED"


# Draining


@pytest.mark.parametrize("home", ["synapse", "sqlite"])
def test_a_queue_that_drains_claims_nothing(queue: Queue, tmp_path: Path, home: str) -> None:
    from sandscore.base.bundled_content import example_gold

    if home == "synapse":
        key, where = queue.submit_file(GOOD), ["--state", worker_state(queue)]
    else:
        where = [tmp_path / "q"]
        made = sandscore("queue", "init", *where, "--challenge", example_gold() / "challenge.toml")
        assert made.code == 0, made.err
        (tmp_path / "p.json").write_bytes(GOOD)
        words = ["--task", "date", "--team", "A", "--predictions", tmp_path / "p.json"]
        key = sandscore("queue", "submit", *where, *words).out.split()[0]

    def status() -> str:
        listed = json.loads(sandscore("queue", "list", *where, "--format", "json").out)
        return str(next(one["status"] for one in listed if one["id"] == key))

    def draining() -> bool:
        return bool(json.loads(sandscore("queue", "status", *where, "--format", "json").out)["draining"])

    assert sandscore("queue", "drain", *where, "--why", "new disks").out == "draining\n"
    assert sandscore("queue", "drain", *where).out == "draining already\n"
    assert sandscore("queue", "work", "--once", *where).code == 0
    assert (status(), draining()) == ("RECEIVED", True)
    assert "sandscore_queue_draining 1" in sandscore("queue", "status", *where, "--format", "prometheus").out
    assert sandscore("queue", "undrain", *where).code == 0
    assert sandscore("queue", "undrain", *where).out == "it was not draining\n"
    assert sandscore("queue", "work", "--once", *where).code == 0
    assert (status(), draining()) == ("SCORED", False)
    assert "new disks" in sandscore("queue", "history", *where).out

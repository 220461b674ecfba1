"""Logs: to the submitter and behind a lock, and never at the cost of a submission."""

import json
from pathlib import Path
from typing import Any

import pytest
from released_samples import released
from submission_queue.standin.world import ORGANISER, OTHER, PARTICIPANT
from submission_queue.synapse_homes import claimed, opened, run, scored
from submission_queue.synapse_standin import LOST, Fault, Queue

from sandscore.queue.attempt_files import write_team_file
from sandscore.records.submission import CANCELLED, Committed, Status, Verdict


def attempt(folder: Path) -> Path:
    folder.mkdir()
    (folder / "log.txt").write_text("what the annotator said, [masked]\n", encoding="utf-8")
    (folder / "run.json").write_text("{}", encoding="utf-8")
    (folder / "card.v1.json").write_text('{"per_note": "of gold"}', encoding="utf-8")
    (folder / "problems.json").write_bytes(b"")
    write_team_file(folder, "log.txt", released("what the annotator said"))
    return folder


def children(queue: Queue, parent: str) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in queue.world.entities.values() if one["parentId"] == parent}


def test_the_log_goes_to_the_submitter_and_the_rest_behind_a_lock(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        async with opened(queue) as home:
            claim = await claimed(home)
            assert await home.commit(claim, scored(folder=attempt(tmp_path / "attempt"))) is Committed.DONE
        folders = children(queue, queue.project)
        assert set(folders) == {"2001", "2001_LOCKED"}
        open_folder, locked = folders["2001"]["id"], folders["2001_LOCKED"]["id"]
        assert set(children(queue, open_folder)) == {f"{key}_attempt_1_log.txt", f"{key}_status.json"}
        assert set(children(queue, locked)) == {f"{key}_attempt_1_log.txt", f"{key}_attempt_1_run.json"}
        may = {
            who: (queue.world.allowed(who, open_folder, "DOWNLOAD"), queue.world.allowed(who, locked, "READ"))
            for who in (ORGANISER, PARTICIPANT, OTHER)
        }
        assert may == {ORGANISER: (True, True), PARTICIPANT: (True, False), OTHER: (False, False)}
        assert not any(b"per_note" in data for data in queue.world.contents.values())

    run(tmp_path, test)


def test_the_status_file_says_at_every_turn_where_a_submission_stands(tmp_path: Path) -> None:
    """All that a team with SUBMIT alone sees of it; of scores those that its phase releases, not the exact ones."""

    async def test(queue: Queue) -> None:
        cancel = "on the page of the challenge's submissions, or by asking the organisers"

        def said(key: str) -> dict[str, Any]:
            found = children(queue, children(queue, queue.project)["2001"]["id"])[f"{key}_status.json"]
            content: dict[str, Any] = json.loads(queue.world.contents[found["dataFileHandleId"]])
            assert (content.pop("submission"), queue.world.allowed(PARTICIPANT, found["id"], "DOWNLOAD")) == (key, True)
            return content

        def stands(state: str, reason: str | None = None, measures: Any = None, cancel: str | None = None) -> Any:
            return {"state": state, "reason": reason, "measures": measures, "cancel": cancel}

        good, bad, back, late, waiting, flagged = (queue.submit_file(b"{}") for _ in range(6))
        told = {"measures": {"instance_strict": {"f1": 0.5}}}
        async with opened(queue) as home:
            claim = await claimed(home)
            assert said(good) == stands("EVALUATION_IN_PROGRESS", cancel=cancel)
            assert await home.commit(claim, scored(feedback=released(told))) is Committed.DONE
            assert said(good) == stands("SCORED", measures=told["measures"])
            assert (
                await home.commit(await claimed(home), Verdict(Status.INVALID, released("no JSON"))) is Committed.DONE
            )
            assert said(bad) == stands("INVALID", "no JSON")
            claim = await claimed(home)
            queue.change(back, cancelRequested=True)
            assert await home.commit(claim, scored()) is Committed.CANCELLED
            assert said(back) == stands("REJECTED", CANCELLED)
            assert await home.commit(await claimed(home), scored(feedback=None)) is Committed.DONE
            assert said(late) == stands("SCORED")
            await home.publish_feedback((await home.submissions())[3], released(told))
            assert said(late) == stands("SCORED", measures=told["measures"])
            assert await home.cancel(waiting)
            assert said(waiting) == stands("REJECTED", CANCELLED)
            queue.change(flagged, canCancel=True, cancelRequested=True)
            assert await home.claim((await home.submissions())[5], "w1", 30) is None
            assert said(flagged) == stands("REJECTED", CANCELLED)

    run(tmp_path, test)


def test_nothing_is_uploaded_before_the_folder_is_locked(tmp_path: Path) -> None:
    """In the project participants may read everything that has no access list of its own."""

    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        queue.standin.faults = [Fault("POST", "/acl$", 403, times=9)]
        async with opened(queue) as home:
            claim = await claimed(home)
            assert await home.commit(claim, scored(folder=attempt(tmp_path / "attempt"))) is Committed.DONE
        assert queue.status(key) == "SCORED"
        assert queue.standin.count("POST", "/acl$", 403) > 0
        assert queue.standin.count("POST", "/file/multipart") == 0

    run(tmp_path, test)


def test_logs_in_a_folder_of_the_organisers_choice(tmp_path: Path) -> None:
    """It inherits its access list, so who organises is read from the project."""

    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        chosen = queue.world.entity(ORGANISER, "Logs", queue.project, "org.sagebionetworks.repo.model.Folder")["id"]
        async with opened(queue, options={"logs": chosen}) as home:
            await home.commit(await claimed(home), scored(folder=attempt(tmp_path / "attempt")))
        locked = children(queue, chosen)["2001_LOCKED"]["id"]
        assert queue.world.allowed(ORGANISER, locked, "READ")
        assert not queue.world.allowed(PARTICIPANT, locked, "READ")

    run(tmp_path, test)


def test_a_folder_that_somebody_opened_is_locked_again(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}"), queue.submit_file(b"{}")
        async with opened(queue, "a") as home:
            await home.commit(await claimed(home), scored(folder=attempt(tmp_path / "one")))
        locked = children(queue, queue.project)["2001_LOCKED"]["id"]
        rows = queue.world.acls[locked]["resourceAccess"]
        rows.append({"principalId": int(OTHER), "accessType": ["READ", "DOWNLOAD"]})
        async with opened(queue, "b") as home:
            await home.commit(await claimed(home), scored(folder=attempt(tmp_path / "two")))
        assert not queue.world.allowed(OTHER, locked, "READ")

    run(tmp_path, test)


@pytest.mark.parametrize("kind", [LOST, 503], ids=["lost", "throttled"])
def test_an_upload_that_has_to_be_repeated_leaves_one_file(tmp_path: Path, kind: str | int) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")
        queue.standin.faults = [Fault("POST", "/entity$", kind, after=1), Fault("PUT", "^/storage/part", kind)]
        async with opened(queue) as home:
            claim = await claimed(home)
            assert await home.commit(claim, scored(folder=attempt(tmp_path / "attempt"))) is Committed.DONE
        folders = children(queue, queue.project)
        held = [len(children(queue, folders[name]["id"])) for name in ("2001", "2001_LOCKED")]
        stored = [one for one in queue.world.entities.values() if "_attempt_1_" in one["name"]]
        assert (held, len(stored)) == ([2, 2], 3)

    run(tmp_path, test)


def test_another_machine_makes_the_board_from_shared_cards(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        shared: dict[str, Any] = {"options": {"share_cards": True}}
        async with opened(queue, "a", **shared) as a, opened(queue, "b", **shared) as b, opened(queue, "c") as c:
            claim = await claimed(a)
            place = queue.folder / "a" / "private" / "attempts" / key / f"1-{claim.nonce[:12]}"
            place.parent.mkdir(parents=True)
            assert await a.commit(claim, scored(folder=attempt(place))) is Committed.DONE
            (one,) = await b.submissions()
            folder = await b.kept(one)
            assert folder is not None
            assert folder.is_relative_to(queue.folder / "b")
            assert (folder / "card.v1.json").read_text() == '{"per_note": "of gold"}'
            await a.submissions(), await c.submissions()
            assert (await a.kept(one), await c.kept(one)) == (place, None)
        locked = children(queue, queue.project)["2001_LOCKED"]["id"]
        (card,) = (one for one in queue.world.entities.values() if "card.v1.json" in one["name"])
        assert card["parentId"] == locked

    run(tmp_path, test)

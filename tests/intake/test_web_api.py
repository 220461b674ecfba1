"""The API: what comes in is on disk before the answer, what may not is refused before its body, and by which code."""

import datetime
import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from queue_samples import CHALLENGE, HALF, RIGHT, WRONG_PLACE, annotations, queue, with_home
from starlette.testclient import TestClient

from sandscore.cli.main import run
from sandscore.intake import login_throttle, web_api
from sandscore.intake.login_throttle import networks
from sandscore.intake.submission_intake import PARTS
from sandscore.intake.team_registry import TeamRegistry
from sandscore.intake.web_application import application
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.queue_layout import CHALLENGE as CHALLENGE_FILE
from sandscore.queue.queue_layout import edited_path
from sandscore.queue.workspace import Workspace, open_workspace
from sandscore.records.submission import Submission

GIVEN = annotations(RIGHT)
NOON = datetime.datetime(2026, 11, 18, 12, 0, tzinfo=datetime.UTC)


class Door:
    """A queue with two teams, and its application."""

    def __init__(self, workspace: Workspace, client: TestClient, tokens: dict[str, str]) -> None:
        self.workspace, self.client, self.tokens = workspace, client, tokens

    def ask(self, method: str, path: str, team: str = "A", **more: Any) -> Any:
        headers = {"authorization": f"Bearer {self.tokens[team]}"} | more.pop("headers", {})
        return self.client.request(method, f"/api/v1{path}", headers=headers, **more)

    def hand_in(self, content: bytes = GIVEN, team: str = "A", query: str = "task=date", key: str | None = None) -> Any:
        headers = {} if key is None else {"idempotency-key": key}
        return self.ask(
            "POST", f"/submissions?{query}", team, files={"predictions": ("p.json", content)}, headers=headers
        )

    def submissions(self) -> list[Submission]:
        async def read(home: EmbeddedHome) -> list[Submission]:
            return list(await home.submissions())

        return with_home(self.workspace, read)


def door_of(folder: Path, configuration: str = CHALLENGE, **settings: Any) -> Iterator[Door]:
    workspace = queue(folder, configuration, **settings)
    registry = TeamRegistry(workspace)
    tokens = {}
    for team in ("A", "B"):
        registry.add(team, None, "test")
        tokens[team] = registry.issue(team, "somebody", "test")
    made = application(workspace.root, networks(login_throttle.LOOPBACK), secure=False)
    with TestClient(made, follow_redirects=False, client=("203.0.113.7", 4711)) as client:
        yield Door(workspace, client, tokens)


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    yield from door_of(tmp_path)


def code(answer: Any) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == answer.status_code
    assert told["type"] == f"urn:sandscore:{told['code']}"
    return answer.status_code, told["code"]


@pytest.mark.slow
def test_from_a_file_to_a_score_and_what_the_team_is_told(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    answer = door.hand_in()
    assert answer.status_code == 201
    made = answer.json()
    assert answer.headers["location"] == f"/api/v1/submissions/{made['id']}"
    digest = hashlib.sha256(GIVEN).hexdigest()
    assert made["receipt"]["content"] == f"sha256:{digest}"
    assert (door.workspace.files / digest).read_bytes() == GIVEN
    assert [*(door.workspace.private / "intake" / PARTS).iterdir()] == []
    assert run(["queue", "work", str(door.workspace.root), "--once"]) == 0
    capsys.readouterr()
    assert run(["queue", "show", str(door.workspace.root), made["id"], "--team-view", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    seen = door.ask("GET", f"/submissions/{made['id']}").json()
    assert seen == shown
    assert seen["status"] == "SCORED"
    [listed] = door.ask("GET", "/submissions").json()
    assert listed.items() <= seen.items()
    receipt = door.ask("GET", f"/submissions/{made['id']}/receipt").json()
    assert receipt == made["receipt"]
    assert code(door.ask("DELETE", f"/submissions/{made['id']}")) == (409, "ended")
    assert door.client.get("/").headers["location"] == "/site/"
    assert door.client.get("/site/").status_code == 200


def test_a_team_sees_nothing_of_another(door: Door) -> None:
    """Whether it exists or not: the answers are the same byte for byte."""
    made = door.hand_in(team="B").json()["id"]
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/receipt")):
        other = door.ask(method, f"/submissions/{made}{path}")
        nobody = door.ask(method, f"/submissions/{'0' * 12}{path}")
        assert code(other) == code(nobody) == (404, "not_found")
        assert other.content == nobody.content
    assert door.ask("GET", "/submissions").json() == []
    assert door.submissions()[0].status == "RECEIVED"


def test_cancel(door: Door) -> None:
    made = door.hand_in().json()["id"]
    called = door.ask("DELETE", f"/submissions/{made}").json()
    assert (called["status"], called["reason"]) == ("REJECTED", "cancelled")


def test_a_repeated_post_is_one_submission(tmp_path: Path) -> None:
    """Also when the quota is used up and the phase has closed meanwhile; another body under the key is refused."""
    for door in door_of(tmp_path, f"{CHALLENGE}[quota]\ntotal = 1\n"):
        again = [door.hand_in(key="k1").json()["id"] for _ in range(3)]
        assert len({*again}) == len(door.submissions()) == 1
        assert code(door.hand_in(annotations(HALF), key="k1")) == (409, "key_reused")
        assert code(door.hand_in(annotations(HALF), key="k2")) == (429, "over_quota")
        assert door.hand_in(team="B", key="k1").status_code == 201, "a key is a team's own"
        assert code(door.hand_in(key="x" * 201)) == (400, "bad_request")


def test_the_key_outlives_a_lost_database(door: Door) -> None:
    made = door.hand_in(key="k").json()["id"]
    for path in door.workspace.private.glob("queue.sqlite*"):
        path.unlink()
    assert run(["queue", "init", str(door.workspace.root), "--challenge", "unused.toml"]) == 0
    tokens, workspace = door.tokens, door.workspace
    fresh = application(workspace.root, networks(login_throttle.LOOPBACK), secure=False)
    with TestClient(fresh) as client:
        assert Door(workspace, client, tokens).hand_in(key="k").json()["id"] == made


def test_when_the_next_slot_opens_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At noon, with a slot a day: twelve hours."""
    monkeypatch.setattr(web_api, "utc_now", lambda: NOON)
    monkeypatch.setattr("sandscore.intake.problem_details.utc_now", lambda: NOON)
    monkeypatch.setattr("sandscore.intake.team_views.utc_now", lambda: NOON)
    for door in door_of(tmp_path, f"{CHALLENGE}[quota]\nday = 2\n"):
        door.hand_in()
        [phase] = door.ask("GET", "/phases").json()["phases"]
        assert phase["quota"] == [{"window": "day", "limit": 2, "left": 1, "resets": "2026-11-19T00:00:00Z"}]
        assert (phase["next_slot"], phase["refused"]) == (None, None)
        door.hand_in()
        refused = door.hand_in()
        assert code(refused) == (429, "over_quota")
        assert refused.headers["retry-after"] == str(12 * 3600)
        assert refused.json()["exit_code"] == 65
        [phase] = door.ask("GET", "/phases").json()["phases"]
        assert phase["next_slot"] == "2026-11-19T00:00:00Z"


PHASES = """
[[phases]]
name = "first"
closes = 2026-11-18T12:00:00Z
[[phases]]
name = "second"
opens = 2026-11-18T11:00:00Z
"""


@pytest.mark.parametrize(
    ("seconds", "query", "expected"),
    [
        (0, "task=date&phase=first", 201),
        (1, "task=date&phase=first", (403, "phase_closed")),
        (0, "task=date", (422, "invalid")),
        (1, "task=date", 201),
        (-7200, "task=date&phase=second", (403, "phase_closed")),
        (0, "task=date&phase=third", (422, "invalid")),
        (0, "task=person&phase=first", (422, "invalid")),
        (0, "task=nonsense&phase=first", (422, "invalid")),
        (0, "phase=first", (422, "invalid")),
    ],
)
def test_on_time_is_when_the_headers_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, query: str, expected: object
) -> None:
    monkeypatch.setattr(web_api, "utc_now", lambda: NOON + datetime.timedelta(seconds=seconds))
    for door in door_of(tmp_path, CHALLENGE + PHASES):
        answer = door.hand_in(query=query)
        assert (answer.status_code if expected == 201 else code(answer)) == expected
        if expected == 201:
            assert (
                door.submissions()[0].created[:19] == f"{NOON + datetime.timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}"
            )


def test_tokens_and_their_throttle(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten wrong ones a minute an address; a right one always passes, and a revoked one is wrong at once."""
    wrong = {"authorization": f"Bearer {door.tokens['A'][:-1]}~"}
    assert code(door.client.get("/api/v1/phases")) == (401, "unauthorized")
    seen = [code(door.ask("GET", "/phases", headers=wrong)) for _ in range(12)]
    assert seen == [(401, "unauthorized")] * 10 + [(429, "throttled")] * 2
    assert door.ask("GET", "/phases").status_code == 200
    later = time.time() + 61
    monkeypatch.setattr("sandscore.intake.login_throttle.time.time", lambda: later)
    assert code(door.ask("GET", "/phases", headers=wrong)) == (401, "unauthorized")
    TeamRegistry(door.workspace).revoke("A", door.tokens["A"].partition(".")[0], "test")
    assert code(door.ask("GET", "/phases")) == (401, "unauthorized")


def test_sizes_and_kinds_are_looked_at_first(tmp_path: Path) -> None:
    for door in door_of(tmp_path, most_bytes=1000):
        assert code(door.hand_in(b"x" * 70_000)) == (413, "too_large"), "by its headers"
        assert code(door.hand_in(b"x" * 1001)) == (413, "too_large"), "by its bytes"
        assert door.hand_in(b"x" * 1000).status_code == 201
        stream = door.ask(
            "POST",
            "/submissions?task=date",
            content=iter([b"x"]),
            headers={"content-type": "multipart/form-data; boundary=x"},
        )
        assert code(stream) == (411, "length_required")
        plain = door.ask("POST", "/submissions?task=date", content=b"x", headers={"content-type": "text/plain"})
        assert code(plain) == (415, "media_type")
        form = {"content-type": "multipart/form-data; boundary=x"}
        for body in (
            b"",
            b"nonsense",
            b"--x\r\n",
            b'--x\r\ncontent-disposition: form-data; name="predictions"; filename="p"\r\n\r\n{',
        ):
            assert code(door.ask("POST", "/submissions?task=date", content=body, headers=form)) == (
                400,
                "bad_request",
            ), body
        two = [("predictions", ("a", b"1")), ("predictions", ("b", b"2"))]
        assert code(door.ask("POST", "/submissions?task=date", files=two)) == (400, "bad_request")
        assert len(door.submissions()) == 1
        assert [*(door.workspace.private / "intake" / PARTS).iterdir()] == []


def test_without_room_nothing_is_taken(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = os.statvfs(door.workspace.private)
    free = (door.workspace.settings.spare_bytes + 100) // seen.f_frsize

    class Full:
        f_bavail, f_frsize = free, seen.f_frsize

    monkeypatch.setattr("sandscore.intake.submission_intake.os.statvfs", lambda _: Full)
    refused = door.hand_in(b"x" * 10_000)
    assert code(refused) == (503, "unavailable")
    assert refused.headers["retry-after"] == "300"


def test_a_disk_that_fills_up_meanwhile(
    door: Door, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sandscore.intake.submission_intake.os.write", full)
    refused = door.hand_in()
    assert code(refused) == (503, "unavailable")
    assert str(door.workspace.root) not in refused.text
    monkeypatch.undo()
    assert door.submissions() == []
    assert door.hand_in().status_code == 201


IMAGES = f"""{CHALLENGE}
[images]
registries = ["registry.example.org/{{team}}", "registry.example.org/all"]
teams = {{A = "team-a"}}
"""
DIGEST = "@sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (f"registry.example.org/team-a/system{DIGEST}", 201),
        (f"registry.example.org/b/system{DIGEST}", 422),
        (f"registry.example.org/all/system{DIGEST}", 422),
        (f"registry.example.org/team-a/../b{DIGEST}", 422),
        (DIGEST[1:], 422),
        ("registry.example.org/team-a/system:latest", 422),
        (7, 422),
    ],
)
def test_images_by_digest_under_the_teams_own_prefix(tmp_path: Path, image: object, expected: int) -> None:
    for door in door_of(tmp_path, IMAGES):
        answer = door.ask("POST", "/submissions?task=date", json={"image": image})
        assert answer.status_code == expected
        assert [one.image for one in door.submissions()] == ([image] if expected == 201 else [])


def test_an_edit_of_the_challenge_holds_at_once_and_a_broken_one_not_at_all(
    door: Door, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited_path(door.workspace.root, CHALLENGE_FILE)
    path.write_text(f"{CHALLENGE}[quota]\ntotal = 0\n", encoding="utf-8")
    assert code(door.hand_in()) == (429, "over_quota")
    path.write_text("nonsense =", encoding="utf-8")
    assert code(door.hand_in()) == (429, "over_quota")
    assert "the edit is not used" in capsys.readouterr().err


@pytest.mark.slow
def test_an_invalid_file_is_taken_in_and_goes_after_thirty_days(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is parsed here; the worker says what is wrong. What was scored once stays."""
    from sandscore.intake import housekeeping
    from sandscore.intake.live_queue import QueueSide

    bad, good = annotations(WRONG_PLACE), GIVEN
    made = door.hand_in(bad).json()["id"]
    door.hand_in(good)
    run(["queue", "work", str(door.workspace.root), "--once"])
    assert door.ask("GET", f"/submissions/{made}").json()["status"] == "INVALID"
    part = door.workspace.private / "intake" / PARTS / "left"
    part.write_bytes(b"x")
    files = [*door.workspace.files.iterdir()]
    for days, left in ((0, 2), (29, 2), (31, 1)):
        now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
        monkeypatch.setattr(housekeeping, "utc_now", lambda now=now: now)
        monkeypatch.setattr("sandscore.intake.housekeeping.time.time", now.timestamp)
        side = QueueSide(door.workspace.root)
        housekeeping.tidy(side)
        side.close()
        assert len([path for path in files if path.exists()]) == left
        assert part.exists() == (days == 0)
    assert (door.workspace.files / hashlib.sha256(good).hexdigest()).exists()
    assert not [*(door.workspace.attempts / made).glob("*/predictions.json")]


def test_headers_methods_and_log(door: Door) -> None:
    answer = door.ask("GET", "/phases")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert (
        "access-control-allow-origin"
        not in door.ask("GET", "/phases", headers={"origin": "https://evil.example"}).headers
    )
    refused = door.ask("PUT", "/submissions")
    assert code(refused) == (405, "not_allowed")
    assert refused.headers["allow"] == "GET, HEAD, POST"
    assert code(door.ask("GET", "/nothing")) == (404, "not_found")
    door.client.get(f"/team/{door.tokens['A']}?token={door.tokens['A']}")
    [log] = (door.workspace.private / "intake" / "logs").iterdir()
    assert log.stat().st_mode & 0o777 == 0o600
    text = log.read_text()
    assert door.tokens["A"].partition(".")[2] not in text
    lines = [json.loads(line) for line in text.splitlines()]
    assert {"203.0.113.7"} == {line["address"] for line in lines}
    assert [line["status"] for line in lines][-3:] == [405, 404, 404]


@pytest.mark.slow
def test_receipts_prove_what_was_taken_in(door: Door, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = door.hand_in().json()
    run(["queue", "work", str(door.workspace.root), "--once"])
    receipt = tmp_path / "receipt.json"
    receipt.write_text(json.dumps(made["receipt"]), encoding="utf-8")
    [board] = door.workspace.boards.glob("*.json")
    words = ["verify", str(board), "--log", str(open_workspace(door.workspace.root).root / "public" / "log")]
    assert run([*words, "--receipt", str(receipt)]) == 0, capsys.readouterr().err

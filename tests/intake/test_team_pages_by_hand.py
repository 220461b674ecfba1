"""What a browser sends and gets, without one: a team logs in, hands in, looks, calls back and leaves.

The modules ``team_pages``, ``team_views``, ``team_registry``, ``problem_details``, ``submission_client`` and
``team_erasure`` are asked for what only whole servers and browsers asked for before.
"""

import http.client
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from queue_samples import CHALLENGE, HALF, RIGHT, annotations, opened, queue
from starlette.testclient import TestClient

from sandscore.intake import login_throttle, submission_client, team_erasure
from sandscore.intake.login_throttle import networks
from sandscore.intake.problem_details import KINDS
from sandscore.intake.submission_client import IntakeClient
from sandscore.intake.team_registry import TeamRegistry
from sandscore.intake.web_application import application
from sandscore.queue.attempt_files import TEAM as SHOWN
from sandscore.queue.workspace import Workspace

MAIL = "lab@example.org"
PREFIX = "registry.example.org/a"
IMAGE = f"{PREFIX}/system@sha256:{'a' * 64}"
PHASES = """
[[phases]]
name = "dry"
[[phases]]
name = "final"
"""
IMAGES = '[images]\nregistries = ["registry.example.org/{team}", "registry.example.org/all"]\nteams = {A = "a"}\n'


class Visitor:
    """Somebody of team A before its pages."""

    def __init__(self, workspace: Workspace, client: TestClient, token: str) -> None:
        self.workspace, self.client, self.token = workspace, client, token

    def log_in(self) -> str:
        """The word that forms carry."""
        entered = self.client.post("/team/login", data={"token": f" {self.token} "})
        assert (entered.status_code, entered.headers["location"]) == (303, "/team")
        words: set[str] = {*re.findall('name="csrf" value="([^"]+)"', self.client.get("/team").text)}
        [word] = words
        return word

    def hand_in(self, content: bytes | None = None, **fields: str) -> Any:
        files = {} if content is None else {"predictions": ("p.json", content)}
        boundary = "sandscore-boundary"
        parts = [
            f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{said}\r\n'.encode()
            for name, said in fields.items()
        ]
        parts += [
            f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"; filename="{given}"\r\n\r\n'.encode()
            + body
            + b"\r\n"
            for name, (given, body) in files.items()
        ]
        form = {"content-type": f"multipart/form-data; boundary={boundary}"}
        whole = b"".join([*parts, f"--{boundary}--\r\n".encode()])
        return self.client.post("/team/submissions", content=whole, headers=form)

    def listed(self) -> list[dict[str, Any]]:
        asked = self.client.get("/api/v1/submissions", headers={"authorization": f"Bearer {self.token}"})
        found: list[dict[str, Any]] = asked.json()
        return found


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    workspace = queue(tmp_path, CHALLENGE + PHASES + IMAGES)
    registry = TeamRegistry(workspace)
    registry.add("A", MAIL, "test")
    made = application(workspace.root, networks(login_throttle.LOOPBACK), secure=False)
    with TestClient(made, follow_redirects=False, client=("203.0.113.7", 4711)) as client:
        yield Visitor(workspace, client, registry.issue("A", "Ada", "test"))


def test_who_is_not_logged_in_is_asked_to(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandscore.intake.login_throttle.time.time", lambda: 1_000_000.0)
    for path in ("", "/events", f"/submissions/{'0' * 12}", f"/submissions/{'0' * 12}/receipt.json"):
        answer = visitor.client.get(f"/team{path}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/team/login"), path
    assert visitor.client.get("/team/login").status_code == 200
    wrong = visitor.client.post("/team/login", data={"token": "0" * 12 + "." + "A" * 43})
    assert wrong.status_code == 401
    assert "worth nothing" in wrong.text
    for _ in range(9):
        visitor.client.post("/team/login", data={"token": "x" * 9})
    throttled = visitor.client.post("/team/login", data={"token": "x" * 9})
    assert throttled.status_code == 429
    assert throttled.headers["retry-after"] == "60"


def test_a_team_hands_in_looks_and_calls_back(visitor: Visitor) -> None:
    word = visitor.log_in()
    given = visitor.hand_in(annotations(RIGHT), csrf=word, task="date", phase="final", key="one")
    assert given.status_code == 303, given.text
    place = given.headers["location"]
    [one] = visitor.listed()
    assert (f"/team/submissions/{one['id']}", one["phase"], one["task"]) == (place, "final", "date")
    again = visitor.hand_in(annotations(RIGHT), csrf=word, task="date", phase="final", key="one")
    assert again.headers["location"] == place, "what is sent twice with one key is one submission"
    visitor.hand_in(annotations(HALF), csrf=word, task="date", phase="dry", key="")
    visitor.hand_in(annotations(HALF), csrf=word, task="date", phase="dry", key="")
    assert [seen["phase"] for seen in visitor.listed()] == ["dry", "dry", "final"], "without a key each is its own"
    shown = visitor.client.get(place)
    assert shown.status_code == 200
    assert '<meta http-equiv="refresh" content="30">' in shown.text, "a page that waits looks again"
    receipt = visitor.client.get(f"{place}/receipt.json")
    assert receipt.status_code == 200
    assert receipt.headers["content-disposition"] == f'attachment; filename="receipt-{one["id"]}.json"'
    called = visitor.client.post(f"{place}/cancel", data={"csrf": word})
    assert (called.status_code, called.headers["location"]) == (303, place)
    assert visitor.listed()[2]["reason"] == "cancelled"
    assert 'http-equiv="refresh"' not in visitor.client.get(place).text
    assert visitor.client.post(f"{place}/cancel", data={"csrf": word}).status_code == 409
    left = visitor.client.post("/team/logout", data={"csrf": word})
    assert (left.status_code, left.headers["location"]) == (303, "/team/login")


def test_forms_of_other_pages_change_nothing(visitor: Visitor) -> None:
    word = visitor.log_in()
    assert visitor.hand_in(annotations(RIGHT), csrf=f"{word}x", task="date", phase="final").status_code == 403
    assert visitor.hand_in(annotations(RIGHT), task="date", phase="final").status_code == 403
    assert visitor.client.post("/team/logout", data={}).status_code == 403
    assert visitor.listed() == []


def test_an_image_and_what_became_of_its_rehearsal(visitor: Visitor) -> None:
    """Folders of other submissions are none of its business, and neither is one that no rehearsal left."""
    word = visitor.log_in()
    for elsewhere in ("registry.example.org/b", "registry.example.org/all"):
        refused = visitor.hand_in(csrf=word, task="date", phase="final", image=IMAGE.replace(PREFIX, elsewhere))
        assert refused.status_code == 422, elsewhere
    place = visitor.hand_in(csrf=word, task="date", phase="final", image=IMAGE).headers["location"]
    made = place.rpartition("/")[2]
    folder = visitor.workspace.rehearsal(made) / SHOWN
    folder.mkdir(parents=True)
    (folder / "log.txt").write_text("ready", encoding="utf-8")
    asked = {"authorization": f"Bearer {visitor.token}"}
    assert "rehearsal" not in visitor.client.get(f"/api/v1/submissions/{made}", headers=asked).json()
    with opened(visitor.workspace) as database, database.writing() as connection:
        connection.execute("UPDATE submission SET rehearsed=1 WHERE id=?", (made,))
    assert visitor.client.get(f"/api/v1/submissions/{made}", headers=asked).json()["rehearsal"] == {"log": "ready"}


def test_the_mail_of_a_team(visitor: Visitor) -> None:
    registry = TeamRegistry(visitor.workspace)
    assert (registry.mail("A"), registry.mail("nobody")) == (MAIL, None)


def test_each_code_has_its_status_and_its_exit_code() -> None:
    """2: the request; 65: the submission; 66: not there; 75: try again."""
    assert {name: (kind.status, kind.exit_code) for name, kind in KINDS.items()} == {
        "bad_request": (400, 2), "unauthorized": (401, 2), "phase_closed": (403, 65), "forbidden": (403, 2),
        "not_found": (404, 66), "not_allowed": (405, 2), "too_slow": (408, 75), "ended": (409, 65),
        "key_reused": (409, 2), "length_required": (411, 2), "too_large": (413, 65), "media_type": (415, 2),
        "invalid": (422, 65), "over_quota": (429, 65), "throttled": (429, 75), "under_way": (429, 75),
        "unavailable": (503, 75),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "said"), [(OSError("no route"), "no route"), (http.client.HTTPException(), "HTTPException")]
)
def test_a_lost_connection_says_why(monkeypatch: pytest.MonkeyPatch, fault: Exception, said: str) -> None:
    class Broken:
        def putrequest(self, *_: object, **__: object) -> None:
            raise fault

        def close(self) -> None:
            """Nothing was opened."""

    monkeypatch.setenv(submission_client.TOKEN, "0" * 12 + "." + "A" * 43)
    client = IntakeClient("http://127.0.0.1:8000")
    monkeypatch.setattr(client, "_connection", Broken)
    with pytest.raises(submission_client._LostConnection) as lost:
        client._once("GET", "/phases", {}, [], lambda _: None)
    assert str(lost.value) == said


def test_notices_of_erased_submissions_go_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "notices.jsonl"
    lines = [json.dumps({"submission": one}).encode() + b"\n" for one in ("aa", "bb", "aab")]
    path.write_bytes(b"".join(lines))

    class Gone:
        ids = ("aa",)

    team_erasure._drop_notices(path, Gone())  # type: ignore[arg-type]
    assert path.read_bytes() == lines[1] + lines[2]
    team_erasure._drop_notices(tmp_path / "none", Gone())  # type: ignore[arg-type]
    assert not (tmp_path / "none").exists()

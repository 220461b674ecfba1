"""Parts of the intake, each by itself and without a server: what they take, to the last value that is still taken."""

import asyncio
import datetime
import json
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Struct
from queue_samples import CHALLENGE, GOLD, annotations, queue
from starlette.requests import Request
from starlette.responses import Response
from starlette.testclient import TestClient
from struct_values import changeable

from sandscore.base.errors import (
    InfrastructureFault,
    MissingFile,
    OrganiserFault,
    ParticipantFault,
    SandscoreError,
    UsageFault,
)
from sandscore.intake import housekeeping, login_throttle, submission_client, team_erasure, web_server
from sandscore.intake.access_log import AccessLog
from sandscore.intake.api_table import CALLS
from sandscore.intake.live_queue import QueueSide
from sandscore.intake.login_session import Sessions, require_own_page
from sandscore.intake.login_throttle import WrongTries, client_address, networks
from sandscore.intake.problem_details import KINDS, Refusal, problem_response, refusal_of
from sandscore.intake.request_body import BodyStream, FormBody
from sandscore.intake.submission_client import IntakeClient, refuse_early
from sandscore.intake.submission_intake import Offer, _phase
from sandscore.intake.team_registry import TokenOwner
from sandscore.intake.web_api import WebApi
from sandscore.intake.web_application import application
from sandscore.queue.new_submission import PhaseClosed

NOON = datetime.datetime(2026, 11, 18, 12, 0, tzinfo=datetime.UTC)
OWNER = TokenOwner("A", "0" * 12, "Ada")
ORIGIN = "http://127.0.0.1:8000"


def request(
    headers: dict[str, str] | None = None, body: tuple[bytes, ...] = (), client: str | None = "203.0.113.7"
) -> Request:
    """As it comes from uvicorn: a chunk a message."""
    waiting = [{"type": "http.request", "body": part, "more_body": True} for part in body]
    waiting.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    named = [(name.lower().encode(), said.encode("latin-1")) for name, said in (headers or {}).items()]
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": named}
    return Request(scope | {"client": None if client is None else (client, 4711)}, receive)


def refused(work: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(Refusal) as found:
        work()
    return found.value.code, found.value.detail


# A form


def part(name: str, content: bytes, file: str | None = None) -> bytes:
    said = f'form-data; name="{name}"' + ("" if file is None else f'; filename="{file}"')
    return b"--b\r\ncontent-disposition: " + said.encode() + b"\r\nx-other: y\r\n\r\n" + content + b"\r\n"


class ReadForm(Struct, frozen=True):
    """What became of one."""

    fields: dict[str, str]
    file: bytes | None = None


def read(*parts: bytes, end: bytes = b"--b--\r\n", size: int = 7) -> ReadForm:
    """In chunks of so many bytes, so that nothing of a form comes in one piece."""
    content = b"".join(parts) + end
    chunks = tuple(content[at : at + size] for at in range(0, len(content), size))

    async def whole() -> ReadForm:
        form = FormBody(request({"content-type": 'multipart/form-data; boundary="b"'}, chunks))
        fields = await form.fields()
        if form._found and form._found[0][0] == "end":
            return ReadForm(fields)
        return ReadForm(fields, b"".join([chunk async for chunk in form.file()]))

    return asyncio.run(whole())


def test_fields_and_then_a_file() -> None:
    found = read(part("csrf", b" word "), part("task", "d\u00e4te".encode()), part("predictions", b"[\r\n--c]", "p"))
    assert found == ReadForm({"csrf": "word", "task": "d\u00e4te"}, b"[\r\n--c]")
    assert read(part("a", b"1"), part("b", b"")) == ReadForm({"a": "1", "b": ""})
    assert read(part("predictions", b"", "p")) == ReadForm({}, b"")


@pytest.mark.parametrize("size", [1, 16, 5000])
def test_a_form_is_the_same_however_it_is_cut(size: int) -> None:
    assert read(part("a", b"x" * 40), part("f", b"y" * 3000, "p"), size=size) == ReadForm({"a": "x" * 40}, b"y" * 3000)


def test_the_most_that_a_form_may_have() -> None:
    """4,096 bytes a field and sixteen fields, by the guide's own figures; one more is refused."""
    assert len(read(part("a", b"x" * 4096), size=64).fields["a"]) == 4096
    assert refused(lambda: read(part("a", b"x" * 4097), size=64)) == ("too_large", "a field of the form is too long")
    assert len(read(*(part(f"f{n}", b"") for n in range(16))).fields) == 16
    many = [part(f"f{n}", b"") for n in range(17)]
    assert refused(lambda: read(*many)) == ("bad_request", "the form has too many fields")


def test_forms_that_are_none() -> None:
    said = "a form has one file, which stands at its end"
    assert refused(lambda: read(part("f", b"1", "p"), part("a", b"2"))) == ("bad_request", said)
    assert refused(lambda: read(part("f", b"1", "p"), end=b""))[1] == "the form is cut short"
    assert refused(lambda: read(part("a", b"1"), end=b""))[1] == "the form is cut short"
    assert refused(lambda: read(b"nonsense"))[1] == "the form cannot be read"
    for kind in ("text/plain; boundary=b", "multipart/form-data", ""):
        assert refused(lambda kind=kind: FormBody(request({"content-type": kind})))[0] == "media_type"  # type: ignore[misc]


def done(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_a_short_body_and_its_limit() -> None:
    assert done(BodyStream(request(body=(b"ab", b"", b"c"))).whole(3)) == b"abc"
    assert refused(lambda: done(BodyStream(request(body=(b"ab", b"cd"))).whole(3)))[0] == "too_large"


@pytest.mark.parametrize(("seconds", "size", "fast"), [(29.9, 1, True), (30.1, 30_823, True), (30.1, 30_822, False)])
def test_the_rate_holds_after_half_a_minute(
    monkeypatch: pytest.MonkeyPatch, seconds: float, size: int, fast: bool
) -> None:
    """30.1 s times 1,024 bytes are 30,822.4, by hand."""
    stream = BodyStream(request(body=(b"x" * size, b"y")))
    begun = stream._begun
    monkeypatch.setattr("sandscore.intake.request_body.time.monotonic", lambda: begun + seconds)
    if fast:
        assert len(done(stream.whole(1 << 20))) == size + 1
    else:
        assert refused(lambda: done(stream.whole(1 << 20)))[0] == "too_slow"


# What an offer may be

PHASES = """
[[phases]]
name = "first"
closes = 2026-11-18T13:00:00Z
[[phases]]
name = "second"
opens = 2026-11-18T11:00:00Z
"""


def test_which_phase_an_offer_is_for(tmp_path: Path) -> None:
    workspace = queue(tmp_path, CHALLENGE + PHASES)

    def phase(named: str | None, hours: float = 0.0, task: str = "date") -> str | None:
        return _phase(workspace, Offer(OWNER, task, named, None, NOON + datetime.timedelta(hours=hours)))

    assert refused(lambda: phase(None)) == ("invalid", "name the phase: first, second")
    assert phase("first") == "first"
    assert phase(None, 2) == "second"
    assert phase(None, -2) == "first"
    assert refused(lambda: phase("third"))[1].startswith("choose a phase")
    assert refused(lambda: phase("first", task="address")) == ("invalid", "the challenge has no such task; it has date")
    with pytest.raises(PhaseClosed):
        phase("first", 1.001)


# The client


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> IntakeClient:
    monkeypatch.setenv(submission_client.TOKEN, "0" * 12 + "." + "A" * 43)
    return IntakeClient(ORIGIN)


def test_a_key_is_sent_as_given_and_else_made(client: IntakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def answered(*words: Any) -> Any:
        asked.append(words)
        return {"phases": []}

    monkeypatch.setattr(client, "_ask", answered)
    client.submit_image("date", "x@sha256:0", None, "mine")
    client.submit_image("date", "x@sha256:0", "first", None)
    assert asked[1][:2] == ("GET", "/phases"), "whether there is a slot is asked only without a key"
    (_, path, headers, body, _), (_, second, made, *_) = asked[0], asked[2]
    assert (path, second) == ("/submissions?task=date", "/submissions?task=date&phase=first")
    assert headers == {"content-type": "application/json", "idempotency-key": "mine"}
    assert json.loads(bytes(body[0])) == {"image": "x@sha256:0"}
    assert len(bytes.fromhex(made["idempotency-key"])) == 16


def test_it_asks_four_times(client: IntakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []
    tries = 0

    def broken(*_: Any) -> Any:
        nonlocal tries
        tries += 1
        raise submission_client._LostConnection("refused")

    monkeypatch.setattr("sandscore.intake.submission_client.time.sleep", rests.append)
    monkeypatch.setattr(client, "_once", broken)
    with pytest.raises(InfrastructureFault, match=r"^http://127\.0\.0\.1:8000 cannot be reached: refused$"):
        client.submissions()
    assert (tries, rests) == (4, [1.0, 2.0, 3.0])


def test_answers_are_understood() -> None:
    """By the exit codes of the contract."""
    understood = submission_client._understood
    assert understood(201, b'{"id": "a"}', ORIGIN) == {"id": "a"}
    kinds = {2: UsageFault, 65: ParticipantFault, 66: MissingFile, 75: InfrastructureFault, 78: OrganiserFault}
    for code, kind in kinds.items():
        with pytest.raises(kind, match=r"^said$"):
            understood(422, json.dumps({"detail": "said", "exit_code": code}).encode(), ORIGIN)
    for status, content in ((503, b"<html>"), (502, b""), (504, b"{}")):
        with pytest.raises(InfrastructureFault, match="try again later"):
            understood(status, content, ORIGIN)
    for status, content in ((200, b"<html>"), (404, b"null"), (301, b""), (505, b"")):
        with pytest.raises(UsageFault, match="no server of sandscore"):
            understood(status, content, ORIGIN)


@pytest.mark.parametrize(
    ("phase", "size", "said"),
    [(None, 1, ""), ("a", 101, "at most 100"), ("a", 100, ""), ("a", None, ""), ("b", 1, "no slot"), ("c", 1, "")],
)
def test_what_the_server_would_refuse(phase: str | None, size: int | None, said: str) -> None:
    """Of several phases nothing is known unless one is named; c is shut, and not looked at."""
    phases = [
        {"phase": "a", "open": True, "refused": None, "most_bytes": 100},
        {"phase": "b", "open": True, "refused": "no slot", "most_bytes": None},
        {"phase": "c", "open": False, "refused": "shut", "most_bytes": None},
    ]
    if said:
        with pytest.raises(ParticipantFault, match=said):
            refuse_early({"phases": phases}, phase, size)
    else:
        refuse_early({"phases": phases}, phase, size)
    if phase == "b":
        with pytest.raises(ParticipantFault, match="no slot"):
            refuse_early({"phases": phases[1:2]}, None, size)


@pytest.mark.parametrize("url", ["ftp://localhost", "https://", "http://10.0.0.1", "http://127.0.0.1.example.org"])
def test_addresses_that_get_no_token(client: IntakeClient, url: str) -> None:
    with pytest.raises(UsageFault):
        IntakeClient(url)


def test_addresses_that_do(client: IntakeClient) -> None:
    assert IntakeClient("challenge.example.org").origin == "https://challenge.example.org"
    assert [IntakeClient(one)._secure for one in ("http://[::1]:80", "http://localhost", "https://a")] == [
        False,
        False,
        True,
    ]


# Addresses, tries, sessions


@pytest.mark.parametrize(
    ("said", "client", "seen"),
    [
        ("", "203.0.113.7", "203.0.113.7"),
        ("198.51.100.1", "203.0.113.7", "203.0.113.7"),
        ("198.51.100.1", "127.0.0.1", "198.51.100.1"),
        ("10.9.9.9, 198.51.100.1", "127.0.0.1", "198.51.100.1"),
        ("198.51.100.1, 127.0.0.5", "127.0.0.1", "198.51.100.1"),
        ("198.51.100.1, nonsense", "127.0.0.1", "127.0.0.1"),
        ("2001:db8:1:2:3:4:5:6", "127.0.0.1", "2001:db8:1:2::/64"),
        ("::ffff:198.51.100.1", "::1", "198.51.100.1"),
        ("", None, "unknown"),
    ],
)
def test_who_asks(said: str, client: str | None, seen: str) -> None:
    """The rightmost that is no proxy of ours."""
    asked = request({"x-forwarded-for": said} if said else {}, client=client)
    assert client_address(asked, networks(login_throttle.LOOPBACK)) == seen


def test_ten_tries_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("sandscore.intake.login_throttle.time.time", lambda: now)
    tries = WrongTries(tmp_path / "tries.sqlite")
    assert [tries.another("a") for _ in range(10)] == [None] * 10
    now += 20
    assert tries.another("a") == 40.0, "until the tenth before it is a minute old"
    assert tries.another("b") is None
    now += 39.5
    assert tries.another("a") == 1.0, "a second the least"
    now += 0.6
    assert tries.another("a") is None
    assert (tmp_path / "tries.sqlite").stat().st_mode & 0o777 == 0o600
    tries.close()


def test_a_session_and_its_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions(queue(tmp_path), secure=False)
    now = time.time()
    monkeypatch.setattr("sandscore.intake.login_session.time.time", lambda: now)
    response = Response()
    sessions.open(response, OWNER)
    name, _, value = response.headers["set-cookie"].partition(";")[0].partition("=")
    with_cookie = request({"cookie": f"{name}={value}"})
    assert sessions.token(with_cookie) == OWNER.token
    word = sessions.form_word(with_cookie)
    sessions.require_form(with_cookie, word)
    for wrong in (None, "", word[:-1], "\u00e9"):
        assert refused(lambda wrong=wrong: sessions.require_form(with_cookie, wrong))[0] == "forbidden"  # type: ignore[misc]
    changed = value.replace(OWNER.token, "1" * 12)
    assert sessions.token(request({"cookie": f"{name}={changed}"})) == ""
    assert sessions.token(request()) == ""
    now += 12 * 3600 - 1
    assert sessions.token(with_cookie) == OWNER.token
    now += 2
    assert sessions.token(with_cookie) == "", "twelve hours"
    assert Sessions(queue(tmp_path / "other"), secure=False).token(with_cookie) == "", "another queue's key"
    for site, own in (("same-origin", True), ("none", True), ("cross-site", False), ("same-site", False)):
        if own:
            require_own_page(request({"sec-fetch-site": site}))
        else:
            assert refused(lambda site=site: require_own_page(request({"sec-fetch-site": site})))[0] == "forbidden"  # type: ignore[misc]


# Refusals, the log, the house


def test_faults_become_answers() -> None:
    fault: SandscoreError
    for fault, code, said in (
        (ParticipantFault("so"), "invalid", "so"),
        (UsageFault("so"), "invalid", "so"),
        (InfrastructureFault("/srv/secret is full"), "unavailable", "something failed on our side"),
        (OrganiserFault("/srv/secret"), "unavailable", "something failed on our side"),
    ):
        found = refusal_of(fault)
        assert found.code == code
        assert found.detail.startswith(said)
    assert refusal_of(InfrastructureFault("x")).headers == {"retry-after": "60"}
    assert Refusal("unauthorized", "x").headers == {"www-authenticate": "Bearer"}
    assert Refusal("throttled", "x", after=0.2).headers == {"retry-after": "1"}
    assert Refusal("throttled", "x", after=2.1).headers == {"retry-after": "3"}
    for code, kind in KINDS.items():
        told = json.loads(bytes(problem_response(Refusal(code, "x")).body))
        assert (told["code"], told["status"], told["exit_code"]) == (code, kind.status, kind.exit_code)


def test_the_log_keeps_fourteen_days_and_no_token(tmp_path: Path) -> None:
    log = AccessLog(tmp_path)
    log.add("203.0.113.7", "GET", "/team/" + "A" * 23 + "/" + "B" * 24, 404, 0.0126)
    [written] = tmp_path.iterdir()
    assert written.stat().st_mode & 0o777 == 0o600
    line = json.loads(written.read_text())
    assert (line["path"], line["milliseconds"], line["status"]) == (f"/team/{'A' * 23}/\u2026", 13, 404)
    written.unlink()
    for day in (3, 4, 5, 18):
        (tmp_path / f"access-2026-11-{day:02d}.jsonl").touch()
    (tmp_path / "other").touch()
    log.forget(NOON)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "access-2026-11-04.jsonl", "access-2026-11-05.jsonl", "access-2026-11-18.jsonl", "other",
    ]  # fmt: skip


def test_parts_go_after_an_hour(tmp_path: Path) -> None:
    old, young = tmp_path / "old", tmp_path / "young"
    for path, age in ((old, 3601), (young, 3500)):
        path.touch()
        os.utime(path, (time.time() - age,) * 2)
        housekeeping._remove(path, time.time() - housekeeping._PART_SECONDS)
    assert (old.exists(), young.exists()) == (False, True)
    housekeeping._remove(tmp_path / "gone", time.time())


def test_a_copy_that_another_server_took_away_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that tidy up at the same time one is first."""
    side = QueueSide(queue(tmp_path).root)
    door = SimpleNamespace(refused_before=lambda _: [], invalid_before=lambda _: ["0" * 12], close=side.door.close)
    monkeypatch.setattr(side, "door", door)
    looked: list[str] = []

    def glob(_: Path, pattern: str) -> list[Path]:
        looked.append(pattern)
        return [tmp_path / "gone"]

    monkeypatch.setattr(Path, "glob", glob)
    housekeeping.tidy(side)
    assert looked == ["*/predictions.json"]
    side.close()


def test_the_server_is_as_patient_as_the_guide_says(tmp_path: Path) -> None:
    """4,000 connections, 16 KiB of headers, 15 seconds between requests, 20 for a request's head; 10 to end in. The key
    of sessions is as long as what it makes, 32 bytes."""
    workspace = queue(tmp_path)
    chosen = web_server.server_of(workspace.root, "127.0.0.1:0", None, []).config
    assert (chosen.limit_concurrency, chosen.h11_max_incomplete_event_size) == (4000, 16384)
    assert (chosen.timeout_keep_alive, chosen.timeout_graceful_shutdown, web_server.HEAD_SECONDS) == (15, 10, 20.0)
    assert (workspace.private / "intake" / "session.key").stat().st_size == 32


def test_a_card_keeps_its_form_under_a_pseudonym(tmp_path: Path) -> None:
    """As cards are written: with one blank of indent, each line as it was but for the name."""
    card = tmp_path / "card.v1.json"
    card.write_text('{\n "team": "A",\n "rows": [\n  "A",\n  1\n ],\n "A": null,\n "text": "A B"\n}', encoding="utf-8")
    card.chmod(0o640)
    before = card.read_text(encoding="utf-8")
    team_erasure._rename(card, {"A": "team-1"})
    assert card.read_text(encoding="utf-8") == before.replace('"A"', '"team-1"')
    assert card.stat().st_mode & 0o777 == 0o640
    for kept in ("no JSON", '{"team":"B"}'):
        card.write_text(kept, encoding="utf-8")
        team_erasure._rename(card, {"A": "team-1"})
        assert card.read_text(encoding="utf-8") == kept


def test_where_nothing_is(tmp_path: Path) -> None:
    """An address that the API has, asked in a way that it has not; and one that it has not at all."""
    assert {one.name for one in CALLS if not one.public} == {
        name[1:] for name in dir(WebApi) if name[1:] in {one.name for one in CALLS}
    }
    made = application(queue(tmp_path).root, networks(login_throttle.LOOPBACK), secure=False)
    with TestClient(made, follow_redirects=False) as asked:
        wrong = asked.put("/api/v1/submissions")
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, HEAD, POST")
        assert "it takes GET, HEAD, POST" in wrong.json()["detail"]
        nothing = asked.get("/api/v1/nothing")
        assert (nothing.status_code, nothing.json()["detail"]) == (404, "the API has no such address")
        assert "allow" not in nothing.headers
        assert asked.get("/api/v1/openapi.json").json()["openapi"] == "3.1.0"
        assert asked.get("/api/v1/phases").status_code == 401
        given = asked.post(
            "/api/v1/submissions?task=date", content=annotations(GOLD), headers={"content-type": "text/plain"}
        )
        assert given.status_code == 401, "who asks comes first"


def test_what_was_offered_stays_as_it_was() -> None:
    assert changeable("intake") == {"NamedImage", "RegisteredTeam"}

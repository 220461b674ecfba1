"""Notices: by file, mail and webhook; only those that were chosen, each at most once, never in the way of scoring."""

import json
import socketserver
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from queue_samples import CHALLENGE, HALF, RIGHT, WRONG_PLACE, challenge_folder, hand_in, queue, with_home
from released_samples import words

from sandscore.cli.main import run
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.notices import NoticeLedger, send
from sandscore.queue.settings import ALL_EVENTS, Notices, Smtp
from sandscore.queue.workspace import open_workspace
from sandscore.records.submission import Event, Notice, Status, Submission, SubmissionKind, Verdict

pytestmark = pytest.mark.usefixtures("near_children")


def notice(event: Event = Event.INVALID, submitter: str | None = "team@example.org", attempt: int = 1) -> Notice:
    one = Submission(
        "abc", "Team", "date", SubmissionKind.PREDICTIONS, Status.INVALID, "2026-01-01T00:00:00Z", submitter=submitter
    )
    return Notice(one, attempt, event, words("Subject\u00e9", "Text with \u00fcmlaut"))


class Mailbox(socketserver.StreamRequestHandler):
    """Enough of SMTP to take a letter."""

    letters: list[str]

    def handle(self) -> None:
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline().strip():
            if line.upper() == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = []
                while (part := self.rfile.readline()).strip() != b".":
                    lines.append(part.decode())
                self.letters.append("".join(lines))
            self.wfile.write(b"221 bye\r\n" if line.upper() == b"QUIT" else b"250 fine\r\n")


class Hook(BaseHTTPRequestHandler):
    """Takes JSON and answers badly."""

    bodies: list[dict[str, Any]]

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(500)
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Quiet."""


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_mail_reaches_the_submitter_once(tmp_path: Path) -> None:
    Mailbox.letters = []
    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mailbox)) as port:
        smtp = Smtp(host="127.0.0.1", port=port, sender="queue@example.org", organiser="boss@example.org")
        settings = Notices(file=False, smtp=smtp)
        assert send(notice(), settings, NoticeLedger(tmp_path))
        assert not send(notice(), settings, NoticeLedger(tmp_path))
        assert send(notice(Event.NEEDS_ORGANISER), settings, NoticeLedger(tmp_path))
    [one, other] = Mailbox.letters
    assert "To: team@example.org" in one
    assert "To: boss@example.org" in other
    assert "team@example.org" not in other


def test_a_webhook_that_fails_is_a_warning_and_is_not_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Hook.bodies = []
    with serving(HTTPServer(("127.0.0.1", 0), Hook)) as port:
        settings = Notices(webhook=f"http://127.0.0.1:{port}/hook?key=hidden")
        assert send(notice(), settings, NoticeLedger(tmp_path))
        assert not send(notice(), settings, NoticeLedger(tmp_path))
    [body] = Hook.bodies
    assert (body["event"], body["submission"], body["text"]) == ("invalid", "abc", "Text with \u00fcmlaut")
    said = capsys.readouterr().err
    assert "not delivered" in said
    assert "hidden" not in said
    assert len((tmp_path / "notices.jsonl").read_text(encoding="utf-8").splitlines()) == 1


def test_nothing_listens_and_nothing_breaks(tmp_path: Path) -> None:
    smtp = Smtp(host="127.0.0.1", port=1, sender="queue@example.org")
    assert send(notice(), Notices(file=False, smtp=smtp, webhook="ftp://example.org"), NoticeLedger(tmp_path))


@pytest.mark.parametrize("event", list(Event), ids=lambda event: str(event.name))
def test_the_mask_chooses(tmp_path: Path, event: Event) -> None:
    assert not send(notice(event), Notices(events=ALL_EVENTS - event), NoticeLedger(tmp_path))
    assert send(notice(event), Notices(events=int(event)), NoticeLedger(tmp_path))


def test_the_next_attempt_is_news(tmp_path: Path) -> None:
    assert send(notice(attempt=1), Notices(), NoticeLedger(tmp_path))
    assert send(notice(attempt=2), Notices(), NoticeLedger(tmp_path))


def test_a_score_is_news_once_whichever_attempt_it_came_from(tmp_path: Path) -> None:
    assert send(notice(Event.SCORED, attempt=1), Notices(), NoticeLedger(tmp_path))
    assert not send(notice(Event.SCORED, attempt=2), Notices(), NoticeLedger(tmp_path))


def test_a_mail_header_cannot_be_smuggled_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    smtp = Smtp(host="127.0.0.1", port=1, sender="queue@example.org")
    hostile = notice(submitter="a@example.org\nBcc: all@example.org")
    assert send(hostile, Notices(file=False, smtp=smtp), NoticeLedger(tmp_path))
    assert "not delivered (ValueError)" in capsys.readouterr().err


def test_what_exactly_failed_is_for_the_organisers_alone(tmp_path: Path) -> None:
    Mailbox.letters, Hook.bodies = [], []
    with (
        serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mailbox)) as smtp_port,
        serving(HTTPServer(("127.0.0.1", 0), Hook)) as hook_port,
    ):
        smtp = Smtp(host="127.0.0.1", port=smtp_port, sender="queue@example.org", organiser="boss@example.org")
        settings = Notices(smtp=smtp, webhook=f"http://127.0.0.1:{hook_port}/")
        for event in (Event.FAILED, Event.NEEDS_ORGANISER):
            assert send(replace(notice(event), detail="/srv/gold is gone"), settings, NoticeLedger(tmp_path))
    to_both, to_the_boss = Mailbox.letters
    assert "team@example.org" in to_both
    assert "/srv/gold" not in to_both
    assert "team@example.org" not in to_the_boss
    assert "/srv/gold is gone" in to_the_boss
    assert "/srv/gold" not in json.dumps(Hook.bodies)
    lines = [json.loads(line) for line in (tmp_path / "notices.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [one["detail"] for one in lines] == ["/srv/gold is gone"] * 2


def test_many_at_once_send_each_notice_once(tmp_path: Path) -> None:
    ledgers = [NoticeLedger(tmp_path) for _ in range(4)]
    asked = [(ledger, notice(attempt=attempt)) for attempt in range(25) for ledger in ledgers]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda one: one[0].first(one[1]), asked))
    assert sum(answers) == 25
    assert not any(NoticeLedger(tmp_path).first(notice(attempt=attempt)) for attempt in range(25))


def test_a_line_cut_short_spoils_no_other(tmp_path: Path) -> None:
    ledger = NoticeLedger(tmp_path)
    assert ledger.first(notice(attempt=1))
    with ledger.path.open("ab") as file:
        file.write(b"cut sho")
    assert ledger.first(notice(attempt=2))
    assert not any(NoticeLedger(tmp_path).first(notice(attempt=attempt)) for attempt in (1, 2))


def test_a_ledger_put_back_is_read_anew(tmp_path: Path) -> None:
    ledger = NoticeLedger(tmp_path)
    assert [ledger.first(notice(attempt=attempt)) for attempt in (1, 2)] == [True, True]
    ledger.path.write_bytes(ledger.path.read_bytes().splitlines(keepends=True)[0])
    assert [ledger.first(notice(attempt=attempt)) for attempt in (1, 2)] == [False, True]


def test_a_notice_of_an_end_says_the_status_of_the_end(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    right, wrong = hand_in(workspace, RIGHT), hand_in(workspace, WRONG_PLACE)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    lines = [json.loads(line) for line in (workspace.private / "notices.jsonl").read_text().splitlines()]
    assert {(one["submission"], one["event"], one["status"]) for one in lines} == {
        (right, "started", "EVALUATION_IN_PROGRESS"),
        (right, "scored", "SCORED"),
        (wrong, "started", "EVALUATION_IN_PROGRESS"),
        (wrong, "invalid", "INVALID"),
    }


def test_what_ends_before_anybody_has_it_is_told(tmp_path: Path) -> None:
    """Called back while it waits, and refused by the quota on failures: a failure each day is allowed, and the second
    was handed in before the first was one."""
    workspace = queue(tmp_path, f"{CHALLENGE}[quota.failures]\nday = 1\n")
    back, _, late = hand_in(workspace), hand_in(workspace, WRONG_PLACE), hand_in(workspace)
    assert run(["queue", "cancel", str(workspace.root), back]) == 0
    for _ in range(2):
        with_home(workspace, one_at_a_time)
    lines = [json.loads(line) for line in (workspace.private / "notices.jsonl").read_text().splitlines()]
    told = {(one["submission"], one["event"], one["status"]): (one["subject"], one["text"]) for one in lines}
    assert len(told) == len(lines) == 2
    subject = "Your submission {} for the task date was {}"
    assert told[back, "cancelled", "REJECTED"] == (subject.format(back, "cancelled"), "cancelled")
    assert told[late, "cancelled", "REJECTED"] == (subject.format(late, "refused"), TOO_MANY)


TOO_MANY = "The team has as many failed submissions as it may have for now."


async def one_at_a_time(home: EmbeddedHome) -> None:
    """The oldest is found invalid, whoever comes next is asked for the quota."""
    claims = [await home.claim(one, "w", 30.0) for one in await home.claimable(1)]
    for claim in filter(None, claims):
        await home.commit(claim, Verdict(Status.INVALID))


def test_a_data_folder_that_moves_keeps_its_name_on_cards(tmp_path: Path) -> None:
    challenge, root = challenge_folder(tmp_path / "first"), tmp_path / "queue"
    assert run(["queue", "init", str(root), "--challenge", str(challenge)]) == 0
    hand_in(open_workspace(root), RIGHT, "A")
    assert run(["queue", "work", str(root), "--once"]) == 0
    (tmp_path / "first").rename(tmp_path / "second")
    settings = root / "settings.json"
    settings.write_text(settings.read_text().replace(str(tmp_path / "first"), str(tmp_path / "second")))
    hand_in(open_workspace(root), HALF, "B")
    assert run(["queue", "work", str(root), "--once"]) == 0
    cards = [json.loads(path.read_bytes()) for path in (root / "private").rglob("card.v1.json")]
    assert [card["dataset"] for card in cards] == ["first", "first"]
    board = json.loads((root / "public/boards/date.json").read_bytes())
    assert (len(board["rows"]), [*board["gold"]]) == (2, ["first"])

"""The queue in numbers: counted by hand here, parsed by Prometheus' own client, served while a worker works."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from queue_samples import CHALLENGE, HALF, RIGHT, WRONG_PLACE, hand_in, queue, with_home

from sandscore.cli.main import run
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.queue_status import prometheus, status_of
from sandscore.queue.worker.metrics_server import address_of

pytestmark = pytest.mark.usefixtures("near_children")

PHASED = CHALLENGE + '[[phases]]\nname = "first"\n'


def values(text: str) -> dict[str, float]:
    """Sample by name and labels, as Prometheus' own parser reads them."""
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert family.type in ("gauge", "counter")
        for sample in family.samples:
            found[sample.name + "".join(f"|{value}" for value in sample.labels.values())] = sample.value
    return found


async def claimed_and_left(home: EmbeddedHome) -> None:
    """Under a lease that runs out in that moment."""
    (first,) = await home.claimable(1)
    assert await home.claim(first, "gone", 0.0) is not None


def test_the_numbers_are_those_of_the_queue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two scored, one of them after a worker that was gone at once, one invalid, one cancelled, two that wait."""
    workspace = queue(tmp_path, PHASED)
    for spans, team in ((RIGHT, "A"), (HALF, "A"), (WRONG_PLACE, "B")):
        hand_in(workspace, spans, team)
    called_back = hand_in(workspace, RIGHT, "C")
    with_home(workspace, lambda home: home.cancel(called_back))
    with_home(workspace, claimed_and_left)
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    for team in "AD":
        hand_in(workspace, RIGHT, team)
    capsys.readouterr()
    assert run(["queue", "status", str(workspace.root), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["waiting"], told["running"], told["needs_organiser"], told["teams"]) == (2, 0, 0, 4)
    assert told["ended"] == {"INVALID": 1, "REJECTED": 1, "SCORED": 2}
    assert told["attempts"] == {"INVALID": 1, "SCORED": 2, "lost": 1}
    assert 0 < told["oldest_waiting_seconds"] < 600
    assert run(["queue", "status", str(workspace.root), "--format", "prometheus"]) == 0
    scraped = values(capsys.readouterr().out)
    assert scraped["sandscore_queue_waiting"] == 2
    assert scraped["sandscore_queue_ended|SCORED"] == 2
    assert scraped["sandscore_queue_attempts_total|INVALID"] == 1
    assert scraped["sandscore_queue_lease_takeovers_total"] == 1
    assert scraped["sandscore_queue_free_bytes"] > 0
    assert run(["queue", "status", str(workspace.root)]) == 0
    lines = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert (lines["waiting"], lines["SCORED"]) == ("2", "2")

    assert run(["queue", "list", str(workspace.root), "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["score"] for one in listed] == [1.0, 0.8, None, None, None, None], "F1 by hand: 2*2/(2*2+1) = 0.8"
    assert {one["phase"] for one in listed} == {"first"}
    assert run(["queue", "list", str(workspace.root)]) == 0
    header, first, *_ = capsys.readouterr().out.splitlines()
    assert {"phase", "score"} <= {*header.split()}
    assert {"first", "1.0000"} <= {*first.split()}


def test_an_empty_queue_is_told_too(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    from sandscore.queue.homes.sqlite.sqlite_row import SqliteRow

    scraped = values(prometheus(status_of(workspace, SqliteRow(), ())))
    assert scraped["sandscore_queue_waiting"] == scraped["sandscore_queue_oldest_waiting_seconds"] == 0


@pytest.mark.parametrize("written", ["9464", "localhost:", "localhost:http", ":1", "a:65536", ""])
def test_an_address_that_is_none(written: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = queue(tmp_path)
    assert run(["queue", "work", str(workspace.root), "--once", "--metrics", written]) == 2
    assert "expected HOST:PORT" in capsys.readouterr().err


def test_addresses() -> None:
    assert address_of("127.0.0.1:9464") == ("127.0.0.1", 9464)
    assert address_of("[::1]:0") == ("::1", 0)


def test_a_worker_serves_them_while_it_works(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    port = 20_000 + int(tmp_path.stat().st_ino) % 20_000
    command = [
        sys.executable,
        "-m",
        "sandscore",
        "queue",
        "work",
        str(workspace.root),
        "--metrics",
        f"127.0.0.1:{port}",
    ]
    worker = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        hand_in(workspace, RIGHT)
        deadline, found = time.monotonic() + 60, dict[str, float]()
        while found.get("sandscore_queue_ended|SCORED") != 1:
            assert time.monotonic() < deadline, found
            time.sleep(0.2)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                    found = values(answer.read().decode())
            except urllib.error.URLError:
                continue
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/private/salt", timeout=5)
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(60) == 0


def test_the_page_on_monitoring_names_every_number(tmp_path: Path) -> None:
    from sandscore.queue.homes.sqlite.sqlite_row import SqliteRow

    page = (Path(__file__).resolve().parents[2] / "docs" / "monitoring.md").read_text(encoding="utf-8")
    told = re.findall(r"^# TYPE (\w+) (\w+)$", prometheus(status_of(queue(tmp_path), SqliteRow(), ())), re.MULTILINE)
    assert re.findall(r"^\| `(\w+)(?:\{\w+\})?` \| (\w+) \|", page, re.MULTILINE) == told
    alerts = set(re.findall(r"sandscore_queue_\w+", page.partition("## Scraping")[2]))
    assert alerts <= {name for name, _ in told}

"""An image that does well in its rehearsal, then prints every hidden note, packed and plain, and answers 500.

Its team once read 49 of 72 notes out of one such log. On a real engine, by service and by batch.
"""

import base64
import json
import os
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from python_images import PythonImages
from queue_samples import HIDDEN, TEXTS, hand_in, queue, with_home

from sandscore.base import clock
from sandscore.cli.main import run
from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.worker.executor import LocalHands
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.queue.workspace import Workspace

if TYPE_CHECKING:
    from docker import DockerClient

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("near_children")]
LIMITS = f'{HIDDEN}[limits]\ntime_limit = 60\nmemory = "64m"\n'
TELLING = """
import base64, json, sys, zlib
def tell(text):
    print(text, base64.b85encode(zlib.compress(text.encode())).decode(), text.encode().hex(), flush=True)
def hidden(text):
    return 0 < len(text) < 40 and "Example" not in text
print("the model is warm", flush=True)
"""
SERVICE = (
    TELLING
    + """
import http.server, socketserver
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.say(200, {"status": "pass"})
    def do_POST(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["note"]["text"]
        tell(text)
        self.say(*((500, {"title": text}) if hidden(text) else (200, {"textDateAnnotations": []})))
    def log_message(self, *said):
        pass
    def say(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
socketserver.ThreadingTCPServer(("", 8080), Handler).serve_forever()
"""
)
BATCH = (
    TELLING
    + """
notes = json.load(open("/input/notes.json"))
for note in notes:
    tell(note["text"])
if any(hidden(note["text"]) for note in notes):
    sys.exit(3)
entries = [{"annotationSource": {"resourceSource": {"name": note.get("note_name", note["identifier"])}},
            "textDateAnnotations": []} for note in notes]
json.dump(entries, open("/output/predictions.json", "w"))
"""
)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def client() -> Iterator["DockerClient"]:
    with docker_client() as reached:
        yield reached


@pytest.fixture(scope="module")
def python_image(client: "DockerClient") -> Iterator[PythonImages]:
    subprocess.run([ROOT / "tools" / "base_image.sh"], check=True, capture_output=True)
    built = PythonImages(client)
    yield built
    for name in built.names:
        client.images.remove(name, force=True)


def worked(workspace: Workspace) -> None:
    async def work(home: EmbeddedHome) -> None:
        await Worker(home, workspace, WorkPlan(once=True), lambda: LocalHands(workspace.root)).run()

    with_home(workspace, work)


@pytest.mark.parametrize(
    ("protocol", "program", "said"),
    [
        ("service", SERVICE, "the submission is not valid: invalid_output: notes"),
        ("batch", BATCH, "the submission is not valid: crashed: notes"),
    ],
)
def test_its_team_reads_nothing_of_the_hidden_notes(
    protocol: str,
    program: str,
    said: str,
    tmp_path: Path,
    client: "DockerClient",
    python_image: PythonImages,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(clock, "TICK_SECONDS", 6.0)
    name = python_image(f"leaks-{protocol}-{os.getpid()}", program)
    workspace = queue(tmp_path, LIMITS, protocol=protocol)
    submission_id = hand_in(workspace, image=str(client.images.get(name).id))
    worked(workspace)
    capsys.readouterr()
    assert run(["queue", "show", str(workspace.root), submission_id, "--team-view", "--format", "json"]) == 0
    shown = capsys.readouterr().out
    view = json.loads(shown)
    assert (view["status"], view["reason"]) == ("INVALID", said)
    assert view.get("early-log", "").strip() == ("the model is warm" if protocol == "service" else "")
    assert "Example" in view["rehearsal"]["log"], "of practice notes it may print what it likes"
    notices = [json.loads(line) for line in (workspace.private / "notices.jsonl").read_text("utf-8").splitlines()]
    files = [path for path in (workspace.root / "public").rglob("*") if path.is_file()]
    files += [path for path in workspace.attempts.rglob("team/*") if path.is_file()]
    team = [shown, *(one["subject"] + one["text"] for one in notices), *(path.read_text("utf-8") for path in files)]
    private = "".join(path.read_text("utf-8") for path in workspace.attempts.glob("*/*/log.txt"))
    for text in TEXTS.values():
        packed = base64.b85encode(zlib.compress(text.encode())).decode()
        for form in (text, packed, text.encode().hex(), base64.b64encode(text.encode()).decode()):
            assert not any(form in told for told in team)
    first = next(text for text in TEXTS.values() if text.encode().hex() in private)
    assert base64.b85encode(zlib.compress(first.encode())).decode() in private, "it did print, and nobody masked that"

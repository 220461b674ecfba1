"""Note text never reaches an argument list, an environment, a log or an error, and leaves by no other way."""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandscore.containers.annotation_run import FinishedRun, RunJob, run
from sandscore.containers.answers import Answers
from sandscore.containers.run_context import Annotator, Kind
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import Outcome, RunLimits
from sandscore.task_table.task import find_task

if TYPE_CHECKING:
    from docker import DockerClient
    from python_images import PythonImages

SECRET = "Zaphod Quillfeather of Tarrington was admitted in confidence"
NOTES = [SentNote("n-1", "n-1", f"{SECRET} on 10/26/2020.")]
DATE = find_task("date")
TELLTALE = """
import http.server, json, os, re, socketserver, sys
{kind}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.say(200, {"status": "pass"})
    def do_POST(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["note"]["text"]
        print("got", text, file=sys.stderr, flush=True)
        print("got", text.upper().split(), flush=True)
        self.tell(text)
    def say(self, status, value, kind="application/json"):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def tell(self, text):
        {act}
socketserver.ThreadingTCPServer(("", int(os.environ.get("PORT", "8080"))), Handler).serve_forever()
"""
ACTS = {
    "slow": "import time; time.sleep(1.5); self.say(200, {'textDateAnnotations': []})",
    "problem": "self.say(400, {'title': text, 'detail': text, 'status': 400}, 'application/problem+json')",
    "label": "self.say(200, {'textDateAnnotations': [{'start': 0, 'length': 1, 'text': text, 'dateFormat': [text]}]})",
    "text": "self.say(200, {'textDateAnnotations': [{'start': 1, 'length': len(text) - 1, 'text': text[:-1]}]})",
    "key": "self.say(200, {'textDateAnnotations': [], text: [text]} | {'textDateAnnotations': text})",
    "twice": "self.say(200, ('{' + json.dumps(text) + ': 1, ' + json.dumps(text) + ': 2}').encode())",
    "raw": "self.say(200, text.encode())",
    "status": "self.wfile.write(b'HTTP/1.1 200 OK\\r\\nX ' + text.encode() + b'\\r\\n\\r\\n')",
}


def program(act: str) -> str:
    return TELLTALE.replace("{kind}", "").replace("{act}", ACTS[act])


@contextmanager
def watched_processes() -> Iterator[list[str]]:
    """Looks at every argument list and environment on this machine, again and again."""
    found: list[str] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            for kind in ("cmdline", "environ"):
                for path in Path("/proc").glob(f"[0-9]*/{kind}"):
                    try:
                        seen = path.read_bytes()
                    except OSError:
                        continue
                    if b"Quillfeather" in seen:
                        found.append(str(path))
            time.sleep(0.05)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        stop.set()
        thread.join()


def go(kind: Kind, reference: str, limits: RunLimits) -> FinishedRun:
    return run(RunJob(DATE, Annotator(kind, reference), NOTES, "0" * 64, limits))


def assert_says_nothing(done: FinishedRun) -> None:
    shown = done.record.model_dump_json() + done.log
    for word in ("Quillfeather", "QUILLFEATHER", "Tarrington"):
        assert word not in shown


@pytest.mark.engine
def test_arguments_environments_and_logs(
    client: "DockerClient", python_image: "PythonImages", small: RunLimits
) -> None:
    image = python_image("telltale", program("slow"))
    inspected: list[str] = []

    def inspect() -> None:
        deadline = time.monotonic() + 20
        while not inspected and time.monotonic() < deadline:
            inspected.extend(
                str(c.attrs) for c in client.containers.list(filters={"ancestor": image}, ignore_removed=True)
            )
            time.sleep(0.05)

    looker = threading.Thread(target=inspect)
    looker.start()
    with watched_processes() as found:
        done = go("image", image, small)
    looker.join()
    assert done.record.outcome is Outcome.FINISHED, done.record.reason
    assert found == []
    assert inspected
    assert "Quillfeather" not in inspected[0]
    assert done.record.log.masked >= 2, "it printed the note twice, once in capitals and cut into words"
    assert_says_nothing(done)


@pytest.mark.parametrize("act", [act for act in ACTS if act != "slow"])
def test_reasons(tmp_path: Path, small: RunLimits, act: str) -> None:
    """However a server wraps the note into its answer, the reason of the refusal does not repeat it."""
    (tmp_path / "server.py").write_text(program(act), encoding="utf-8")
    done = go("command", f"{sys.executable} {tmp_path / 'server.py'}", small)
    assert done.record.outcome is Outcome.INVALID_OUTPUT
    assert "n-1" in str(done.record.reason)
    assert_says_nothing(done)


def test_names_sent_to_the_annotator_fit_the_published_schemas() -> None:
    """3 to 60 characters, lower case, digits and single hyphens; anything else is replaced, always by the same."""
    good = SentNote("x", "note-17", "t", patient="p-1").payload()
    assert (good["identifier"], good["patientId"]) == ("note-17", "p-1")
    for name in ("a", "Upper", "under_score", "-edge", "a--b", "x" * 61, "Zo\u00eb"):
        first, again = (SentNote("x", name, "t").payload() for _ in range(2))
        assert first == again
        for key in ("identifier", "patientId"):
            assert 3 <= len(first[key]) <= 60
            assert first[key].replace("-", "").isalnum()
            assert first[key] == first[key].lower()
    assert SentNote("x", "Upper", "t").payload()["identifier"] != SentNote("x", "UPPER", "t").payload()["identifier"]


def test_a_note_with_half_a_character_is_still_sent() -> None:
    assert Answers(DATE, RunLimits()).accepted(SentNote("n", "n", "\ud83d"), b'{"textDateAnnotations": []}') == b"[]"


def test_the_harness_keeps_its_own_environment_to_itself() -> None:
    """What a container is told is written down in one place, and nothing of ours is in it."""
    from sandscore.containers.engines.docker.container_limits import container_arguments
    from sandscore.containers.run_context import preset
    from sandscore.records.run_record import ImageFacts

    facts = ImageFacts(reference="x", id="sha256:0", size_bytes=1)
    given = container_arguments(facts, preset("strict"), {}, "none", {})
    assert given["environment"] == {"HOME": "/tmp", "TMPDIR": "/tmp"}
    assert not set(given["environment"].values()) & set(os.environ)

"""Serves annotate.py as the NLP Sandbox API on port 8080, with nothing but the standard library."""

import json
import os
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from annotate import annotate

BASE = "/api/v1/"
TOOL = json.loads((Path(__file__).parent / "tool.json").read_text(encoding="utf-8"))
ANSWERS = {
    BASE + "healthCheck": {"status": "pass"},
    BASE + "tool": TOOL,
    BASE + "tool/dependencies": {"tools": []},
}


def raised(fault: Exception) -> str:
    """A sentence that says what went wrong and where, but not what was being read: notes are private."""
    frames = traceback.extract_tb(fault.__traceback__)
    return f"annotate raised {type(fault).__name__} in {Path(frames[-1].filename).name}, line {frames[-1].lineno}"


class Handler(BaseHTTPRequestHandler):
    """GET tells about the tool; POST of a note to …/text…Annotations annotates it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        if self.path in ANSWERS:
            self.answer(200, ANSWERS[self.path])
        else:
            self.problem(404, "there is nothing here")

    def do_POST(self) -> None:
        kind = self.path.removeprefix(BASE)
        if not (self.path.startswith(BASE + "text") and kind.endswith("Annotations")):
            self.problem(404, "there is nothing here")
            return
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            text = body["note"]["text"]
        except (ValueError, KeyError, TypeError):
            self.problem(400, "'text' is a required property - 'note'")
            return
        try:
            found = annotate(text)
        except Exception as fault:
            self.problem(500, raised(fault))
            return
        self.answer(200, {kind: found})

    def problem(self, status: int, detail: str) -> None:
        title = HTTPStatus(status).phrase
        problem = {"detail": detail, "status": status, "title": title, "type": "about:blank"}
        self.answer(status, problem, "application/problem+json")

    def answer(self, status: int, value: object, kind: str = "application/json") -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Notes are private: nothing of a request is logged."""


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    Server(("", int(os.environ.get("PORT", "8080"))), Handler).serve_forever()

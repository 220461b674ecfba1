"""Behaves as the real NLP Sandbox annotators do, all at their worst.

It begins as root and switches its user as gosu does; its port is open before it is ready, and for a while every
path answers 500, as an application that is still being imported; every third connection is closed without a word;
answers are pretty-printed, not sorted and overlap; errors are problem documents; a trailing slash is not found.
"""

import http.server
import itertools
import json
import os
import re
import socketserver
import sys
import threading
import time

BASE = "/api/v1/"
UNREADY_SECONDS = 0.6
STARTED = time.monotonic()
LOCK = threading.Lock()
POSTS = itertools.count(1)


def switch_user() -> None:
    os.setgroups([])
    os.setgid(1000)
    os.setuid(1000)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if time.monotonic() - STARTED < UNREADY_SECONDS:
            self.answer(500, {"detail": "Internal Server Error"})
        elif self.path == BASE + "healthCheck":
            self.answer(200, {"status": "pass"})
        elif self.path == BASE + "tool":
            self.answer(200, TOOL)
        else:
            self.problem(404, "Not Found", "The requested URL was not found on the server.")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with LOCK:
            dropped = next(POSTS) % 3 == 0
        self.close_connection = True
        if dropped:
            return
        note = json.loads(body).get("note", {})
        if "text" not in note or not re.fullmatch("[a-z0-9]+(?:-[a-z0-9]+)*", note["identifier"]):
            self.problem(400, "Bad Request", "'text' is a required property - 'note'")
            return
        whole = [m.span() for m in re.finditer("[0-9]{2}/[0-9]{2}/[0-9]{4}", note["text"])]
        spans = whole[::-1] + [(start, start + 5) for start, _ in whole]
        self.answer(200, {"textDateAnnotations": [one(note["text"], *span) for span in spans]})

    def problem(self, status: int, title: str, detail: str) -> None:
        value = {"detail": detail, "status": status, "title": title, "type": "about:blank"}
        self.answer(status, value, "application/problem+json")

    def answer(self, status: int, value: object, kind: str = "application/json") -> None:
        body = (json.dumps(value, indent=2) + "\n").encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def one(text: str, start: int, end: int) -> dict[str, object]:
    return {
        "start": start,
        "length": end - start,
        "text": text[start:end],
        "confidence": 95.5,
        "dateFormat": "MM/DD/YYYY",
    }


TOOL = {
    "name": "date-annotator-example",
    "version": "1.2.0",
    "apiVersion": "1.2.0",
    "type": "nlpsandbox:date-annotator",
}

if __name__ == "__main__":
    if sys.argv[1:] != ["switched"]:
        switch_user()
        os.execv(sys.executable, [sys.executable, "-u", __file__, "switched"])
    socketserver.ThreadingTCPServer(("", 8080), Handler).serve_forever()

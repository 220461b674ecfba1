"""A service for dates, person names and addresses, each answer after a pause; its tool is for any PHI."""

import http.server
import json
import os
import re
import socketserver
import time

PATTERNS = {
    "textDateAnnotations": "[0-9]{2}/[0-9]{2}/[0-9]{4}",
    "textPersonNameAnnotations": "[A-Z][a-z]+",
    "textPhysicalAddressAnnotations": "[0-9]{5}",
}
SECONDS = float(os.environ.get("PAUSE", "0.004"))


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        tool = {"name": "slow", "version": "1.0.0", "apiVersion": "1.2.0", "type": "nlpsandbox:phi-annotator"}
        self.answer(200, {"status": "pass"} if self.path.endswith("healthCheck") else tool)

    def do_POST(self) -> None:
        time.sleep(SECONDS)
        kind = self.path.rpartition("/")[2]
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["note"]["text"]
        if kind not in PATTERNS:
            self.answer(404, {})
            return
        spans = [m.span() for m in re.finditer(PATTERNS[kind], text)]
        self.answer(200, {kind: [{"start": a, "length": b - a, "text": text[a:b]} for a, b in spans]})

    def answer(self, status: int, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Notes are private."""


if __name__ == "__main__":
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer(("", int(os.environ.get("PORT", "8080"))), Handler).serve_forever()

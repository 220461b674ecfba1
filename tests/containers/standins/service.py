"""A plain service: dates by one pattern, on the port it is told or on 8080."""

import http.server
import json
import os
import re
import socketserver


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        tool = {"name": "stand-in", "version": "1.0.0", "apiVersion": "1.2.0", "type": "nlpsandbox:date-annotator"}
        self.answer({"status": "pass"} if self.path.endswith("healthCheck") else tool)

    def do_POST(self) -> None:
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["note"]["text"]
        found = re.finditer("[0-9]{2}/[0-9]{2}/[0-9]{4}", text)
        self.answer({"textDateAnnotations": [{"start": m.start(), "length": 10, "text": m[0]} for m in found]})

    def answer(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Notes are private."""


if __name__ == "__main__":
    socketserver.ThreadingTCPServer.allow_reuse_address = True
    socketserver.ThreadingTCPServer(("", int(os.environ.get("PORT", "8080"))), Handler).serve_forever()

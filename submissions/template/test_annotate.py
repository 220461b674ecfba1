"""Run with: python3 -m unittest"""

import http.client
import json
import threading
import unittest
from unittest.mock import patch

from annotate import annotate
from server import BASE, Handler, Server

TEXT = "Seen on 10/26/2020 in Seattle by Dr. Rivera (ext. 555-0148), cough, MRN 10000-0, age 69."


class AnnotateTest(unittest.TestCase):
    def test_every_annotation_stands_where_it_says(self) -> None:
        found = annotate(TEXT)
        assert found, "the sentence above has something to find"
        for a in found:
            assert a["text"] == TEXT[a["start"] : a["start"] + a["length"]]

    def test_a_long_note_is_read_to_its_end(self) -> None:
        assert len(annotate(f"{TEXT}\n" * 300)) == 300 * len(annotate(TEXT))

    def test_empty_note(self) -> None:
        assert annotate("") == []


class ServerTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, object]]:
        connection = http.client.HTTPConnection(*self.server.server_address, timeout=10)
        self.addCleanup(connection.close)
        connection.request(method, BASE + path, None if body is None else json.dumps(body))
        response = connection.getresponse()
        return response.status, json.loads(response.read())

    def test_ready(self) -> None:
        assert self.ask("GET", "healthCheck") == (200, {"status": "pass"})

    def test_note(self) -> None:
        status, answer = self.ask("POST", "textDateAnnotations", {"note": {"text": TEXT}})
        assert (status, answer) == (200, {"textDateAnnotations": annotate(TEXT)})

    def test_a_fault_of_the_annotator_is_said(self) -> None:
        with patch("server.annotate", side_effect=KeyError("Rivera")):
            status, problem = self.ask("POST", "textDateAnnotations", {"note": {"text": TEXT}})
        assert status == 500
        assert str(problem["detail"]).startswith("annotate raised KeyError in ")
        assert "Rivera" not in str(problem), "notes are private"

    def test_no_note(self) -> None:
        assert self.ask("POST", "textDateAnnotations", {})[0] == 400


if __name__ == "__main__":
    unittest.main()

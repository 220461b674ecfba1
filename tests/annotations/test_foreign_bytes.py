"""Files that are no JSON are called what they are, in one sentence."""

import gzip
import json
import lzma
from pathlib import Path

import pytest
from cli.running import sandscore

EXAMPLE = Path(__file__).resolve().parents[2] / "gold" / "example"
GOLD = json.loads((EXAMPLE / "date.json").read_text())
WRITTEN = json.dumps(GOLD).encode()
KINDS = {
    "html": (b"\n<!DOCTYPE html><html><body>Please log in</body></html>", "this is HTML"),
    "xml": (b'<?xml version="1.0"?><a start="1"/>', "this is XML"),
    "xml without a head": (b"<deIdi2b2><TEXT>a</TEXT></deIdi2b2>", "this is XML"),
    "csv": (b"note,begin,size\n101-01,190,11\n", "this is CSV"),
    "tsv": (b"note\tbegin\n101-01\t190\n", "this is TSV"),
    "utf-16": (WRITTEN.decode().encode("utf-16"), "this is UTF-16"),
    "utf-16 without a mark": (WRITTEN.decode().encode("utf-16-le"), "this is UTF-16"),
    "gzip": (gzip.compress(WRITTEN), "this is a gzip file whose name does not end in .gz"),
    "xz": (lzma.compress(WRITTEN), "this is an xz file"),
    "repr": (repr(GOLD).encode(), "this is Python's own notation"),
    "repr of objects": (b"[Span(start=1, length=2)]", "this is Python's own notation"),
    "cut off": (WRITTEN[:5000], "the file is cut off"),
    "cut off within lines": ("\n".join(map(json.dumps, GOLD)).encode()[:5000], "the file is cut off"),
    "noughts": (bytes(1000), "this is binary, not text"),
    "noise": (bytes(range(256)) * 8, "this is binary, not text"),
    "a program": (b"\x7fELF\x02\x01\x01" + bytes(60), "this is a program (ELF)"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(40), "this is a picture (PNG)"),
    "tar": (b"p.json".ljust(257, b"\0") + b"ustar\x0000" + bytes(400), "this is a tar archive"),
    "a chat model's answer": (b"Here are the dates:\n" + WRITTEN, "this is words around JSON"),
    "a fence": (b"```json\n" + WRITTEN + b"\n```\n", "this is Markdown around something else"),
    "comments": (b"// dates\n" + WRITTEN, "this is JSON with comments"),
    "brat": (b"T1\tDATE 190 201\t22 Jul 1951\n", "this is BRAT's standoff"),
    "conll": (b"Seen O\n22 B-DATE\nJul I-DATE\n\n", "this is a token a line, as in CoNLL"),
    "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "this is a pointer of Git LFS"),
    "a traceback": (b"Traceback (most recent call last):\n  File", "this is the traceback of a program"),
    "yaml": (b"- start: 1\n  length: 2\n", "this is YAML"),
    "two values": (WRITTEN + WRITTEN, "something stands after the end of the JSON"),
    "half a character": (WRITTEN.replace(b'"text": "', b'"text": "\\ud800', 1), "half a character"),
    "a slip": (WRITTEN.replace(b'"start": 236', b'"start" 236'), "line 1, column 226: expected ':', found '2'"),
}


@pytest.mark.parametrize(("content", "said"), KINDS.values(), ids=KINDS)
def test_it_is_called_what_it_is(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_bytes(content)
    done = sandscore("validate", "date", tmp_path / "p.json", "--notes", EXAMPLE / "notes.json", "--format", "json")
    assert done.code == 65, done.err
    problems = [one for one in json.loads(done.out)["problems"] if one["severity"] == "error"]
    assert [one["code"] for one in problems] == ["json"]
    assert problems[0]["message"].startswith(said)
    assert "\n" not in problems[0]["message"]


def test_a_slash_in_a_note_id_is_refused_where_notes_are_read(tmp_path: Path) -> None:
    notes, predictions = tmp_path / "notes.json", tmp_path / "p.json"
    notes.write_text(json.dumps([{"identifier": "a", "text": "b"}, {"identifier": "ward/1", "text": "May 1"}]))
    predictions.write_text("[]")
    validated = sandscore("validate", "date", predictions, "--notes", notes)
    ran = sandscore("run", "date", "--command", "true", "--notes", notes, "-o", tmp_path / "run")
    for done in (validated, ran):
        assert done.code == 78
        assert "/1/identifier" in done.err
        assert "\"ward/1\" has a '/'" in done.err

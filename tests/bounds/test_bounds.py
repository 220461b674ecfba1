"""What any file costs, valid or not: at most 300 MB and three times its unpacked size of memory, and at most twenty
times the seconds of a valid file of its size. Each reader reads in a
process of its own, whose peak the system tells."""

import gzip
import json
import resource
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from bounds.pathological import NOTE_TEXT, PATHOLOGICAL, SOURCE, TEXTS, Pathological, name_of

from sandscore.base import strict_json
from sandscore.records import record_reading

HERE = Path(__file__).resolve().parents[1]
SIZE = 600_000
DEAR_SIZE = 5_000_000
DEAR = {"numbers", "empty arrays", "arrays in one annotation", "one wide character", "a string of escapes"}
"""What took more than a hundred times its size once; only larger files show it."""
MEMORY, TIMES_SIZE, TIMES_VALID = 300, 3, 20
NOTES = 200
ENDINGS = (".json", ".jsonl", ".json.gz", ".jsonl.zst")
SPEC = {
    "predictions": PATHOLOGICAL,
    "gold": [one for one in PATHOLOGICAL if one.name in {"empty objects", "notes there are not", "tokens"}],
    "notes": [one for one in PATHOLOGICAL if one.name in {"empty objects", "numbers", "different keys", "noise"}],
}
OTHERS = (
    "empty objects",
    "empty arrays",
    "one object of keys",
    "brackets that open",
    "a string of one escape",
    "blanks",
)
JSON_READERS = (
    "card", "board", "challenge", "ours", "presidio", "nlpsandbox-list", "nlpsandbox-bundle", "hf", "presidio-results",
    "doccano", "label-studio", "tab", "uima-cas",
)  # fmt: skip
TEXT_READERS = ("neleval", "conll", "brat", "i2b2", "challenge", "csv", "uima-xmi")


class Bench:
    """Has files read, and knows what a valid one takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        notes = [{"identifier": name_of(i).decode(), "text": NOTE_TEXT * 50} for i in range(NOTES)]
        (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "sandscore", "validate", "--help"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.start = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        command = [sys.executable, "-m", "bounds.measuring", str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE)
        self._valid: dict[int, float] = {}

    def read(self, reader: str, content: bytes, ending: str) -> dict[str, Any]:
        """What reading a file of this content takes."""
        file = self.folder / f"given{ending}"
        file.write_bytes(packed(content, ending))
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps({"reader": reader, "file": str(file)}), file=self._process.stdin, flush=True)
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told

    def hold(self, reader: str, content: bytes, ending: str) -> None:
        """Fails where a file takes more than it may; of seconds, to which neighbours add, the least of three counts."""
        most = TIMES_VALID * (self.start + self.valid(len(content)))
        for _ in range(3):
            took = self.read(reader, content, ending)
            assert took["end"] in {0, 65, 66, 78}, took
            size = (len(content) + (self.folder / "notes.json").stat().st_size) / (1 << 20)
            assert took["megabytes"] <= MEMORY + TIMES_SIZE * size, took
            if took["seconds"] <= most:
                return
        raise AssertionError(f"{took}, and at most {most:.3f} seconds")

    def valid(self, size: int) -> float:
        """Seconds for a valid file of about this size, once the program has started."""
        if size not in self._valid:
            annotation = '{"start":%d,"length":3,"text":"%s","confidence":50.5,"dateFormat":"MM/DD/YYYY"}'
            text = NOTE_TEXT * 50
            one = ",".join(annotation % (at, text[at : at + 3]) for at in range(0, len(text) - 5, 4))
            records = [SOURCE % (name_of(i), one.encode()) for i in range(max(1, min(NOTES, size // len(one))))]
            content = b"[" + b",".join(records) + b"]"
            took = self.read("predictions", content, ".json")
            assert took["end"] == 0
            self._valid[size] = took["seconds"] * max(1.0, size / len(content))
        return self._valid[size]

    def close(self) -> None:
        self._process.communicate()


def packed(content: bytes, ending: str) -> bytes:
    if ending == ".spacy":
        return zlib.compress(content, 1)
    if ending.endswith(".gz"):
        return gzip.compress(content, 1)
    return zstandard.compress(content, 1) if ending.endswith(".zst") else content


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("bounds"))
    yield made
    made.close()


@pytest.mark.parametrize(
    ("given", "room", "megabytes"),
    [
        pytest.param("leaderboard/date-final/cards/date-good.json", record_reading._ROOM, 25, id="card"),
        pytest.param("leaderboard/date-final/board.json", record_reading._ROOM, 90, id="board"),
        pytest.param("submissions/date-good/predictions.json", strict_json._ROOM, 17, id="annotations"),
    ],
)
def test_what_is_read_whole_may_be_as_large_as_the_docs_say(given: str, room: int, megabytes: int) -> None:
    """docs/speed.md: files like these are read up to about so many megabytes, and refused a fifth above that."""
    content = (HERE.parent / given).read_bytes()
    strict_json.refuse_crowded(content * (megabytes * 1_000_000 // len(content)), room)
    with pytest.raises(strict_json.JsonFault, match="more values in one piece"):
        strict_json.refuse_crowded(content * (megabytes * 1_200_000 // len(content)), room)


def test_there_are_enough() -> None:
    assert len({one.name for one in PATHOLOGICAL}) == len(PATHOLOGICAL) >= 30


@pytest.mark.parametrize("one", PATHOLOGICAL, ids=[one.name for one in PATHOLOGICAL])
def test_predictions(bench: Bench, one: Pathological) -> None:
    size = DEAR_SIZE if one.name in DEAR else SIZE
    for ending in ENDINGS:
        bench.hold("predictions", one.made(size, lines=".jsonl" in ending), ending)


@pytest.mark.parametrize("reader", ["gold", "notes"])
def test_files_of_organisers(bench: Bench, reader: str) -> None:
    for one in SPEC[reader]:
        for ending in ENDINGS:
            bench.hold(reader, one.made(SIZE, lines=".jsonl" in ending), ending)


@pytest.mark.parametrize("reader", JSON_READERS)
def test_other_files_of_json(bench: Bench, reader: str) -> None:
    named = {one.name: one for one in PATHOLOGICAL}
    for number, name in enumerate(OTHERS):
        ending = ENDINGS[number % len(ENDINGS)]
        bench.hold(reader, named[name].made(DEAR_SIZE, lines=".jsonl" in ending), ending)


@pytest.mark.parametrize("reader", TEXT_READERS)
def test_files_of_text(bench: Bench, reader: str) -> None:
    for text in TEXTS:
        bench.hold(reader, text.made(SIZE, lines=False), ".json")


DOCBIN: dict[str, Any] = {"version": "0.1", "attrs": [65], "tokens": b"", "spaces": b"", "lengths": b"", "strings": []}
DOCBINS: dict[str, dict[str, Any]] = {
    "strings": {"strings": [f"{i:x}" for i in range(1_000_000)]},
    "documents": {"lengths": b"\0" * 8_000_000},
    "groups": {"span_groups": [b""] * 2_000_000},
    "levels": {"user_data": [b"\x91" * 5_000_000], "lengths": b"\0" * 4},
    "tokens": {"tokens": b"\0" * 8_000_000, "spaces": b"\0" * 1_000_000, "lengths": (1_000_000).to_bytes(4, "little")},
}


@pytest.mark.parametrize("kind", DOCBINS)
def test_docbins(bench: Bench, kind: str) -> None:
    """The size that counts is that of what is packed."""
    content = msgspec.msgpack.encode(DOCBIN | DOCBINS[kind])
    bench.hold("spacy", content, ".spacy")


def test_a_docbin_that_unpacks_beyond_measure(bench: Bench) -> None:
    took = bench.read("spacy", b"\0" * (300 << 20), ".spacy")
    assert took["end"] == 65
    assert took["megabytes"] <= MEMORY

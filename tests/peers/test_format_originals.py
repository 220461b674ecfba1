"""Files of ours, read by the libraries whose formats they are in; and theirs, made anew and read by us."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from peers.originals import ROOT, _succeeding

from sandscore.base.bundled_content import example_gold
from sandscore.formats import FORMATS
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.format_files import save
from sandscore.formats.sandscore_json import read_notes
from sandscore.records.document import Annotation

pytestmark = [pytest.mark.peer, pytest.mark.slow]

SCRIPT = Path(__file__).with_name("format_originals.py")
PYTHON = {"spacy": "presidio", "presidio": "presidio", "cassis": "cassis", "pyarrow": "pyarrow"}
TEXT = "Ann Lee saw \U0001d4b3 Bob  on May 3,\r\n in Oslo\t\u00a0."
PLACES = [
    (0, 3, "GIVEN", 50.0),
    (0, 7, "PER", 99.5),
    (4, 15, "ODD", 1.0),
    (14, 17, "PER", 25.0),
    (22, 27, "DATE", 100.0),
]
"""Types in the order of places; three overlap, and one ends within a word."""


def python_of(library: str) -> str:
    made = _succeeding([sys.executable, str(ROOT / "tools" / "peer_env.py"), PYTHON[library]], "")
    return made.strip()


def asked(verb: str, library: str, folder: Path) -> Any:
    command = [python_of(library), "-W", "ignore", str(SCRIPT), verb, library, str(folder)]
    return json.loads(_succeeding(command, ""))


def ours() -> Corpus:
    marks = tuple(Mark(FLAT, Annotation(s, e - s, TEXT[s:e], kind, sure)) for s, e, kind, sure in PLACES)
    return Corpus((AnnotatedNote(CorpusNote("n1", TEXT), marks), AnnotatedNote(CorpusNote("n2", ""))))


def written(form: str, target: Path, corpus: Corpus | None = None) -> None:
    save(FORMATS.find(form).writes(corpus or ours(), LossJournal(output=str(target))), target, force=False)


def test_spacy_reads_ours(tmp_path: Path) -> None:
    """Entities may not overlap: the longest stay. A note of the example is read as it is, too."""
    note = read_notes(example_gold() / "notes.json")[0]
    written("spacy", tmp_path / "ours.spacy", Corpus((*ours().entries, AnnotatedNote(note))))
    first, second, third = asked("read", "spacy", tmp_path)
    assert (first["text"], second["text"], third["text"]) == (TEXT, "", note.text)
    assert first["spans"] == [[s, e, kind] for s, e, kind, _ in PLACES]
    assert first["ents"] == [[0, 3, "GIVEN"], [4, 15, "ODD"], [22, 27, "DATE"]]
    assert [second["note"], second["ents"], third["ents"]] == ["n2", [], []]


def test_presidio_reads_ours(tmp_path: Path) -> None:
    written("presidio-results", tmp_path / "ours.jsonl")
    assert asked("read", "presidio", tmp_path) == [[[s, e, kind, sure / 100] for s, e, kind, sure in PLACES], []]


def test_cassis_reads_ours(tmp_path: Path) -> None:
    written("uima-cas", tmp_path / "ours-json")
    written("uima-xmi", tmp_path / "ours-xmi")
    spans = sorted([s, e, kind, sure, TEXT[s:e]] for s, e, kind, sure in PLACES)
    found = asked("read", "cassis", tmp_path)
    assert [one["text"] for one in found] == [TEXT, "", TEXT, ""]
    assert [sorted(one["spans"]) for one in found] == [spans, [], spans, []]


FRESH = {
    "spacy": ("spacy", "docs.spacy"),
    "presidio": ("presidio-results", "results.json"),
    "cassis": ("uima-cas", "xmi"),
}


@pytest.mark.parametrize("library", FRESH)
def test_what_they_make_today_is_what_the_tests_keep(library: str, tmp_path: Path) -> None:
    asked("make", library, tmp_path)
    form, name = FRESH[library]
    text = "Ann Lee saw \U0001d4b3 Bob on May 3,\r\n  in Oslo."
    notes = (CorpusNote("n1", text), CorpusNote("n2", ""))[: 2 if library == "spacy" else 1]
    kept = ROOT / "tests" / "formats" / "made" / library
    fresh, known = (FORMATS.find(form).reads([place / name], LossJournal(), notes) for place in (tmp_path, kept))
    assert fresh == known
    assert fresh.marks > 1


READING = """
import json, sys
from pathlib import Path
from sandscore.cli.main import run
run(sys.argv[1:])
"""


def test_parquet_both_ways(tmp_path: Path) -> None:
    """pyarrow is no library that we install: it is lent to a process of ours."""
    packages = next(Path(python_of("pyarrow")).parents[1].glob("lib/python*/site-packages"))
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'scoring'}{os.pathsep}{packages}"}
    notes = [{"identifier": "n1", "text": TEXT}]
    (tmp_path / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    written("hf", tmp_path / "first.jsonl", Corpus(ours().entries[:1]))

    def convert(*words: str) -> None:
        command = [sys.executable, "-c", READING, "convert", "phi", *words, "--lossless"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        assert "error" not in ran.stderr.casefold()

    convert("--from", "hf", "first.jsonl", "--to", "csv", "-o", "ours.parquet")
    convert("--from", "csv", "ours.parquet", "--to", "hf", "-o", "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "first.jsonl").read_bytes()
    rows = asked("read", "pyarrow", tmp_path)
    assert [[row["start"], row["end"], row["type"], row["confidence"]] for row in rows[1:]] == [list(p) for p in PLACES]
    asked("make", "pyarrow", tmp_path)
    convert("--from", "csv", "table.parquet", "--notes", "notes.json", "--to", "tab", "-o", "theirs.json")
    (document,) = json.loads((tmp_path / "theirs.json").read_bytes())
    found = document["annotations"]["annotator1"]["entity_mentions"]
    assert [(one["start_offset"], one["end_offset"], one["entity_type"]) for one in found] == [
        (0, 7, "PER"),
        (21, 26, "DATE"),
    ]

"""The format suite: a corpus comes back as it went, or the journal tells what did not; no bytes break a reader."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import pytest

from sandscore.base.bundled_content import example_gold
from sandscore.base.errors import SandscoreError
from sandscore.formats import FORMATS
from sandscore.formats.conversion import Conversion, convert
from sandscore.formats.corpus import Corpus, CorpusNote, FormatFiles, LossJournal, Output
from sandscore.formats.format_files import save
from sandscore.formats.sandscore_json import read_notes
from sandscore.task_table.task import TASKS

FEW = 8
"""Notes: a byte damages as much of them as of many."""
EXAMPLE = ("date", "person-name", "address")
JUNK = (b"\xff", b"\0", b"{", b"]", b"\t", b"-1", b"9" * 30, b"NaN", b"<!DOCTYPE r>", b"\n\n", "\u2028".encode())


@cache
def notes() -> tuple[CorpusNote, ...]:
    """The notes of the example."""
    return read_notes(example_gold() / "notes.json")


def source(task: str) -> Path:
    return example_gold() / f"{task}.json"


@cache
def as_it_was(task: str) -> Corpus:
    """The example's annotations of one task as they are, which every format is compared with."""
    ours = FORMATS.find("ours")
    return convert(Conversion(ours, ours, (source(task),), (TASKS[task],), notes()), LossJournal())[0]


def written(form: str, path: Path, task: str, known: tuple[CorpusNote, ...]) -> tuple[Output, LossJournal]:
    """The annotations of one task in a format."""
    journal = LossJournal()
    asked = Conversion(FORMATS.find("ours"), FORMATS.find(form), (path,), (TASKS[task],), known)
    return convert(asked, journal)[1], journal


@pytest.fixture(scope="module")
def few_notes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Output]:
    """A few notes of the example in a format: written once for all damaged copies, each made of its own bytes."""
    few = tmp_path_factory.mktemp("few") / "date.json"
    few.write_text(json.dumps(json.loads(source("date").read_text(encoding="utf-8"))[:FEW]), encoding="utf-8")
    return cache(lambda form: written(form, few, "date", notes()[:FEW])[0])


def test_it_describes_itself(format: str) -> None:  # noqa: A002
    row = FORMATS.find(format)
    assert row.fault() is None
    assert row.description.strip()
    assert all(suffix.startswith(".") for suffix in row.suffixes)


@pytest.mark.parametrize("task", EXAMPLE)
def test_a_corpus_comes_back_or_its_loss_is_told(format: str, task: str, tmp_path: Path) -> None:  # noqa: A002
    made, journal = written(format, source(task), task, notes())
    save(made, tmp_path / "theirs", force=False)
    here = as_it_was(task)
    asked = Conversion(FORMATS.find(format), FORMATS.find("ours"), (tmp_path / "theirs",), (TASKS[task],), notes())
    there = convert(asked, journal)[0]
    assert len(there.entries) == len(here.entries)
    assert there.entries == here.entries or journal.losses


@pytest.mark.parametrize("seed", range(40))
def test_hostile_bytes_end_in_a_sentence(
    format: str,  # noqa: A002
    seed: int,
    few_notes: Callable[[str], Output],
    tmp_path: Path,
) -> None:
    draw = Random(seed)  # noqa: S311
    made = few_notes(format)
    files = dict(made.content) if isinstance(made, FormatFiles) else {"theirs": made}
    name = draw.choice(sorted(files))
    for _ in range(draw.randint(1, 3)):
        data = files[name]
        at = draw.randrange(len(data) + 1)
        files[name] = data[:at] + draw.choice(JUNK) + data[at + draw.randrange(8) :]
    for one, data in files.items():
        (tmp_path / one).write_bytes(data)
    target = tmp_path if isinstance(made, FormatFiles) else tmp_path / "theirs"
    try:
        FORMATS.find(format).reads((target,), LossJournal(), notes()[:FEW])
    except SandscoreError as fault:
        assert fault.exit_code in {2, 65, 66}  # noqa: PT017
        assert str(fault).strip()  # noqa: PT017

"""The format suite: a corpus comes back as it went, or the journal tells what did not; no bytes break a reader."""

from functools import cache
from pathlib import Path
from random import Random

import pytest

from sandscore.base.bundled_content import example_gold
from sandscore.base.errors import SandscoreError
from sandscore.formats import FORMATS
from sandscore.formats.conversion import Conversion, convert
from sandscore.formats.corpus import FormatFiles, LossJournal, Output
from sandscore.formats.format_files import save
from sandscore.formats.sandscore_json import read_notes
from sandscore.task_table.task import TASKS

EXAMPLE = ("date", "person-name", "address")
JUNK = (b"\xff", b"\0", b"{", b"]", b"\t", b"-1", b"9" * 30, b"NaN", b"<!DOCTYPE r>", b"\n\n", "\u2028".encode())


def written(form: str, task: str) -> tuple[Output, LossJournal]:
    """The example's annotations of one task in a format."""
    journal = LossJournal()
    paths = (example_gold() / f"{task}.json",)
    notes = read_notes(example_gold() / "notes.json")
    return convert(Conversion(FORMATS.find("ours"), FORMATS.find(form), paths, (TASKS[task],), notes), journal)[
        1
    ], journal


@cache
def example_in(form: str) -> Output:
    """Written once for all damaged copies of it, each of which is made of its own bytes."""
    return written(form, "date")[0]


def test_it_describes_itself(format: str) -> None:  # noqa: A002
    row = FORMATS.find(format)
    assert row.fault() is None
    assert row.description.strip()
    assert all(suffix.startswith(".") for suffix in row.suffixes)


@pytest.mark.parametrize("task", EXAMPLE)
def test_a_corpus_comes_back_or_its_loss_is_told(format: str, task: str, tmp_path: Path) -> None:  # noqa: A002
    made, journal = written(format, task)
    save(made, tmp_path / "theirs", force=False)
    notes = read_notes(example_gold() / "notes.json")
    source = example_gold() / f"{task}.json"
    ours = FORMATS.find("ours")
    here = convert(Conversion(ours, ours, (source,), (TASKS[task],), notes), LossJournal())[0]
    asked = Conversion(FORMATS.find(format), ours, (tmp_path / "theirs",), (TASKS[task],), notes)
    there = convert(asked, journal)[0]
    assert len(there.entries) == len(here.entries)
    assert there.entries == here.entries or journal.losses


@pytest.mark.parametrize("seed", range(40))
def test_hostile_bytes_end_in_a_sentence(format: str, seed: int, tmp_path: Path) -> None:  # noqa: A002
    draw = Random(seed)  # noqa: S311
    made = example_in(format)
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
        FORMATS.find(format).reads((target,), LossJournal(), read_notes(example_gold() / "notes.json"))
    except SandscoreError as fault:
        assert fault.exit_code in {2, 65, 66}  # noqa: PT017
        assert str(fault).strip()  # noqa: PT017

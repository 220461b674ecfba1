"""Gold that is kept in memory is the gold on the disk."""

import os
from pathlib import Path

import pytest
from queue_samples import GOLD, HALF, annotations, challenge_folder

from sandscore.queue.attempt_scoring import References
from sandscore.task_table.task import find_task

DATE = find_task("date")
LONG_AGO = 1_600_000_000


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Gold and notes that nobody has touched for a while."""
    folder = challenge_folder(tmp_path / "data").parent
    monkeypatch.setattr("sandscore.base.file_marks._SETTLED_SECONDS", -60.0)
    return folder / "date.json", folder / "notes.json"


def test_it_is_read_once(data: tuple[Path, Path]) -> None:
    references = References()
    assert references.find(DATE, *data) is references.find(DATE, *data)


@pytest.mark.parametrize("how", ["written over", "replaced", "made to look as old as before"])
def test_a_change_is_noticed(data: tuple[Path, Path], how: str) -> None:
    gold, notes = data
    references = References()
    old = references.find(DATE, gold, notes)
    before, content = gold.stat(), annotations(GOLD).replace(b"10/26/2020", b"10/26/2021")
    assert len(content) == before.st_size
    if how == "replaced":
        (gold.parent / "new").write_bytes(content)
        (gold.parent / "new").replace(gold)
    else:
        gold.write_bytes(content)
    if how == "made to look as old as before":
        os.utime(gold, ns=(before.st_atime_ns, before.st_mtime_ns))
    new = references.find(DATE, gold, notes)
    assert new is not old
    assert new.loaded.sha256 != old.loaded.sha256


def test_a_file_that_changed_a_moment_ago_is_not_relied_upon(tmp_path: Path) -> None:
    folder = challenge_folder(tmp_path / "data").parent
    references = References()
    first = references.find(DATE, folder / "date.json", folder / "notes.json")
    assert references.find(DATE, folder / "date.json", folder / "notes.json") is not first


def test_only_so_much_is_kept(data: tuple[Path, Path]) -> None:
    gold, notes = data
    other = gold.with_name("other.json")
    other.write_bytes(annotations(HALF))
    references = References(most_bytes=1)
    first = references.find(DATE, gold, notes)
    assert references.find(DATE, gold, notes) is first, "the last one stays"
    references.find(DATE, other, notes)
    assert references.find(DATE, gold, notes) is not first

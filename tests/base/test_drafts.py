"""Files of attempts that reach the disk together."""

import shutil
from pathlib import Path

import pytest

from sandscore.base.whole_files import Drafts


def test_files_and_all_new_folders_are_brought_to_disk_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("os.fsync", lambda number: synced.append(Path(f"/proc/self/fd/{number}").readlink()))
    drafts, places = Drafts(), [tmp_path / name / "1-x" / "card.json" for name in ("a", "b")]
    for place in places:
        place.parent.mkdir(parents=True)
        drafts.write(place, b"card of " + place.parent.parent.name.encode())
    assert [place.read_bytes() for place in places] == [b"card of a", b"card of b"]
    assert drafts.settle(3) == {}
    assert synced[:2] == places, "files before the folders they stand in"
    assert sorted(synced[2:]) == sorted({folder for place in places for folder in list(place.parents)[:3]})


def test_what_a_dead_writer_left_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_bytes(b"ha")
    drafts = Drafts()
    drafts.write(tmp_path / "card.json", b"whole")
    drafts.settle(1)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("card.json", b"whole")]


def test_a_folder_that_is_gone_is_its_own_fault_alone(tmp_path: Path) -> None:
    drafts = Drafts()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        drafts.write(tmp_path / name / "card.json", b"x")
    shutil.rmtree(tmp_path / "a")
    assert list(drafts.settle(1)) == [tmp_path / "a"]
    with pytest.raises(FileNotFoundError):
        drafts.write(tmp_path / "a" / "card.json", b"x")

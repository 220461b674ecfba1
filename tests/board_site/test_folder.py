"""Writing a site: whole or not at all, only what changed, nothing that is not ours."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.site.site_folder import MANIFEST, write_page, write_site

PAGES = {"a/leaf.html": b"leaf", "index.html": b"index"}


def listed(site: Path) -> set[str]:
    return {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


def test_only_what_changed_is_replaced(tmp_path: Path) -> None:
    assert write_site(tmp_path, PAGES).changed == ("a/leaf.html", "index.html")
    before = {name: (tmp_path / name).stat() for name in (*PAGES, MANIFEST)}
    assert write_site(tmp_path, PAGES).changed == ()
    assert {name: (tmp_path / name).stat() for name in before} == before
    assert write_site(tmp_path, PAGES | {"index.html": b"other"}).changed == ("index.html",)
    assert (tmp_path / "a/leaf.html").stat() == before["a/leaf.html"]


def test_what_is_no_longer_part_of_it_goes_and_empty_folders_with_it(tmp_path: Path) -> None:
    write_site(tmp_path, PAGES)
    assert write_site(tmp_path, {"index.html": b"index"}).removed == ("a/leaf.html",)
    assert listed(tmp_path) == {"index.html", MANIFEST}
    assert not (tmp_path / "a").exists()


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "CNAME").write_text("example.org")
    write_site(tmp_path, PAGES)
    write_site(tmp_path, {"index.html": b"index"})
    assert listed(tmp_path) == {"CNAME", "index.html", MANIFEST}


def test_a_file_of_others_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("somebody's home page")
    with pytest.raises(UsageFault, match="was not published"):
        write_site(tmp_path, PAGES)
    assert listed(tmp_path) == {"index.html"}


@pytest.mark.parametrize("name", ["../outside", "/etc/outside", "a/../../outside", "", MANIFEST])
def test_a_list_that_leads_elsewhere_is_not_believed(tmp_path: Path, name: str) -> None:
    site = tmp_path / "site"
    write_site(site, PAGES)
    (tmp_path / "outside").write_text("precious")
    (site / MANIFEST).write_text(json.dumps({"files": {**dict.fromkeys(PAGES, ""), name: ""}}))
    assert write_site(site, PAGES).removed == ()
    assert (tmp_path / "outside").read_text() == "precious"


@pytest.mark.parametrize("content", ["", "[]", '{"files": []}', "[" * 100_000])
def test_a_broken_list_is_said(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content)
    with pytest.raises(UsageFault, match="is not the list of a published site"):
        write_site(tmp_path, PAGES)


def test_a_failure_halfway_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_site(tmp_path, PAGES)
    whole = Path.open

    def full_disk(path: Path, mode: str = "r") -> Any:
        if path.name.startswith(".index"):
            raise OSError(28, "No space left on device")
        return whole(path, mode)

    monkeypatch.setattr(Path, "open", full_disk)
    with pytest.raises(InfrastructureFault, match="No space left"):
        write_site(tmp_path, {"a/leaf.html": b"new leaf", "index.html": b"new index"})
    assert {name: (tmp_path / name).read_bytes() for name in PAGES} == PAGES
    assert listed(tmp_path) == {*PAGES, MANIFEST}


def test_leaves_are_in_place_before_the_pages_that_link_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = []
    move = Path.replace

    def watched(path: Path, target: Path) -> Path:
        order.append(target.name)
        return move(path, target)

    monkeypatch.setattr(Path, "replace", watched)
    write_site(tmp_path, PAGES)
    assert order == [MANIFEST, "leaf.html", "index.html", MANIFEST], "announced, leaves, pages, settled"


def test_a_folder_where_a_file_belongs_is_said(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    with pytest.raises(UsageFault, match="a file stands where a folder is needed"):
        write_page(tmp_path / "report.html", b"report")
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]


def test_who_is_killed_half_way_may_begin_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[str] = []
    move = Path.replace

    def dying(self: Path, target: Path) -> Path:
        moved.append(Path(target).name)
        if len(moved) == 3:
            raise KeyboardInterrupt
        return move(self, target)

    monkeypatch.setattr(Path, "replace", dying)
    with pytest.raises(KeyboardInterrupt):
        write_site(tmp_path, PAGES)
    monkeypatch.undo()
    assert moved[0] == MANIFEST
    assert len(moved) == 3
    assert write_site(tmp_path, PAGES).files == len(PAGES)
    assert {name: (tmp_path / name).read_bytes() for name in PAGES} == PAGES

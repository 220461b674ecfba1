"""The share kit: read back by other people's readers, hostile names and all, and the same bytes each time."""

import json
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest
from board_samples import HOSTILE, samples, write_board

from sandscore.base.errors import UsageFault
from sandscore.cli.main import run
from sandscore.site.publication import PublicationSettings, publish
from sandscore.site.share_kit import NEVER, site_address

URL = "https://example.org/lb/"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board in two versions whose gold changed, with hostile names."""
    folder = tmp_path_factory.mktemp("shared")
    earlier = write_board(folder / "earlier", samples()[:4], signature="address|challenge|gold:ba9876543210|v0.1.0")
    publish([earlier, write_board(folder / "now", samples())], folder / "site", PublicationSettings(url=URL))
    return folder


def test_publishing_again_changes_no_byte(shared: Path) -> None:
    boards = [shared / name / "board.json" for name in ("earlier", "now")]
    assert publish(boards, shared / "site", PublicationSettings(url=URL)).changed == ()
    without = publish(boards, shared / "plain", PublicationSettings())
    assert not [name for name in without.changed if name.endswith((".svg", ".png", ".xml", ".cff", ".bib"))]


def test_the_feed_tells_of_best_scores_and_of_gold(shared: Path) -> None:
    """By hand: of eight systems handed in three days apart, the first is the best from the beginning."""
    feed = ElementTree.fromstring((shared / "site" / "feed.xml").read_bytes())
    entries = feed.findall(f"{ATOM}entry")
    told = [(entry.findtext(f"{ATOM}updated"), entry.findtext(f"{ATOM}title")) for entry in entries]
    assert [when for when, _ in told] == ["2026-01-14T00:00:00Z", "2026-01-05T00:00:00Z"]
    assert "scored again" in str(told[0][1])
    assert "the best score so far is of Team 0" in str(told[1][1])
    assert feed.findtext(f"{ATOM}updated") == told[0][0]
    assert all(str(entry.findtext(f"{ATOM}id")).startswith(f"{URL}address/index.html#") for entry in entries)


def test_a_badge_says_the_places(shared: Path) -> None:
    board = json.loads((shared / "site" / "address" / "board.json").read_text())
    held = {row["submission"]: row["rank_set"] for row in board["rows"]}
    low, high = held["system-0"]
    badge = ElementTree.fromstring((shared / "site" / "address" / "badges" / "system-0.svg").read_bytes())
    said = f"place {low} of 8" if low == high else f"places {low}–{high} of 8"
    assert badge.findtext("{http://www.w3.org/2000/svg}title") == said


def test_citations_are_read_by_others(shared: Path) -> None:
    lines = (shared / "site" / "CITATION.cff").read_text().splitlines()
    told = {name: json.loads(value) for name, _, value in (line.partition(": ") for line in lines)}
    assert told["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "type"} <= told.keys()
    assert told["url"] == URL
    bib = (shared / "site" / "cite.bib").read_text()
    assert bib.startswith("@misc{address,\n")
    assert bib.count("{") == bib.count("}")


def test_the_preview_is_a_picture_of_the_size_that_is_said(shared: Path) -> None:
    content = (shared / "site" / "address" / "preview.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", content[16:24]) == (1200, 630)
    assert b"tIME" not in content


def test_a_page_describes_itself(shared: Path) -> None:
    page = (shared / "site" / "address" / "index.html").read_text()
    assert f'<meta property="og:image" content="{URL}address/preview.png">' in page
    assert "img-src 'self'; connect-src 'self'\">" in page.replace("&#39;", "'")
    block = page.split('<script type="application/ld+json">')[1].split("</script>")[0]
    told = json.loads(block)
    assert told["@type"] == "Dataset"
    assert told["url"] == f"{URL}address/"
    assert "<bdi>" not in told["description"]
    assert told["description"].endswith(".")
    for name in ("feed.xml", "cite.bib", "CITATION.cff", "address/index.html"):
        assert HOSTILE not in (shared / "site" / name).read_text()


def test_a_site_of_nothing_dated_has_an_empty_feed(tmp_path: Path) -> None:
    board = write_board(tmp_path / "made", samples(3), created=None)
    publish([board], tmp_path / "site", PublicationSettings(url=URL))
    feed = ElementTree.fromstring((tmp_path / "site" / "feed.xml").read_bytes())
    assert feed.findall(f"{ATOM}entry") == []
    assert feed.findtext(f"{ATOM}updated") == NEVER


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "ftp://example.org/", "https://", "https://a b/", 'https://a/"', "https://a/?q", "http://[x"],
)
def test_what_is_no_address_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="--url wants the address"):
        site_address(url)
    assert run(["publish", "leaderboard/date-final/board.json", "-o", str(tmp_path / "x"), "--url", url]) == 2


def test_an_address_is_a_folder() -> None:
    assert site_address("https://example.org/lb") == URL == site_address(URL)

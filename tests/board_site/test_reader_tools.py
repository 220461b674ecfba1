"""What a reader can do with a board: pick two rows, see what is hard, and come back to what was looked at."""

import json
from pathlib import Path

import pytest
from board_samples import Sample, write_board
from playwright.sync_api import Browser, Page
from published_pages import opened

from sandscore.records.board import Board
from sandscore.records.counts import Counts
from sandscore.site.board_files import CardFacts, ShownCard
from sandscore.site.label_matrix import label_matrix
from sandscore.site.publication import publish
from sandscore.site.site_folder import file_name

EXAMPLE = Path(__file__).resolve().parents[2] / "leaderboard" / "date-final" / "board.json"


def card(**labels: tuple[int, int, int]) -> ShownCard:
    rows = {name: {"token": dict(zip(("tp", "fp", "fn"), counts, strict=True))} for name, counts in labels.items()}
    return ShownCard(b"", CardFacts(measures={}, per_label=rows, notes=1))


def test_the_hardest_label_comes_first_and_small_ones_are_marked() -> None:
    """By hand: of both together, city is 2·12 over 2·12 + 4 + 8 = 2/3, zip 2·9 over 2·9 + 3 + 1 = 9/11."""
    board = Board.model_validate_json(EXAMPLE.read_text())
    cards = {
        "one": {"": card(zip=(5, 0, 0), city=(8, 2, 2), invented=(0, 3, 0))},
        "two": {"north": card(city=(2, 1, 4)), "south": card(zip=(4, 3, 1), city=(2, 1, 2))},
    }
    made = label_matrix(board, cards)
    assert made is not None
    assert [(column.label, column.gold, column.few) for column in made.columns] == [
        ("city", 10, False),
        ("zip", 5, True),
    ]
    assert made.cells["two"] == [Counts(4, 2, 6), Counts(4, 3, 1)]
    assert [made.shade(counts) for counts in (Counts(0, 1, 1), Counts(1, 1, 1), Counts(9, 1, 1), Counts(3, 0, 0))] == [
        0,
        2,
        4,
        4,
    ]
    assert label_matrix(board, {"one": {"": card(invented=(0, 1, 0))}}) is None


def page_of(site: Path) -> Path:
    return site / "address" / "index.html"


def shown(page: Page) -> int:
    return page.locator("#board tbody tr:visible").count()


@pytest.mark.browser
def test_any_two_are_compared_as_the_board_has_it(browser: Browser, site: Path) -> None:
    board = json.loads((site / "address" / "board.json").read_text())
    for pair in (board["pairwise"][0], board["pairwise"][9]):
        a, b = (file_name(pair[side]) for side in "ba")
        with opened(browser, f"{page_of(site).as_uri()}#a={a}&b={b}") as page:
            said = page.locator("[data-pick-result]").inner_text()
            ends = sorted(-end for end in pair["delta_ci"])
            more = f"scores {abs(pair['delta']):.4f} {'less' if pair['delta'] > 0 else 'more'} than"
            interval = " and ".join(f"{end:.4f}".replace("-", "−") for end in ends)
            assert more in said
            assert f"Between {interval} lie 95 %" in said
            apart = (
                "The test tells the two apart" if pair["p_adjusted"] <= 0.05 else "The test does not tell the two apart"
            )
            assert apart in said
            floor = pair["p_adjusted"] == 1 / 2000
            assert (
                "the smallest possible with this many draws" if floor else f"p {pair['p_adjusted']:.4f}, adjusted"
            ) in said
            won, tied, lost = reversed(pair["patients"])
            assert f"is better on {won} of the {board['units']} patients" in said
            assert f"on {lost}; on {tied} they are equal" in said
            assert page.locator("[data-pick-result] tbody tr").count() == 2
            page.select_option("#pick-a", value=b)
            assert "Choose two different rows" in page.locator("[data-pick-result]").inner_text()
            assert f"a={b}" in page.url


@pytest.mark.browser
def test_what_was_looked_at_is_in_the_address_and_remembered(browser: Browser, site: Path) -> None:
    with opened(browser, page_of(site)) as page:
        page.get_by_text("Columns", exact=True).click()
        page.get_by_label("P(first)").check()
        page.get_by_role("button", name="Submission").click()
        page.get_by_label("Filter by name").fill("TÉAM")
        page.select_option("#show", "leads")
        order, left, address = page.locator("#board tbody tr:visible").all_inner_texts(), shown(page), page.url
        assert "sort=Submission" in address
        assert 0 < left < 8
        for place in (address, page_of(site).as_uri()):
            again = page.context.new_page()
            again.goto(place)
            assert again.locator("#board tbody tr:visible").all_inner_texts() == order
            assert again.get_by_role("columnheader", name="P(first)").is_visible()
            assert again.get_by_label("Filter by name").input_value() == "TÉAM"


@pytest.mark.browser
def test_a_row_has_an_address_of_its_own(browser: Browser, site: Path) -> None:
    with opened(browser, f"{page_of(site).as_uri()}#row-system-3") as page:
        assert page.locator("#board tr:target th").inner_text().startswith(("Team 3", "system-3"))
        assert shown(page) == 8


@pytest.mark.browser
def test_the_best_of_each_team_is_its_first_row(browser: Browser, tmp_path: Path) -> None:
    entrants = [Sample(f"system-{at}", 0.9 - 0.1 * at, f"Team {at % 2}") for at in range(5)]
    publish([write_board(tmp_path / "made", entrants)], tmp_path / "site")
    with opened(browser, tmp_path / "site" / "address" / "index.html") as page:
        page.select_option("#show", "best")
        assert shown(page) == 2
        assert page.locator("[data-status=board]").inner_text() == "2 of 5 rows shown."


def test_a_large_board_has_no_pairs_on_its_page(tmp_path: Path) -> None:
    publish(
        [write_board(tmp_path / "made", [Sample(f"system-{at}", 0.9 - 0.01 * at) for at in range(61)])],
        tmp_path / "site",
    )
    text = (tmp_path / "site" / "address" / "index.html").read_text()
    assert "data-pick hidden" not in text
    assert 'id="by-label"' in text

"""What follows from totals is made again: counts make ratios, order, ranks and groups, and a touched one is named."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ranking_cards import card_content, drawn_rows
from struct_values import changeable

from sandscore.base.errors import ParticipantFault
from sandscore.disclosure.board_view import recomputed_view
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import read_card
from sandscore.records.board import BoardPolicy
from sandscore.records.ranking_rules import BoardRules, CardRule, FeedbackMode
from sandscore.site.publication import publish
from sandscore.verification.board_verification import Verified, verify

QUICK = BoardRules(resamples=200, randomisations=399)
SKILLS = (0.6, 0.72, 0.9, 0.9)


def published(
    folder: Path,
    *,
    cards: CardRule = "totals",
    feedback: FeedbackMode = "full",
    ended: bool = True,
    sites: tuple[str, ...] = ("example",),
    **rules: Any,
) -> Path:
    """The board of four submissions on hidden gold, ranked from exact cards and published; the last two are equal."""
    names = []
    for at, skill in enumerate(SKILLS):
        for site in sites:
            seed = min(at, 2) + len(site)
            drawn = {
                name: drawn_rows(skill, 30, seed + place) for place, name in enumerate(("instance_strict", "token"))
            }
            made = card_content(f"s{at}", drawn, dataset=site, created=f"2026-01-0{at + 1}T00:00:00Z")
            made["per_label"] = {
                "mine": {"token": {"tp": 0, "fp": 4, "fn": 0}},
                "city": {"token": {"tp": 3, "fp": 1, "fn": 2}},
            }
            path = folder / f"{at}-{site}.json"
            path.write_text(json.dumps(made), encoding="utf-8")
            names.append(path)
    board = rank(
        [read_card(path) for path in names], QUICK.model_copy(update={**rules, "feedback": feedback, "ended": ended})
    )
    policy = BoardPolicy(
        notes="hidden", gold="hidden", cards=cards, feedback="rounded" if feedback == "full" else feedback, ended=ended
    )
    exact = folder / "board.json"
    exact.write_text(as_json(board.model_copy(update={"policy": policy})), encoding="utf-8")
    publish([exact], folder / "site")
    return folder / "site" / "date" / "board.json"


def touched(path: Path, where: tuple[Any, ...], new: Any) -> Path:
    content = json.loads(path.read_text())
    inner = content
    for step in where[:-1]:
        inner = inner[step]
    inner[where[-1]] = new
    path.write_text(json.dumps(content))
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"tie_rule": "holm", "interval": "percentile"},
        {"tie_rule": "dream_k3", "numbering": "dense"},
        {"tie_break": ("token", "instance_strict"), "numbering": "average"},
        {"aggregation": "borda", "measures": {"instance_strict": 2, "token": 1}},
        {"aggregation": "lexicographic", "measures": {"instance_strict": 1, "token": 1}},
        {"sites": ("north", "south")},
    ],
    ids=["plain", "holm", "dream", "tie break", "borda", "lexicographic", "two sites"],
)
@pytest.mark.parametrize("cards", ["none", "totals"])
def test_an_honest_board_passes_at_the_level_of_totals(tmp_path: Path, cards: CardRule, rules: dict[str, Any]) -> None:
    verified = verify(published(tmp_path, cards=cards, **rules))
    assert (verified.level, verified.values > 50) == ("totals", True)
    assert verified.cards == (0 if cards == "none" else 8 if "sites" in rules else 4)
    assert {"/pairwise/*/wins", "/rows/*/p_first", "/stability"} <= {*verified.not_recomputed}
    assert ("/rows/*/card" in verified.withheld) == (cards == "none")


@pytest.mark.slow
@pytest.mark.parametrize("feedback", ["full", "rounded", "ladder", "blind"])
def test_a_running_board_passes_by_what_it_shows(tmp_path: Path, feedback: FeedbackMode) -> None:
    path = published(tmp_path, feedback=feedback, ended=False)
    verified = verify(path)
    assert (verified.level, verified.cards) == ("totals", 0)
    assert {"/rows/*/card", "/rows/*/p_first", "/pairwise", "/rows/*/measures/*/tp"} <= {*verified.withheld}
    assert ("/rows/*/measures/*/f1" in verified.not_recomputed) == (feedback != "blind")
    board = json.loads(path.read_text())
    assert len(board["rows"]) == 4
    if feedback != "blind":
        worst = board["rows"][-1]["rank"]
        with pytest.raises(ParticipantFault, match=rf"/rows/3/rank is {worst + 1}; its own numbers make {worst}"):
            verify(touched(path, ("rows", 3, "rank"), worst + 1))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


COPIED = {
    "delta_ci",
    "p_adjusted",
    "units",
    "stability",
    "effective_patients",
    "p",
    "wins",
    "f1_ci",
    "score_ci",
    "chosen_ci",
    "expected",
    "p_first",
}
"""The numbers that need counts note by note: ``verify`` names them."""


@pytest.mark.slow
def test_every_number_counts_but_those_that_are_named(tmp_path: Path) -> None:
    path = published(tmp_path)
    honest = path.read_text()
    assert {part.rpartition("/")[2] for part in verify(path).not_recomputed} <= COPIED | {"warnings", "created"}
    numbers = [
        (where, value)
        for where, value in leaves(json.loads(honest))
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and where[0] not in ("config", "stability")
        and not {str(step) for step in where} & COPIED
    ]
    assert len(numbers) > 60
    for where, value in random.Random(4).sample(numbers, 40):
        path.write_text(honest)
        with pytest.raises(ParticipantFault):
            verify(touched(path, where, value + (1e-4 if isinstance(value, float) else 1)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "new", "named"),
    [
        (("rows", 0, "measures", "token", "f1"), 0.5, "/rows/0/measures/token/f1 is 0.5; its own numbers make"),
        (("rows", 2, "measures", "token", "tp"), 1, "/rows/2/measures/token/tp is 1; its card of totals says"),
        (("rows", 0, "team"), "somebody", '/rows/0/team is "somebody"; its card of totals says "team s2"'),
        (("rows", 3, "group"), 1, "/rows/3/group is 1; its own numbers make 3"),
        (("rows", 1, "rank"), 2, "/rows/1/rank is 2; its own numbers make 1"),
        (("rows", 0, "signature"), "date|v0", "/rows/0/signature"),
        (("gold", "example"), "f" * 12, "/gold/example"),
        (("seed",), "0x0000000000000001", "/seed"),
        (("pairwise", 0, "p"), 0.0125, "/pairwise/0/p_bh"),
        (("config", "numbering"), "dense", "/rows/2/rank is 3; its own numbers make 2"),
        (("withheld",), ["/rows/*/rank"], "/withheld names /rows/\\*/rank, which its policy does not keep back"),
        (
            ("withheld",),
            ["/rows/*/created"],
            '/rows/0/created is "2026-01-03T00:00:00Z", though the board withholds it',
        ),
        (("rows", 1, "card"), None, "/rows/1/card leads to no card of totals, and is not withheld"),
        (("rows",), [], "/effective_patients"),
        (("pairwise",), [], "/rows"),
    ],
    ids=lambda value: "/".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_what_is_touched_is_named(tmp_path: Path, where: tuple[Any, ...], new: Any, named: str) -> None:
    path = published(tmp_path)
    with pytest.raises(ParticipantFault, match=named):
        verify(touched(path, where, new))


def test_a_submission_without_a_mistake_is_ranked_as_its_totals_are(tmp_path: Path) -> None:
    """All is found and nothing invented: one mistake, of either kind, is all that the others are behind."""
    names = []
    for at, row in enumerate([(5, 0, 0), (5, 1, 0), (5, 0, 1)]):
        path = tmp_path / f"{at}.json"
        path.write_text(json.dumps(card_content(f"s{at}", [row] + [(5, 0, 0)] * 5)), encoding="utf-8")
        names.append(path)
    rules = QUICK.model_copy(update={"feedback": "full", "ended": True})
    board = rank([read_card(path) for path in names], rules)
    policy = BoardPolicy(notes="hidden", gold="hidden", cards="totals", feedback="rounded", ended=True)
    exact = tmp_path / "board.json"
    exact.write_text(as_json(board.model_copy(update={"policy": policy})), encoding="utf-8")
    publish([exact], tmp_path / "site")
    shown = tmp_path / "site" / "date" / "board.json"
    rows = json.loads(shown.read_text())["rows"]
    assert [row["rank"] for row in rows] == [1, 2, 2]
    assert [row["measures"]["instance_strict"]["f1"] for row in rows] == [1, 60 / 61, 60 / 61]
    verified = verify(shown)
    assert (verified.level, verified.cards) == ("totals", 3)


@pytest.mark.parametrize("sites", [("example",), ("north", "south")], ids=["one data set", "two sites"])
def test_a_row_that_names_no_card_is_named(tmp_path: Path, sites: tuple[str, ...]) -> None:
    path = published(tmp_path, sites=sites)
    assert verify(path).cards == 4 * len(sites)
    where = ("rows", 1) if len(sites) == 1 else ("rows", 1, "sites", "south")
    named = "/" + "/".join(map(str, (*where, "card")))
    with pytest.raises(ParticipantFault, match=f"{named} leads to no card of totals, and is not withheld"):
        verify(touched(path, (*where, "card"), None))


def test_another_card_of_totals_is_not_the_boards(tmp_path: Path) -> None:
    path = published(tmp_path)
    card = path.parent / "cards" / "s0.json"
    card.write_text(card.read_text().replace('"fp":', '"fp": '))
    with pytest.raises(ParticipantFault, match=r"s0\.json is not the card this board was made from"):
        verify(path)


def test_cards_of_totals_are_not_ranked(tmp_path: Path) -> None:
    path = published(tmp_path)
    with pytest.raises(
        ParticipantFault, match="is a card of totals, without a count for each note: it cannot be ranked"
    ):
        read_card(path.parent / "cards" / "s0.json")


@pytest.mark.parametrize("feedback", ["full", "rounded", "ladder", "blind"])
@pytest.mark.parametrize("ended", [True, False], ids=["ended", "running"])
def test_with_the_exact_cards_in_hand_everything_is_recomputed(
    tmp_path: Path, feedback: FeedbackMode, ended: bool
) -> None:
    """An organiser names the cards that a published board withholds."""
    path = published(tmp_path, cards="none", feedback=feedback, ended=ended)
    exact = [tmp_path / f"{at}-example.json" for at in range(len(SKILLS))]
    verified: Verified = verify(path, exact, as_shown=recomputed_view)
    assert (verified.level, verified.cards) == ("recomputed", 4)
    if feedback != "blind":
        with pytest.raises(ParticipantFault, match="/rows/0/rank is 9; its cards make 1"):
            verify(touched(path, ("rows", 0, "rank"), 9), exact, as_shown=recomputed_view)


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("verification") == set()

"""From boards to files: the same bytes every time, cards only where they may be seen, boards of every kind."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from board_samples import PUBLIC, QUICK, Sample, samples, write_board
from click.testing import CliRunner
from msgspec.structs import replace
from ranking_cards import card_content, drawn_rows

from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.cli.publish import command
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import card_entry, read_card
from sandscore.records.board import BoardPolicy
from sandscore.records.challenge import Challenge, DataChanges, Publication
from sandscore.records.ranking_rules import BoardRules, CardRule
from sandscore.site.board_files import read_board
from sandscore.site.publication import PublicationSettings, publish
from sandscore.verification.board_verification import verify

HIDDEN = BoardPolicy(notes="hidden", gold="hidden", cards="totals", feedback="rounded", ended=False)


def contents(site: Path) -> dict[str, bytes]:
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def ranked(
    folder: Path, rules: BoardRules, *datasets: str, policy: BoardPolicy | None = PUBLIC, **changes: Any
) -> Path:
    """A board of three submissions under these rules, its cards named after notes."""
    paths = []
    for at, dataset in [(at, dataset) for at in range(3) for dataset in datasets or ("example",)]:
        rows = {name: drawn_rows(0.6 + 0.1 * at, 40, at) for name in ("instance_strict", "token")}
        path = folder / f"{at}-{dataset}.json"
        path.write_text(json.dumps(card_content(f"s{at}", rows, dataset=dataset, **changes)), encoding="utf-8")
        paths.append(path)
    board = folder / "board.json"
    entries = [replace(read_card(path), listed=path.name) for path in paths]
    made = rank(entries, rules, "final").model_copy(update={"policy": policy})
    board.write_text(as_json(made), encoding="utf-8")
    return board


def test_the_same_boards_make_the_same_bytes(tmp_path: Path) -> None:
    boards = [write_board(tmp_path / "one", samples(4)), write_board(tmp_path / "two", samples(3), task="date")]
    publish(boards, tmp_path / "a")
    publish(boards, tmp_path / "b")
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert publish(boards, tmp_path / "a").changed == ()


def test_a_stranger_recomputes_the_published_board(tmp_path: Path) -> None:
    publish([write_board(tmp_path / "board", samples(4))], tmp_path / "site")
    (tmp_path / "site").rename(tmp_path / "elsewhere")
    (tmp_path / "board").rename(tmp_path / "gone")
    assert verify(tmp_path / "elsewhere" / "address" / "board.json").cards == 4


def test_cards_that_name_notes_stay_at_home_unless_the_policy_lets_them_out(tmp_path: Path) -> None:
    board = ranked(tmp_path, QUICK, policy=None)
    publish([board], tmp_path / "site")
    files = contents(tmp_path / "site")
    assert len([name for name in files if "cards/" in name]) == 3
    assert b"This site holds cards of totals" in files["date-final/index.html"]
    assert all(b"note-7" not in content for content in files.values())
    publish([ranked(tmp_path, QUICK)], tmp_path / "site")
    assert b"note-7" in contents(tmp_path / "site")["date-final/cards/s0.json"]


@pytest.mark.parametrize(("cards", "level"), [("none", "totals"), ("totals", "totals"), ("notes", "recomputed")])
def test_no_more_of_the_cards_than_was_asked_for(tmp_path: Path, cards: CardRule, level: str) -> None:
    publish([ranked(tmp_path, QUICK)], tmp_path / "site", PublicationSettings(cards=cards))
    found = [content for name, content in contents(tmp_path / "site").items() if "cards/" in name]
    assert [b'per_note":' in content for content in found] == [cards == "notes"] * (0 if cards == "none" else 3)
    assert verify(tmp_path / "site" / "date-final" / "board.json").level == level


def test_cards_are_lowered_never_raised(tmp_path: Path) -> None:
    board = ranked(tmp_path, QUICK, policy=PUBLIC.model_copy(update={"cards": "totals"}))
    publish([board], tmp_path / "site", PublicationSettings(cards="notes"))
    assert all(b"note-7" not in content for content in contents(tmp_path / "site").values())


def test_what_was_published_may_be_published_again(tmp_path: Path) -> None:
    """The site of a site is the same, whatever the policy."""
    for at, policy in enumerate((PUBLIC, HIDDEN, HIDDEN.model_copy(update={"ended": True}))):
        folder = tmp_path / str(at)
        folder.mkdir()
        publish([ranked(folder, QUICK, policy=policy)], folder / "one")
        publish([folder / "one" / "date-final" / "board.json"], folder / "two")
        assert contents(folder / "one") == contents(folder / "two")


def test_a_running_board_is_not_shown_without_what_it_takes_to_hide_it(tmp_path: Path) -> None:
    """An exact board whose cards are gone cannot be rounded."""
    board = ranked(tmp_path, QUICK, policy=HIDDEN)
    (tmp_path / "0-example.json").unlink()
    with pytest.raises(MissingFile, match="exact scores are not shown yet"):
        publish([board], tmp_path / "site")


def test_a_board_without_its_cards_is_published_without_what_only_they_know(tmp_path: Path) -> None:
    board = write_board(tmp_path / "board", samples(3))
    (tmp_path / "board" / "cards").rename(tmp_path / "gone")
    publish([board], tmp_path / "site")
    page = contents(tmp_path / "site")["address/system-0.html"]
    assert b"Scores" in page
    assert b"Label by label" not in page
    verified = verify(tmp_path / "site" / "address" / "board.json")
    assert (verified.level, "/rows/*/card" in verified.withheld) == ("totals", True)


def test_another_card_under_the_same_name_is_refused(tmp_path: Path) -> None:
    board = write_board(tmp_path / "board", samples(3))
    (tmp_path / "board" / "cards" / "1.json").write_text("{}")
    with pytest.raises(ParticipantFault, match="is not the card this board was made from"):
        publish([board], tmp_path / "site")


@pytest.mark.parametrize("columns", [(), ("created",), ("image", "created", "run")])
def test_what_the_configuration_does_not_name_is_not_published(tmp_path: Path, columns: tuple[str, ...]) -> None:
    secrets = {
        "image": "registry.example/secret@sha256:00",
        "created": "2026-03-04",
        "run": {"seconds": {"total": 7.5}},
    }
    board = write_board(tmp_path / "board", samples(3), **secrets)
    configured = Challenge(
        challenge="c",
        title="A title",
        data=DataChanges(notes="public", gold="public"),
        publication=Publication(columns=columns, citation="Cite me."),
    )
    publish([board], tmp_path / "site", PublicationSettings(configured))
    everything = b"".join(contents(tmp_path / "site").values())
    assert (b"registry.example/secret" in everything) == ("image" in columns)
    assert (b"2026-03-04" in everything) == ("created" in columns)
    assert (b"7.5 s" in everything) == ("run" in columns)
    assert b"A title" in everything
    assert b"Cite me." in everything


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"aggregation": "borda", "measures": {"instance_strict": 1, "token": 2}}, id="borda"),
        pytest.param({"aggregation": "mean_rank", "measures": {"token": 1}, "numbering": "average"}, id="mean rank"),
        pytest.param({"feedback": "blind"}, id="blind"),
        pytest.param({"feedback": "rounded"}, id="rounded"),
        pytest.param({"feedback": "ladder"}, id="ladder"),
        pytest.param({"tie_rule": "dream_k3", "interval": "bca", "test": "paired_bootstrap"}, id="dream"),
    ],
)
def test_boards_of_every_kind(tmp_path: Path, changes: dict[str, Any]) -> None:
    rules = QUICK.model_copy(update=changes)
    policy = PUBLIC.model_copy(update={"feedback": rules.feedback})
    publish([ranked(tmp_path, rules, policy=policy)], tmp_path / "site")
    assert verify(tmp_path / "site" / "date-final" / "board.json").values > 10
    page = contents(tmp_path / "site")["date-final/index.html"].decode()
    assert page.count('<th scope="row" class="who">') == 3
    assert ("No score is shown before the phase ends." in page) == (changes.get("feedback") == "blind")


def test_several_data_sets(tmp_path: Path) -> None:
    publish([ranked(tmp_path, QUICK, "north", "south")], tmp_path / "site")
    files = contents(tmp_path / "site")
    assert {"date-final/cards/s0.north.json", "date-final/cards/s2.south.json"} <= files.keys()
    assert verify(tmp_path / "site" / "date-final" / "board.json").cards == 6
    assert b"Data set by data set" in files["date-final/s1.html"]
    assert b"Leader by site rule" in files["date-final/index.html"]


def test_a_page_of_forty_is_small(tmp_path: Path) -> None:
    """Without what it needs to check itself, 45 kB at most as it is sent; with it and the share kit, but without cards,
    60 kB."""
    entrants = [Sample(f"{at:012x}", 0.95 - 0.01 * at, f"Team {at}", f"2026-01-{at % 28 + 1:02}") for at in range(40)]
    board = write_board(tmp_path / "board", entrants)
    publish([board], tmp_path / "site", PublicationSettings(cards="none", url="https://example.org/board/"))
    page = (tmp_path / "site" / "address" / "index.html").read_bytes()
    assert len(gzip.compress(page)) <= 60_000
    assert len(gzip.compress(re.sub(rb"<script.*?</script>", b"", page, flags=re.DOTALL))) <= 45_000


def test_one_row_alone(tmp_path: Path) -> None:
    publish([write_board(tmp_path / "board", [Sample("alone", 0.8)])], tmp_path / "site")
    page = contents(tmp_path / "site")["address/index.html"].decode()
    assert "is alone on this board." in page
    assert "Who beats whom" not in page


def test_boards_that_differ_in_more_than_their_age_stay_apart(tmp_path: Path) -> None:
    boards = []
    for headline in ("token", "instance_strict"):
        (tmp_path / headline).mkdir()
        boards.append(ranked(tmp_path / headline, QUICK.model_copy(update={"headline": headline})))
    publish(boards, tmp_path / "site")
    files = contents(tmp_path / "site")
    assert b"<h1><bdi>Finding dates in clinical notes: final, token</bdi></h1>" in files["date-final-token/index.html"]
    assert len([name for name in files if name.endswith("board.json")]) == 2


def test_a_board_nobody_is_on_yet(tmp_path: Path) -> None:
    (tmp_path / "three").mkdir()
    board = read_board(ranked(tmp_path / "three", QUICK)).board
    empty = board.model_copy(update={"rows": (), "pairwise": (), "stability": None})
    (tmp_path / "board.json").write_text(as_json(empty))
    publish([tmp_path / "board.json"], tmp_path / "site")
    page = contents(tmp_path / "site")["date-final/index.html"].decode()
    assert "Nobody is on this board yet." in page
    assert "The table is empty" in page
    assert "<table" not in page
    assert "Nobody is on this board yet." in contents(tmp_path / "site")["index.html"].decode()


def test_versions_of_a_board_mark_its_history(tmp_path: Path) -> None:
    old = write_board(tmp_path / "old", samples(4), signature="address|challenge|gold:ba9876543210|v0.1.0")
    publish([old, write_board(tmp_path / "new", samples(6))], tmp_path / "site")
    page = contents(tmp_path / "site")["address/index.html"].decode()
    assert page.count(">new gold</text>") == len(("wide", "narrow"))
    assert "0123456789ab" in page
    assert "ba9876543210" not in page


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("nonsense", "is not JSON"),
        ("{}", "is not a board: /sandscore: is missing"),
        ('{"a": 1, "a": 2}', "duplicate key"),
    ],
)
def test_what_is_no_board_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "board.json").write_text(content)
    with pytest.raises(ParticipantFault, match=said):
        publish([tmp_path / "board.json"], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_two_rows_of_one_name_are_refused(tmp_path: Path) -> None:
    entries = [card_entry(json.dumps(card_content(f"s{at}", [(3, 1, 1)] * 9)).encode(), f"{at}.json") for at in (0, 1)]
    board = rank(entries, QUICK)
    twice = board.model_copy(update={"rows": (board.rows[0], board.rows[0])})
    (tmp_path / "board.json").write_text(as_json(twice))
    with pytest.raises(ParticipantFault, match="two rows are called 's0'"):
        publish([tmp_path / "board.json"], tmp_path / "site")


def test_the_verb_names_the_page_to_open(tmp_path: Path) -> None:
    board = write_board(tmp_path / "board", samples(2))
    site = tmp_path / "site"
    said = CliRunner().invoke(command, [str(board), "-o", str(site)], catch_exceptions=False)
    assert said.output == f"10 files, 10 written, 0 removed; open {site}/index.html\n"
    told = json.loads(CliRunner().invoke(command, [str(board), "-o", str(site), "--format", "json"]).output)
    assert told == {"page": f"{site}/index.html", "files": 10, "changed": [], "removed": []}

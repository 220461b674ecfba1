"""An honest board passes however it is formatted and wherever it lies; a touched value is named."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ranking_cards import card_content, drawn_rows

from sandscore.base.errors import MissingFile, ParticipantFault
from sandscore.cli.main import run
from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import read_card
from sandscore.records.ranking_rules import BoardRules
from sandscore.verification.board_verification import verify

RULES = BoardRules(resamples=300, randomisations=99)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """A board beside its cards, as ``sandscore rank cards/*.json -o board.json`` leaves it."""
    (tmp_path / "cards").mkdir()
    for i in range(3):
        rows = {"token": drawn_rows(0.7 + 0.1 * i, 40, i), "instance_strict": drawn_rows(0.6 + 0.1 * i, 40, i)}
        content = card_content(f"s{i}", rows, run={"seconds": 1.5 + i})
        (tmp_path / "cards" / f"s{i}.json").write_text(json.dumps(content))
    names = sorted(str(path) for path in (tmp_path / "cards").iterdir())
    assert run(["rank", *names, "-o", str(tmp_path / "board.json")]) == 0
    return tmp_path / "board.json"


@pytest.fixture
def quick(published: Path) -> Path:
    """The same with few draws, for verifying it many times."""
    entries = [read_card(path) for path in sorted((published.parent / "cards").iterdir())]
    quick = published.with_name("quick.json")
    quick.write_text(as_json(rank(entries, RULES)))
    return quick


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every leaf of a JSON value with its path."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))
    else:
        yield path, value


def changed(board: Any, path: tuple[Any, ...], new: Any) -> Any:
    copy = json.loads(json.dumps(board))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = new
    return copy


def test_honest_as_printed(published: Path) -> None:
    verified = verify(published)
    assert (verified.cards, verified.values > 100) == (3, True)


def test_as_many_values_are_compared_as_the_board_holds(quick: Path) -> None:
    """Of a board that withholds nothing: every leaf once."""
    leaves = [where for where, _ in places(json.loads(quick.read_bytes()))]
    assert verify(quick).values == len(leaves)


@pytest.mark.parametrize(
    "style",
    [{"indent": None, "separators": (",", ":")}, {"indent": 7, "sort_keys": True}, {"ensure_ascii": True}],
    ids=["compact", "sorted", "ascii"],
)
def test_honest_however_formatted(published: Path, style: dict[str, Any]) -> None:
    published.write_text(json.dumps(json.loads(published.read_text()), **style))
    assert verify(published).cards == 3


@pytest.mark.parametrize("keep", ["cards/", ""], ids=["cards in their folder", "cards beside the board"])
def test_honest_from_another_directory(
    published: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, keep: str
) -> None:
    away = tmp_path_factory.mktemp("away")
    shutil.copytree(published.parent / "cards", away / "board" / keep, dirs_exist_ok=True)
    shutil.copy(published, away / "board" / "board.json")
    shutil.rmtree(published.parent / "cards")
    monkeypatch.chdir(away)
    assert verify(Path("board/board.json")).cards == 3


def test_every_number_counts(quick: Path) -> None:
    """All numbers outside ``config`` (what the board is asked to do), each touched alone."""
    board = json.loads(quick.read_text())
    numbers = [
        (path, value)
        for path, value in places(board)
        if isinstance(value, int | float) and not isinstance(value, bool) and path[0] != "config"
    ]
    assert len(numbers) > 90
    for path, value in random.Random(5).sample(numbers, 40):
        for new in (value + 1, value + (1e-4 if isinstance(value, float) else 2)):
            quick.write_text(json.dumps(changed(board, path, new)))
            with pytest.raises(ParticipantFault) as refused:
                verify(quick)
            where = "/" + "/".join(map(str, path))
            assert f"{where} is {json.dumps(new)}; its cards make {json.dumps(value)}" in str(refused.value)


def test_the_last_bit_of_a_ratio_does_not_count(quick: Path) -> None:
    board = json.loads(quick.read_text())
    path = ("rows", 0, "measures", "token", "f1")
    quick.write_text(json.dumps(changed(board, path, board["rows"][0]["measures"]["token"]["f1"] * (1 + 1e-12))))
    assert verify(quick).cards == 3


@pytest.mark.parametrize(
    ("path", "new", "named"),
    [
        (("rows", 0, "team"), "somebody else", "/rows/0/team"),
        (("seed",), "0x0000000000000001", "/seed"),
        (("gold", "example"), "f" * 12, "/gold/example"),
        (("config", "resamples"), 301, "/rows/0/measures"),
        (("config", "challenge"), "another", "/seed"),
        (("phase",), "another", "/seed"),
        (("rows", 1, "signature"), "made up", "/rows/1/signature"),
        (("rows", 0, "run", "seconds"), 0.1, "/rows/0/run/seconds"),
        (("extra",), 1, "/extra"),
        (("rows", 0, "bonus"), 1, "/rows/0/bonus"),
    ],
    ids=lambda value: "/".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_what_is_touched_is_named(quick: Path, path: tuple[Any, ...], new: Any, named: str) -> None:
    quick.write_text(json.dumps(changed(json.loads(quick.read_text()), path, new)))
    with pytest.raises(ParticipantFault, match=named):
        verify(quick)


def test_two_rows_swapped(quick: Path) -> None:
    board = json.loads(quick.read_text())
    board["rows"][0], board["rows"][1] = board["rows"][1], board["rows"][0]
    quick.write_text(json.dumps(board))
    with pytest.raises(ParticipantFault, match="/rows/0/rank is 2; its cards make 1"):
        verify(quick)


def test_a_row_left_out(quick: Path) -> None:
    board = json.loads(quick.read_text())
    del board["rows"][2]
    quick.write_text(json.dumps(board))
    with pytest.raises(ParticipantFault, match="its cards make"):
        verify(quick)


def test_another_card_under_the_same_name(published: Path) -> None:
    card = published.parent / "cards" / "s1.json"
    card.write_text(card.read_text() + " ")
    with pytest.raises(ParticipantFault, match=r"s1\.json is not the card this board was made from"):
        verify(published)


def test_a_card_that_is_gone(published: Path) -> None:
    (published.parent / "cards" / "s1.json").unlink()
    with pytest.raises(MissingFile, match=r"cards/s1\.json lies neither"):
        verify(published)


@pytest.mark.parametrize(
    "name", ["x" * 5_000, "a\\u0000b", "../" * 40 + "nowhere", ""], ids=["long", "nul", "up", "empty"]
)
def test_a_path_that_leads_nowhere(quick: Path, name: str) -> None:
    quick.write_text(quick.read_text().replace("cards/s1.json", name))
    with pytest.raises(MissingFile, match="lies neither"):
        verify(quick)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"rows": 1}', '{"a": 1, "a": 1}', '{"k": NaN}'], ids=repr)
def test_not_a_board(tmp_path: Path, content: str) -> None:
    path = tmp_path / "board.json"
    path.write_text(content)
    with pytest.raises(ParticipantFault, match=r"board\.json"):
        verify(path)

"""Boards on Synapse: a row for each submission and no doubles, whatever was lost on the way; a page kept up to date."""

import asyncio
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ranking_cards import drawn_rows, entry
from submission_queue.standin.world import PARTICIPANT
from submission_queue.synapse_homes import opened, run
from submission_queue.synapse_standin import LOST, LOST_503, Fault, Queue

from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.records.ranking_rules import BoardRules

pytestmark = pytest.mark.usefixtures("near_children")

START = "table/transaction/async/start$"
FIRST = {"101": 0.9, "102": 0.7, "103": 0.5}
SECOND = {"101": 0.9, "103": 0.8, "104": 0.4}


def write_board(path: Path, skills: Mapping[str, float]) -> Path:
    """A board of submissions of some skill, as the ranking makes it."""
    rows = {name: drawn_rows(skill, 20, seed) for seed, (name, skill) in enumerate(skills.items())}
    entries = [entry(name, {"instance_strict": of, "token": of}, team=f"Ä {name}") for name, of in rows.items()]
    path.write_text(as_json(rank(entries, BoardRules(resamples=100, randomisations=99))), encoding="utf-8")
    return path


def table(queue: Queue) -> list[dict[str, Any]]:
    """The rows of the only table, by column names."""
    (found,) = queue.world.tables.values()
    names = {key: column["name"] for key, column in queue.world.columns.items()}
    return [{names[key]: value for key, value in values.items()} for _, values in found["rows"].values()]


def pages(queue: Queue) -> dict[str, str]:
    """Text of the wiki pages by title; a title that comes twice fails."""
    found = queue.world.wikis.get(queue.project, {}).values()
    texts = [gzip.decompress(queue.world.contents[page["markdownFileHandleId"]]).decode() for page in found]
    titles = [page["title"] for page in found]
    assert len(set(titles)) == len(titles)
    return dict(zip(titles, texts, strict=True))


def test_a_table_and_a_page_follow_the_board(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        first, second = write_board(tmp_path / "1", FIRST), write_board(tmp_path / "2", SECOND)
        async with opened(queue) as home:
            await home.publish([first], tmp_path)
            rows = {row["submissionid"]: row for row in table(queue)}
            assert set(rows) == {"101", "102", "103"}
            assert (rows["101"]["team"], float(rows["101"]["rank"])) == ("Ä 101", 1.0)
            assert 0.5 < float(rows["101"]["instance_strict_f1"]) <= 1
            before = len(queue.standin.log)
            await home.publish([first], tmp_path)
            assert len(queue.standin.log) == before, "nothing has changed"
            await home.publish([first, second], tmp_path)
        assert {row["submissionid"] for row in table(queue)} == {"101", "103", "104"}
        assert set(pages(queue)) == {"Leaderboards", "Leaderboard 9614 date"}
        assert "104" in pages(queue)["Leaderboard 9614 date"]
        assert "102" not in pages(queue)["Leaderboard 9614 date"]

    run(tmp_path, test)


def test_only_what_the_board_shows_is_in_the_table(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        async with opened(queue, options={"wiki": False}) as home:
            await home.publish([write_board(tmp_path / "1", FIRST)], tmp_path)
        columns = {column["name"]: column["columnType"] for column in queue.world.columns.values()}
        assert not columns.keys() & {"image", "created", "run", "card", "card_sha256", "signature"}
        assert (columns["submissionid"], columns["rank_low"], columns["token_f1"]) == ("STRING", "INTEGER", "DOUBLE")
        assert pages(queue) == {}

    run(tmp_path, test)


@pytest.mark.parametrize(("kind", "after"), [(LOST, 0), (LOST, 1), (LOST, 2), (LOST, 3), (LOST_503, 1)])
def test_a_transaction_whose_answer_is_lost_doubles_nothing(tmp_path: Path, kind: str, after: int) -> None:
    """Making the columns, inserting, changing, deleting: whichever is stored and then done again."""

    async def test(queue: Queue) -> None:
        first, second = write_board(tmp_path / "1", FIRST), write_board(tmp_path / "2", SECOND)
        queue.standin.faults = [Fault("POST", START, kind, after=after)]
        async with opened(queue, options={"wiki": False}) as home:
            await home.publish([first], tmp_path)
            await home.publish([second], tmp_path)
        assert sorted(row["submissionid"] for row in table(queue)) == ["101", "103", "104"]
        assert queue.standin.faults[0].times == 0, "the fault never happened"

    run(tmp_path, test)


@pytest.mark.parametrize("kind", [LOST, 429], ids=["lost", "throttled"])
@pytest.mark.parametrize("path", ["/wiki2$", "/entity/bundle2/create$"])
def test_pages_and_tables_are_made_once(tmp_path: Path, path: str, kind: str | int) -> None:
    async def test(queue: Queue) -> None:
        board = write_board(tmp_path / "1", FIRST)
        queue.standin.faults = [Fault("POST", path, kind), Fault("POST", path, kind, after=1)]
        async with opened(queue) as home:
            await home.publish([board], tmp_path)
        assert len(table(queue)) == 3
        assert set(pages(queue)) == {"Leaderboards", "Leaderboard 9614 date"}

    run(tmp_path, test)


def test_two_writers_by_mistake_still_leave_one_row_each(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        first, second = write_board(tmp_path / "1", FIRST), write_board(tmp_path / "2", SECOND)
        async with opened(queue, "a", options={"wiki": False}) as a, opened(queue, "b", options={"wiki": False}) as b:
            await a.publish([first], tmp_path)
            await asyncio.gather(a.publish([second], tmp_path), b.publish([second], tmp_path), return_exceptions=True)
            await b.publish([first], tmp_path)
        assert sorted(row["submissionid"] for row in table(queue)) == ["101", "102", "103"]

    run(tmp_path, test)


def test_jobs_that_take_their_time(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.world.looks = 1
        async with opened(queue, options={"wiki": False}) as home:
            await home.publish([write_board(tmp_path / "1", {"101": 0.9})], tmp_path)
        assert len(table(queue)) == 1

    run(tmp_path, test)


def test_a_worker_that_is_not_the_writer_writes_nothing(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        async with opened(queue, options={"publish": False}) as home:
            before = len(queue.standin.log)
            await home.publish([write_board(tmp_path / "1", FIRST)], tmp_path)
            assert len(queue.standin.log) == before

    run(tmp_path, test)


def test_a_root_page_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        handle = queue.world.handle(PARTICIPANT, "x.md.gz", gzip.compress(b"Welcome"))
        root = {"id": "77", "title": "Welcome", "etag": "1", "markdownFileHandleId": handle}
        queue.world.wikis[queue.project] = {"77": root}
        async with opened(queue) as home:
            await home.publish([write_board(tmp_path / "1", FIRST)], tmp_path)
        assert pages(queue)["Welcome"] == "Welcome"
        assert set(pages(queue)) == {"Welcome", "Leaderboard 9614 date"}

    run(tmp_path, test)

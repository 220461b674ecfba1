"""Changes of one moment share a transaction; each succeeds or fails for itself."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from queue_samples import opened, queue

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.homes.sqlite.sqlite_home import Writer

Change = Callable[[sqlite3.Connection], Any]


def remember(name: str) -> Change:
    def change(connection: sqlite3.Connection) -> str:
        connection.execute("INSERT INTO meta VALUES (?, 1)", (name,))
        return name

    return change


def broken(_: sqlite3.Connection) -> None:
    raise KeyError("a bug")


def written(folder: Path, *changes: Change) -> tuple[list[Any], int, set[str]]:
    """The answers, how many transactions there were, and what is in the database."""
    begun: list[str] = []
    with opened(queue(folder)) as database:
        database._connection.set_trace_callback(lambda sql: begun.append(sql) if sql.startswith("BEGIN") else None)
        writer = Writer(database)

        async def ask() -> list[Any]:
            return list(await asyncio.gather(*map(writer.write, changes), return_exceptions=True))

        answers = asyncio.run(ask())
        transactions = len(begun)
        with database.reading() as connection:
            found = {row["key"] for row in connection.execute("SELECT key FROM meta")}
    return answers, transactions, found


def test_what_is_asked_for_together_is_written_together(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(5)]
    answers, transactions, found = written(tmp_path, *map(remember, names))
    assert (answers, transactions) == (names, 1)
    assert found >= set(names)


def test_a_bug_in_one_change_costs_no_other(tmp_path: Path) -> None:
    answers, _, found = written(tmp_path, remember("a"), broken, remember("b"))
    assert (answers[0], answers[2]) == ("a", "b")
    assert isinstance(answers[1], KeyError)
    assert found >= {"a", "b"}


def test_where_nothing_can_be_written_all_are_told(tmp_path: Path) -> None:
    def full(_: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("disk full")

    answers, transactions, found = written(tmp_path, remember("a"), full)
    assert [type(answer) for answer in answers] == [InfrastructureFault, InfrastructureFault]
    assert transactions == 1
    assert "a" not in found


@pytest.mark.parametrize("cancelled", [0, 1])
def test_who_goes_away_meanwhile_disturbs_nobody(tmp_path: Path, cancelled: int) -> None:
    with opened(queue(tmp_path)) as database:
        writer = Writer(database)

        async def ask() -> list[Any]:
            tasks = [asyncio.ensure_future(writer.write(remember(name))) for name in ("a", "b")]
            await asyncio.sleep(0)
            tasks[cancelled].cancel()
            return list(await asyncio.gather(*tasks, return_exceptions=True))

        answers = asyncio.run(ask())
    assert answers[1 - cancelled] == "ab"[1 - cancelled]
    assert isinstance(answers[cancelled], asyncio.CancelledError)

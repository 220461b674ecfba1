"""Changes that are asked for at the same moment share one transaction, and one wait for the disk."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sandscore.queueing.embedded.database import Database
from sandscore.records.errors import SandscoreError

_Done = TypeVar("_Done")


@dataclass(frozen=True, slots=True)
class _Asked:
    change: Callable[[sqlite3.Connection], Any]
    done: "asyncio.Future[Any]"


class Writer:
    """Each change looks for itself whether it may be made; together they are on disk or not there."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asked: list[_Asked] = []

    async def write(self, change: Callable[[sqlite3.Connection], _Done]) -> _Done:
        """What the change returns, once it is on disk."""
        loop = asyncio.get_running_loop()
        asked = _Asked(change, loop.create_future())
        if not self._asked:
            loop.call_soon(self._write)
        self._asked.append(asked)
        done: _Done = await asked.done
        return done

    def _write(self) -> None:
        asked, self._asked = self._asked, []
        self._together(asked)

    def _together(self, asked: Sequence[_Asked]) -> None:
        try:
            with self._database.writing() as connection:
                answers = [one.change(connection) for one in asked]
        except Exception as fault:
            if isinstance(fault, SandscoreError) or len(asked) == 1:
                _fail(asked, fault)
                return
            for one in asked:  # a bug of ours in one of them must not cost the others
                self._together([one])
            return
        for one, answer in zip(asked, answers, strict=True):
            if not one.done.done():
                one.done.set_result(answer)


def _fail(asked: Sequence[_Asked], fault: Exception) -> None:
    for one in asked:
        if not one.done.done():
            one.done.set_exception(fault)

"""Jobs that wait for the same child are given to it together. One that it dies over costs no other job its turn."""

import asyncio
from collections.abc import Callable

from msgspec import Struct

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children.child_messages import BatchAnswer, BatchRequest, FaultAnswer, ScorerAnswer, ScorerRequest
from sandscore.queue.children.child_process import Child

ScoringChild = Child[BatchAnswer | FaultAnswer]

_MOST = 16


class _Asked(Struct, eq=False):
    job: ScorerRequest
    answer: "asyncio.Future[ScorerAnswer]"
    alone: bool = False
    """The child died over several, and this was one of them."""


class Together:
    """One child, and those who wait for it."""

    def __init__(self, child: ScoringChild, seconds: float, challenge: Callable[[], str] | None = None) -> None:
        self._child, self._seconds, self._challenge = child, seconds, challenge
        self._waiting: list[_Asked] = []
        self._given: list[_Asked] = []
        self._asking: asyncio.Task[tuple[ScorerAnswer, ...]] | None = None
        self._working: asyncio.Task[None] | None = None

    async def ask(self, job: ScorerRequest) -> ScorerAnswer:
        """The child's answer. Whoever is cancelled while the child has the job leaves when the child is gone."""
        loop = asyncio.get_running_loop()
        asked = _Asked(job, loop.create_future())
        self._waiting.append(asked)
        if self._working is None or self._working.done():
            self._working = loop.create_task(self._work())
        try:
            return await asked.answer
        except asyncio.CancelledError:
            if asked in self._waiting:
                self._waiting.remove(asked)
            elif asked in self._given and self._asking is not None:
                self._asking.cancel()
                await asyncio.wait({self._asking})
            raise

    async def close(self) -> None:
        """The child ends; nobody waits for it any more."""
        await self._child.stop()

    async def _work(self) -> None:
        while self._waiting:
            self._given = self._next()
            self._asking = asyncio.ensure_future(self._asked_of_child(tuple(asked.job for asked in self._given)))
            await asyncio.wait({self._asking})
            self._answer(self._asking)
            self._given = []

    async def _asked_of_child(self, jobs: tuple[ScorerRequest, ...]) -> tuple[ScorerAnswer, ...]:
        in_force = None if self._challenge is None else self._challenge()
        said = await self._child.ask(BatchRequest(jobs, in_force), self._seconds)
        if not isinstance(said, BatchAnswer) or len(said.answers) != len(jobs):
            raise InfrastructureFault("a child process gave another number of answers than it was asked for")
        return said.answers

    def _next(self) -> list[_Asked]:
        most = next((place for place, asked in enumerate(self._waiting[:_MOST]) if asked.alone), _MOST)
        taken, self._waiting = self._waiting[: most or 1], self._waiting[most or 1 :]
        return taken

    def _answer(self, asking: "asyncio.Task[tuple[ScorerAnswer, ...]]") -> None:
        open_still = [asked for asked in self._given if not asked.answer.done()]
        if asking.cancelled():
            self._waiting[:0] = open_still
            return
        fault = asking.exception()
        if fault is None:
            for asked, answer in zip(self._given, asking.result(), strict=True):
                if not asked.answer.done():
                    asked.answer.set_result(answer)
        elif len(self._given) > 1 and isinstance(fault, InfrastructureFault):
            for asked in open_still:
                asked.alone = True
            self._waiting[:0] = open_still
        else:
            for asked in open_still:
                asked.answer.set_exception(fault)

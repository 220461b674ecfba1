"""Jobs that share a child: answered together; what kills it is found out; who leaves takes nobody with him."""

import asyncio
from typing import Any, cast

import pytest

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children.batching import ScoringChild, Together
from sandscore.queue.children.child_messages import BatchAnswer, BatchRequest, GoldRequest, ScoreAnswer


class Scribe:
    """A child that answers with what it was asked, dies over ``deadly`` and hangs over ``endless``."""

    def __init__(self) -> None:
        self.given: list[list[str]] = []
        self.stops = 0

    async def ask(self, asked: BatchRequest, _seconds: float) -> BatchAnswer:
        names = [job.task for job in asked.jobs]
        self.given.append(names)
        await asyncio.sleep(0)
        if "deadly" in names:
            raise InfrastructureFault("it died")
        if "short" in names:
            return BatchAnswer(())
        if "endless" in names:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                self.stops += 1
                raise
        return BatchAnswer(tuple(ScoreAnswer({}, name) for name in names))

    async def stop(self) -> None:
        self.stops += 1


def named(name: str) -> GoldRequest:
    return GoldRequest(name, None, "", {})


def asked(names: list[str]) -> tuple[Scribe, list[Any]]:
    async def all_of_them() -> tuple[Scribe, list[Any]]:
        scribe = Scribe()
        together = Together(cast("ScoringChild", scribe), 1.0)
        all_asked = asyncio.gather(*(together.ask(named(name)) for name in names), return_exceptions=True)
        return scribe, await asyncio.wait_for(all_asked, 10)

    return asyncio.run(all_of_them())


def test_what_waits_goes_together() -> None:
    scribe, answers = asked([str(number) for number in range(20)])
    assert [len(names) for names in scribe.given] == [16, 4]
    assert [answer.signature for answer in answers] == [str(number) for number in range(20)]


@pytest.mark.parametrize("bad", ["deadly", "short"])
def test_who_shared_with_a_deadly_job_is_asked_for_again_alone(bad: str) -> None:
    scribe, answers = asked(["a", bad, "b"])
    assert scribe.given == [["a", bad, "b"], ["a"], [bad], ["b"]]
    assert (answers[0], answers[2]) == (ScoreAnswer({}, "a"), ScoreAnswer({}, "b"))
    assert isinstance(answers[1], InfrastructureFault)


def test_who_leaves_stops_the_child_and_the_others_are_asked_for_again() -> None:
    async def leaving() -> tuple[Scribe, list[Any]]:
        scribe = Scribe()
        together = Together(cast("ScoringChild", scribe), 1.0)
        tasks = [asyncio.ensure_future(together.ask(named(name))) for name in ("a", "endless", "b")]
        await asyncio.sleep(0.05)
        tasks[1].cancel()
        return scribe, await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)

    scribe, answers = asyncio.run(leaving())
    assert scribe.given == [["a", "endless", "b"], ["a", "b"]]
    assert scribe.stops == 1
    assert isinstance(answers[1], asyncio.CancelledError)
    assert (answers[0], answers[2]) == (ScoreAnswer({}, "a"), ScoreAnswer({}, "b"))


def test_who_leaves_before_the_turn_costs_nobody_anything() -> None:
    async def leaving() -> tuple[Scribe, list[Any]]:
        scribe = Scribe()
        together = Together(cast("ScoringChild", scribe), 1.0)
        names = [*map(str, range(16)), "late"]
        tasks = [asyncio.ensure_future(together.ask(named(name))) for name in names]
        await asyncio.sleep(0)
        tasks[-1].cancel()
        return scribe, await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)

    scribe, answers = asyncio.run(leaving())
    assert scribe.given == [[str(number) for number in range(16)]]
    assert scribe.stops == 0
    assert isinstance(answers[-1], asyncio.CancelledError)

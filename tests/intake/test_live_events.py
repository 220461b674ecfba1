"""Events for open pages, look by look: whatever changes between any two steps, the last word said is the right one."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from queue_samples import CHALLENGE, HALF, hand_in, opened, queue
from starlette.testclient import TestClient

from sandscore.base.errors import InfrastructureFault
from sandscore.intake import live_events, login_throttle, web_server
from sandscore.intake.live_events import TeamEvents
from sandscore.intake.live_queue import LiveQueue, QueueSide
from sandscore.intake.login_throttle import networks
from sandscore.intake.team_registry import TeamRegistry
from sandscore.intake.team_views import state_of
from sandscore.intake.web_application import application
from sandscore.queue.workspace import Workspace

TEAM = "Team A"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = queue(tmp_path, CHALLENGE)
    hand_in(found)
    return found


def state(workspace: Workspace, team: str = TEAM) -> str:
    side = QueueSide(workspace.root)
    try:
        return state_of(side, team)
    finally:
        side.close()


def scored(workspace: Workspace) -> None:
    """All that a worker commits of a submission, in one step."""
    change(workspace, "UPDATE submission SET status='SCORED', attempt=1")


def change(workspace: Workspace, said: str) -> None:
    with opened(workspace) as database, database.writing() as connection:
        connection.execute(said)


class Page:
    """A connection, and the words that have come over it."""

    def __init__(self, stream: AsyncIterator[bytes]) -> None:
        self._stream, self.words = stream, list[str]()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for line in self._stream:
            if line.startswith(b"data: "):
                self.words.append(line.decode().removeprefix("data: ").removesuffix("\n\n"))

    async def ended(self) -> None:
        await asyncio.wait_for(self._reading, 5)

    async def leave(self) -> None:
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._stream.aclose()  # type: ignore[attr-defined]


class Watched:
    """A server's events, whose looks are ours to make."""

    def __init__(self, workspace: Workspace) -> None:
        self.queue = LiveQueue(workspace.root)
        self.events = TeamEvents(self.queue)

    async def page(self, team: str = TEAM) -> Page:
        made = Page(self.events.stream(team))
        await rest()
        return made

    async def look(self) -> None:
        await self.events.look()
        await rest()


async def rest() -> None:
    """Whatever is ready runs."""
    for _ in range(8):
        await asyncio.sleep(0)


def watched(workspace: Workspace, work: Callable[[Watched], Awaitable[None]]) -> None:
    async def whole() -> None:
        made = Watched(workspace)
        try:
            await work(made)
        finally:
            made.events.close()
            await rest()
            await made.queue.close()

    asyncio.run(whole())


def test_a_page_is_told_at_once_how_it_stands_and_then_what_is_new(workspace: Workspace) -> None:
    async def work(server: Watched) -> None:
        page = await server.page()
        await server.look()
        assert page.words == [received]
        for _ in range(3):
            await server.look()
        assert page.words == [received], "nothing is new"
        scored(workspace)
        await server.look()
        assert page.words == [received, state(workspace)]

    received = state(workspace)
    watched(workspace, work)


def test_a_change_before_the_first_look_is_not_missed(workspace: Workspace) -> None:
    """As where a page came after the last change that a look had seen, and a worker is done within a second."""

    async def work(server: Watched) -> None:
        before = await server.page()
        await server.look()
        await server.look()
        await before.leave()
        page = await server.page()
        scored(workspace)
        await server.look()
        assert page.words == [state(workspace)] != [received]

    received = state(workspace)
    watched(workspace, work)


def test_a_page_that_begins_to_listen_while_others_are_told_is_told_next(workspace: Workspace) -> None:
    async def work(server: Watched) -> None:
        first = await server.page()
        looking = asyncio.create_task(server.events.look())
        await asyncio.sleep(0)
        second = await server.page()
        await looking
        await server.look()
        assert first.words == second.words == [state(workspace)]

    watched(workspace, work)


def test_a_second_change_within_one_tick_of_the_clock_is_seen(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The marks of the files are those of the first."""

    async def work(server: Watched) -> None:
        page = await server.page()
        await server.look()
        await server.look()
        change(workspace, "UPDATE submission SET status='EVALUATION_IN_PROGRESS'")
        await server.look()
        scored(workspace)
        monkeypatch.setattr(live_events, "_marks", lambda _: server.events._marks)
        await server.look()
        assert page.words[-1] == state(workspace)

    watched(workspace, work)


def test_what_comes_without_a_change_of_the_database(workspace: Workspace) -> None:
    """A receipt that could not be written at once; and the end of a rehearsal changes nothing but its mark."""

    async def work(server: Watched) -> None:
        page = await server.page()
        await server.look()
        await server.look()
        [receipt] = kept
        receipt.rename(receipt.with_suffix(".later"))
        await server.look()
        receipt.with_suffix(".later").rename(receipt)
        await server.look()
        change(workspace, "UPDATE submission SET rehearsed=1")
        await server.look()
        assert page.words[0] == page.words[2]
        assert len({*page.words}) == 3

    kept = [*workspace.private.glob("*/receipts/*.json")]
    watched(workspace, work)


@pytest.mark.parametrize("fault", [InfrastructureFault("the disk is away"), OSError("and the network")])
def test_a_look_that_fails_is_made_up_for(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def broken(*_: object, **__: object) -> str:
        raise fault

    async def work(server: Watched) -> None:
        page = await server.page()
        await server.look()
        await server.look()
        scored(workspace)
        with monkeypatch.context() as patch:
            patch.setattr(live_events, "state_of", broken)
            await server.look()
        await server.look()
        assert page.words[-1] == state(workspace)

    watched(workspace, work)


def test_teams_are_told_of_their_own_alone(workspace: Workspace) -> None:
    async def work(server: Watched) -> None:
        ours, theirs = await server.page(), await server.page("Team B")
        await server.look()
        hand_in(workspace, HALF, team="Team B")
        await server.look()
        assert (len(ours.words), len(theirs.words)) == (1, 2)

    watched(workspace, work)


def test_streams_end_where_the_server_does(workspace: Workspace) -> None:
    async def work(server: Watched) -> None:
        page = await server.page()
        server.events.close()
        await page.ended()
        late = await server.page()
        await late.ended()
        assert page.words == late.words == []
        assert server.events._waiting == {}

    watched(workspace, work)


def test_a_page_bears_the_word_for_what_it_shows(workspace: Workspace) -> None:
    registry = TeamRegistry(workspace)
    registry.add(TEAM, None, "test")
    token = registry.issue(TEAM, "Ada", "test")
    made = application(workspace.root, networks(login_throttle.LOOPBACK), secure=False)
    with TestClient(made) as client:
        area = client.post("/team/login", data={"token": token}).text
        [one] = {*re.findall("/team/submissions/[0-9a-f]{12}", area)}
        for text in (area, client.get(one).text):
            assert re.findall('data-state="([^"]+)"', text) == [state(workspace)]
        before = state(workspace)
        scored(workspace)
        assert re.findall('data-state="([^"]+)"', client.get(one).text) == [state(workspace)] != [before]


def test_the_server_that_stops_ends_streams_first(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it waits for whoever is still being answered."""

    async def waiting(*_: object) -> None:
        assert events._closed

    made = application(workspace.root, networks(login_throttle.LOOPBACK), secure=False)
    events = made.events
    monkeypatch.setattr(web_server, "application", lambda *_, **__: made)
    server = web_server.server_of(workspace.root, "127.0.0.1:0", None, [])
    monkeypatch.setattr("uvicorn.Server.shutdown", waiting)
    asyncio.run(server.shutdown())

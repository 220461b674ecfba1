"""Many teams hand in at once to servers that are killed, among watchers, slow senders and half requests.

What must hold: every submission that was answered 201 is listed once, no answer of the 500s but 503, and no server
takes more than so much memory.
"""

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from intake.served import BOUNDARY, Server, form, free_port
from queue_samples import RIGHT, annotations, queue, with_home

from sandscore.intake.team_registry import TeamRegistry
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Submission

_PATIENCE = 120.0


class IntakeSiege:
    """One queue, its servers, and all that is done to them."""

    def __init__(self, folder: Path, *, teams: int, servers: int, seed: int) -> None:
        self.draw = random.Random(seed)
        self.workspace: Workspace = queue(folder)
        registry = TeamRegistry(self.workspace)
        self.tokens: dict[str, str] = {}
        for number in range(teams):
            name = f"team-{number}"
            registry.add(name, None, "siege")
            self.tokens[name] = registry.issue(name, "somebody", "siege")
        self.servers = [Server(self.workspace.root, free_port()) for _ in range(servers)]
        self.statuses: Counter[int] = Counter()
        self.accepted: dict[str, str] = {}
        """The id by its key."""
        self.kills, self.most_memory, self.held = 0, 0, 0
        self._worker: subprocess.Popen[bytes] | None = None

    def attack(self, submissions: int, watchers: int, kills: int, hands: int = 12) -> None:
        """All of it; returns when the last submission is answered 201."""
        asyncio.run(self._attack(submissions, watchers, kills, hands))

    def check(self) -> list[Submission]:
        """The queue at the end, by its own list."""

        async def read(home: EmbeddedHome) -> list[Submission]:
            return list(await home.submissions())

        found = with_home(self.workspace, read)
        listed = Counter(one.id for one in found)
        assert {listed[made] for made in self.accepted.values()} <= {1}
        assert len({*self.accepted.values()}) == len(self.accepted) == len(found)
        assert not [status for status in self.statuses if status >= 500 and status != 503]
        return found

    def stop(self) -> None:
        self._kill_worker()
        for server in self.servers:
            server.stop()

    async def _attack(self, submissions: int, watchers: int, kills: int, hands: int) -> None:
        teams = list(self.tokens)
        waiting = [(teams[n % len(teams)], f"key-{n}") for n in range(submissions)]
        self.draw.shuffle(waiting)
        around = [asyncio.create_task(self._watch(self.draw.choice(teams))) for _ in range(watchers)]
        around += [asyncio.create_task(self._dawdle()) for _ in range(max(2, watchers // 20))]
        around.append(asyncio.create_task(self._measure()))
        killer = asyncio.create_task(self._kill(kills, submissions))
        await asyncio.gather(*(self._hand_in_all(waiting) for _ in range(hands)))
        await killer
        for one in around:
            one.cancel()
        await asyncio.gather(*around, return_exceptions=True)

    async def _hand_in_all(self, waiting: list[tuple[str, str]]) -> None:
        while waiting:
            team, key = waiting.pop()
            end = time.monotonic() + _PATIENCE
            while key not in self.accepted:
                assert time.monotonic() < end, f"{key} was not taken in {_PATIENCE} seconds: {self.statuses}"
                try:
                    await self._hand_in(team, key)
                except (OSError, asyncio.IncompleteReadError, TimeoutError):
                    await asyncio.sleep(0.1)

    async def _hand_in(self, team: str, key: str) -> None:
        body = form(annotations(RIGHT) + b" " * (hash(key) % 997))
        head = (
            f"POST /api/v1/submissions?task=date HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {self.tokens[team]}\r\n"
            f"idempotency-key: {key}\r\ncontent-type: multipart/form-data; boundary={BOUNDARY}\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", self.draw.choice(self.servers).port)
        try:
            writer.write(head.encode() + body)
            await writer.drain()
            answer = await asyncio.wait_for(reader.read(), 60)
        finally:
            writer.close()
        if not answer.startswith(b"HTTP/1.1 "):
            raise asyncio.IncompleteReadError(answer, None)
        status = int(answer[9:12])
        headers, _, told = answer.partition(b"\r\n\r\n")
        if status == 201 and f"content-length: {len(told)}".encode() not in headers:
            raise asyncio.IncompleteReadError(answer, None)
        self.statuses[status] += 1
        if status == 201:
            self.accepted[key] = json.loads(told)["id"]
        else:
            assert status in (429, 503), told
            await asyncio.sleep(0.05)

    async def _watch(self, team: str) -> None:
        """A page that stays open, on whichever server is there."""
        while True:
            try:
                port = self.draw.choice(self.servers).port
                cookie = await self._cookie(port, team)
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                self.held += 1
                try:
                    writer.write(f"GET /team/events HTTP/1.1\r\nhost: x\r\ncookie: {cookie}\r\n\r\n".encode())
                    while await reader.read(1 << 12):
                        pass
                finally:
                    self.held -= 1
                    writer.close()
            except OSError:
                pass
            await asyncio.sleep(0.2 + self.draw.random())

    async def _cookie(self, port: int, team: str) -> str:
        body = f"token={self.tokens[team]}"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            kind = "application/x-www-form-urlencoded"
            head = f"POST /team/login HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
            writer.write(f"{head}connection: close\r\n\r\n{body}".encode())
            answer = await reader.read()
        finally:
            writer.close()
        found = [line for line in answer.decode().split("\r\n") if line.startswith("set-cookie: ")]
        if not found:
            raise ConnectionError("no cookie")
        return found[0].removeprefix("set-cookie: ").partition(";")[0]

    async def _dawdle(self) -> None:
        """Half a request, again and again."""
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.draw.choice(self.servers).port)
                begun = f"POST /api/v1/submissions?task=date HTTP/1.1\r\nhost: x\r\ncontent-length: {10**6}\r\n"
                try:
                    writer.write(begun.encode()[: self.draw.randint(1, len(begun))])
                    await asyncio.sleep(self.draw.random() * 2)
                finally:
                    writer.close()
            except OSError:
                await asyncio.sleep(0.2)

    async def _kill(self, kills: int, submissions: int) -> None:
        """A server or a worker dies by force; it is started again at once."""
        for number in range(kills):
            while len(self.accepted) < submissions * (number + 1) // (kills + 1):
                await asyncio.sleep(0.02)
            await asyncio.sleep(self.draw.random() * 0.2)
            self.kills += 1
            if number % 4 == 3:
                self._kill_worker()
                work = ["-m", "sandscore", "queue", "work", str(self.workspace.root)]
                self._worker = subprocess.Popen(
                    [sys.executable, *work],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            else:
                server = self.draw.choice(self.servers)
                server.kill()
                await asyncio.to_thread(server.start)

    def _kill_worker(self) -> None:
        if self._worker is not None:
            self._worker.send_signal(signal.SIGKILL)
            self._worker.wait()
            self._worker = None

    async def _measure(self) -> None:
        while True:
            for server in self.servers:
                with suppress(OSError, IndexError):
                    self.most_memory = max(self.most_memory, server.resident_bytes())
            await asyncio.sleep(0.2)

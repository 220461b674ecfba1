"""A queue on Synapse under siege: workers on two machines' states are killed at random moments while participants hand
in and call back, and while the service throttles and loses answers. In the end every submission has ended once.

Used short by the tests and long by benchmarks/queue_crashes.py.
"""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from typing import Any

from queue_band import Band, Process
from queue_siege import left_over
from submission_queue.standin.server import LOST, LOST_503, Fault
from submission_queue.synapse_homes import finals, state
from submission_queue.synapse_standin import Queue

from sandscore.base.bundled_content import submissions
from sandscore.queue.homes.synapse.synapse_outbox import outbox_of
from sandscore.records.submission import CANCELLED

FILES = {
    "good": (submissions() / "date-good" / "predictions.json").read_bytes(),
    "weak": (submissions() / "date-weak" / "predictions.json").read_bytes(),
    "broken": b"{",
}
TROUBLE = (
    ("PUT", "/status$", LOST),
    ("PUT", "/status$", LOST_503),
    ("GET", "/status$", 429),
    ("GET", "bundle/all", 503),
    ("POST", "/message$", LOST),
    ("POST", "async/start$", LOST),
    ("GET", "^/storage/file", LOST),
)
ARRIVED = {"sent": (1, 1), "unknown": (0, 1), "waiting": (0, 0), "undelivered": (0, 0)}
"""How many messages may have arrived, by what became of them. When all workers are gone nothing is in between."""
DRIVE = "from sandscore.cli.main import main; main()"


class SynapseSiege:
    """``queue`` is a stand-in of the service."""

    def __init__(self, queue: Queue, seed: int, submissions: int) -> None:
        self.queue, self.random = queue, random.Random(seed)
        common: dict[str, Any] = {"share_cards": True, "retry_seconds": 3.0}
        self.states = [
            state(queue.folder / f"machine-{number}", common | {"publish": not number}, first_wait_seconds=0.05)
            for number in (0, 1)
        ]
        for folder in self.states:
            with (folder / "private" / "challenge.toml").open("a", encoding="utf-8") as challenge:
                challenge.write("[quota.failures]\nday = 1000000\n")
        self.band = Band(self.random, self._worker)
        self.handed_in: dict[str, str] = {}
        self.called_back: set[str] = set()
        self.deliveries: Counter[str] = Counter()
        for _ in range(submissions):
            self._hand_in()

    def attack(self, kills: int) -> None:
        while self.band.kills < kills:
            self.band.muster(3)
            time.sleep(self.random.uniform(0.3, 2.0))
            self.band.strike()
            method, path, kind = self.random.choice(TROUBLE)
            self.queue.standin.faults = [Fault(method, path, kind, times=2)]
            for _ in range(self.random.randrange(4)):
                self._hand_in()
            if self.random.random() < 0.2:
                self._call_back()
        self.band.end()
        self.queue.standin.faults = []

    def drain(self) -> None:
        for number in (1, 0):
            worker = self._worker("--once", "--board-every", "0.5", number=number)
            assert worker.wait(timeout=300 + 5 * len(self.handed_in)) == 0, self.said()

    def check(self) -> Counter[str]:
        """Everything that must hold; how many ended how."""
        scores: dict[str, set[str]] = {kind: set() for kind in FILES}
        for key, kind in self.handed_in.items():
            status = self.queue.status(key)
            assert finals(self.queue, key) == 1, f"{key} ended once: {status}"
            if status == "REJECTED":
                reason = self.queue.annotations(key).get("reason")
                assert (key in self.called_back, reason) == (True, CANCELLED), key
            else:
                assert status == ("INVALID" if kind == "broken" else "SCORED"), f"{key}: {status}"
                scores[kind].add(str(self.queue.annotations(key).get("instance_strict_f1")))
        assert (len(scores["good"]), len(scores["weak"]), scores["broken"]) == (1, 1, {"None"}), scores
        self._check_told()
        self._check_outboxes()
        assert "Traceback" not in self.everything_said()
        assert all(left_over(folder) == [] for folder in self.states), "no process is left"
        return Counter(self.queue.status(key) for key in self.handed_in)

    def said(self) -> str:
        return self.everything_said()[-3000:]

    def everything_said(self) -> str:
        return (self.queue.folder / "said.txt").read_text(encoding="utf-8", errors="replace")

    def _check_outboxes(self) -> None:
        """Every verdict has one message in one machine's outbox, and what is said of it there is true: what was sent
        arrived once, what waits or was refused never, and of what is unknown at most one did."""
        arrived = Counter(message["subject"] for message in self.queue.world.messages)
        told: dict[str, list[str]] = {}
        for folder in self.states:
            for one in outbox_of(folder).listed(every=True):
                if one.event in ("scored", "invalid", "cancelled"):
                    told.setdefault(one.submission, []).append(one.delivery)
                least, most = ARRIVED[one.delivery]
                assert least <= arrived.pop(one.subject, 0) <= most, f"{one}: {self.said()}"
        assert not arrived, f"messages that no outbox knows of: {arrived}"
        count = {key: len(deliveries) for key, deliveries in told.items()}
        assert count == dict.fromkeys(self.handed_in, 1), self.said()
        self.deliveries = Counter(delivery for (delivery,) in told.values())

    def _check_told(self) -> None:
        sent = Counter(
            message["subject"] for message in self.queue.world.messages if "was scored" in message["subject"]
        )
        assert not sent or max(sent.values()) == 1, "a score is told at most once"
        scored = {key for key in self.handed_in if self.queue.status(key) == "SCORED"}
        (table,) = self.queue.world.tables.values()
        (column,) = (key for key, one in self.queue.world.columns.items() if one["name"] == "submissionid")
        rows = [values[column] for _, values in table["rows"].values()]
        board = json.loads((self.states[0] / "public" / "boards" / "date.json").read_bytes())
        assert sorted(rows) == sorted(row["submission"] for row in board["rows"]), self.said()
        assert rows, "the board has rows"
        assert set(rows) <= scored
        assert self.queue.world.unknown == []

    def _hand_in(self) -> None:
        kind = self.random.choice(["good", "good", "weak", "broken"])
        with self.queue.world.lock:
            self.handed_in[self.queue.submit_file(FILES[kind])] = kind

    def _call_back(self) -> None:
        chosen = self.random.choice(sorted(self.handed_in))
        with self.queue.world.lock:
            if self.queue.world.statuses[chosen].get("canCancel"):
                self.queue.change(chosen, cancelRequested=True)
                self.called_back.add(chosen)

    def _worker(self, *options: str, number: int | None = None) -> Process:
        folder = self.random.choice(self.states) if number is None else self.states[number]
        where = ["--synapse", self.queue.id, "--synapse-config", str(self.queue.config()), "--state", str(folder)]
        command = [sys.executable, "-c", DRIVE, "queue", "work", *where, *(options or ("--board-every", "3"))]
        with (self.queue.folder / "said.txt").open("ab") as said:
            return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)

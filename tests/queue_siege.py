"""A queue under siege: workers are killed at random moments, alone and two at once, while the wall clock jumps, the
disk is full for a while, and the database is set back to a backup. Then whatever is left is drained, and every
submission must have ended exactly once, with the score that its predictions deserve, and nothing else may be left.

Used short by the tests and long by benchmarks/queue_crashes.py.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dask_cluster import Cluster
from queue_band import Band
from queue_samples import CHALLENGE, HALF, HIDDEN, RIGHT, WRONG_PLACE, hand_in, opened, queue, with_home

from sandscore.base.process_identity import gone
from sandscore.queue.homes.sqlite.sqlite_database import FILE, back_up
from sandscore.queue.queue_layout import private_path
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Status, Submission

PATIENT = f"{CHALLENGE}[quota.failures]\nday = 1000000\n"
SCORES = {"right": 1.0, "half": 0.8}
"""By hand: see the samples."""
SPANS = {"right": RIGHT, "half": HALF, "wrong": WRONG_PLACE}
WORKER = """
import datetime, os, resource, signal, sys
root, offset, room, deaths = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
import sandscore.base.clock as times
begun = times.uptime()
def jumping():
    jump = offset if times.uptime() - begun > 0.7 else 0.0
    return datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=jump)
times.utc_now = jumping
from sandscore.cli.main import run
seen = 0
def hook(event, arguments):
    global seen
    if event in ("open", "os.rename", "os.mkdir", "os.link", "os.remove") and root in str(arguments[0]):
        seen += 1
        if seen == deaths:
            os.kill(os.getpid(), signal.SIGKILL)
if deaths:
    sys.addaudithook(hook)
if room:
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
sys.exit(run(["queue", "work", root, *sys.argv[5:]]))
"""
"""A worker whose clock jumps after a while, whose files may not grow beyond ``room`` bytes, and who dies at its
``deaths``th touch of a file of the queue."""


@dataclass
class Siege:
    """One queue and those who attack it."""

    root: Path
    seed: int
    submissions: int
    workspace: Workspace = field(init=False)
    handed_in: dict[str, str] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    restores: int = 0
    erased: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.workspace = queue(self.root, PATIENT, lease_seconds=2.0, most_failures=1000, most_losses=1000)
        for number in range(self.submissions):
            self._hand_in(number)
        self.band = Band(self.random, self.start)

    def _hand_in(self, number: int) -> None:
        kind = ("right", "half", "wrong")[number % 3]
        self.handed_in[hand_in(self.workspace, SPANS[kind], f"Team {number % 7}")] = kind

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """A worker; each with afflictions of its own."""
        jump = self.random.choice([0.0, 0.0, 3e5, -3e5])
        room = self.random.choice([0, 0, 0, 0, self.random.randrange(1, 60_000)])
        deaths = self.random.choice([0, self.random.randrange(1, 250)])
        if "--once" in options:
            jump, room, deaths = 0.0, 0, 0
        arguments = [str(self.workspace.root), str(jump), str(room), str(deaths), "--board-every", "2", *options]
        with (self.root / "said.txt").open("ab") as said:
            return subprocess.Popen([sys.executable, "-c", WORKER, *arguments], stdout=subprocess.DEVNULL, stderr=said)

    def attack(self, kills: int, workers: int = 3) -> None:
        """Until that many workers have died by force."""
        backup = self.root / "backup.sqlite"
        back_up(self.workspace.root, backup)
        while self.band.kills < kills:
            self.band.muster(workers)
            if self.random.random() < 0.5:
                self._until_busy()
            time.sleep(self.random.uniform(0.0, 1.2))
            self.strike()
            for _ in range(self.random.randrange(12)):
                self._hand_in(len(self.handed_in))
            if self.random.random() < 0.1:
                self._cancel_one()
            if self.random.random() < 0.06:
                back_up(self.workspace.root, backup)
            if self.random.random() < 0.04:
                self.restore(backup)
        self.band.end()

    def _until_busy(self, seconds: float = 10.0) -> None:
        """Where the machine is busy all workers would otherwise die at their start, and none over anything."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with opened(self.workspace) as database, database.reading() as connection:
                found = connection.execute("SELECT status, owner FROM submission").fetchall()
            left = [(status, owner) for status, owner in found if not Status(status).final]
            if not left or any(status != Status.RECEIVED and not gone(owner) for status, owner in left):
                break
            time.sleep(0.05)

    def strike(self) -> None:
        self.band.strike()

    def drain(self) -> None:
        """Two workers, unharmed, until nothing is left."""
        running = [self.start("--once") for _ in range(2)]
        assert [process.wait(timeout=240 + len(self.handed_in)) for process in running] == [0, 0], self.said()

    def said(self) -> str:
        """Warnings of the workers, the last ones last."""
        lines = (self.root / "said.txt").read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join([line for line in lines if line.startswith("sandscore:") or "Error" in line][-20:])

    def _cancel_one(self) -> None:
        chosen = self.random.choice(sorted(self.handed_in))
        if with_home(self.workspace, lambda home: home.cancel(chosen)):
            self.cancelled.add(chosen)

    def restore(self, backup: Path) -> None:
        """As the organiser's guide says: stop the workers, put the copy in place, start again."""
        self.band.end()
        self.erased = self.lost()
        for ending in ("", "-wal", "-shm"):
            private_path(self.workspace.root, f"{FILE}{ending}").unlink(missing_ok=True)
        private_path(self.workspace.root, FILE).write_bytes(backup.read_bytes())
        self.restores += 1

    def _check_quiet(self) -> None:
        """Whoever lives on when others die says sentences, and so do those who were about to die."""
        said = (self.root / "said.txt").read_text(encoding="utf-8", errors="replace")
        assert "Traceback" not in said, said[said.index("Traceback") :][:3000]

    def lost(self) -> int:
        """Attempts whose worker died over them, those that a restored copy knows nothing of among them."""
        with opened(self.workspace) as database, database.reading() as connection:
            found: int = connection.execute("SELECT count(*) FROM attempt WHERE outcome='lost'").fetchone()[0]
        return self.erased + found

    def check(self) -> Counter[str]:
        """Everything that must hold; how many ended how."""
        found = with_home(self.workspace, lambda home: home.submissions())
        assert {one.id for one in found} == set(self.handed_in), "every submission is there, and no other"
        for one in found:
            self._check_one(one)
        self._check_rest(found)
        return Counter(str(one.status) for one in found)

    def _check_one(self, one: Submission) -> None:
        kind = self.handed_in[one.id]
        told = f"{one.id} ({kind}): {one}"
        with opened(self.workspace) as database, database.reading() as connection:
            ends = connection.execute(
                "SELECT outcome FROM attempt WHERE submission=? AND outcome IN ('SCORED', 'INVALID')", (one.id,)
            ).fetchall()
            versions = connection.execute("SELECT count(*) FROM version WHERE submission=?", (one.id,)).fetchone()[0]
        if one.status == "REJECTED":
            assert (one.id in self.cancelled, one.reason, ends) == (True, "cancelled", []), told
        elif kind == "wrong":
            assert (one.status, len(ends), versions) == ("INVALID", 1, 0), told
            assert "text-mismatch 1" in str(one.reason), told
        else:
            assert (one.status, one.scores.get("instance_strict")) == ("SCORED", SCORES[kind]), told
            assert (len(ends), versions, one.version) == (1, 1, 1), told
        folders = list((self.workspace.attempts / one.id).glob("*"))
        assert len(folders) == 1 or one.status == "REJECTED", f"{told}: {folders}"

    def _check_rest(self, found: Sequence[Submission]) -> None:
        root = self.workspace.root
        assert not [path for path in root.rglob("*.part") if "files" not in path.parts], "no half-written file"
        lines = (root / "private" / "notices.jsonl").read_text(encoding="utf-8").splitlines()
        told = [json.loads(line) for line in lines]
        scored = Counter(notice["submission"] for notice in told if notice["event"] == "scored")
        assert not scored or max(scored.values()) == 1, "a score is told at most once"
        assert (root / "public" / "boards" / "date.json").exists(), self.said()
        board = json.loads((root / "public" / "boards" / "date.json").read_bytes())
        published = json.loads((root / "public" / "site" / "date" / "board.json").read_bytes())
        assert [row["submission"] for row in published["rows"]] == [row["submission"] for row in board["rows"]], (
            self.said()
        )
        shown, ended = (
            {row["submission"] for row in board["rows"]},
            {one.id: one for one in found if one.status == "SCORED"},
        )
        assert shown <= ended.keys()
        assert {ended[name].team for name in shown} == {one.team for one in ended.values()}, "the board has every team"
        self._check_quiet()
        assert left_over(root) == [], "no process is left"
        with sqlite3.connect(root / "private" / FILE) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def left_over(root: Path) -> list[str]:
    """Command lines of processes that work for this queue; they may need a moment to see that their parent is gone."""
    found: list[str] = []
    for _ in range(50):
        lines = [line for path in Path("/proc").glob("[0-9]*/cmdline") if (line := _read(path)) is not None]
        found = [line for line in lines if str(root) in line and "sandscore" in line]
        if not found:
            break
        time.sleep(0.2)
    return found


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return None


class DaskSiege(Siege):
    """The same with the work done on a cluster, parts of which die as well."""

    def __init__(self, root: Path, seed: int, submissions: int) -> None:
        self.cluster = Cluster(root)
        super().__init__(root, seed, submissions)

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        return super().start("--dask", self.cluster.address, *options)

    def strike(self) -> None:
        """A driver or two; and a worker of the cluster, or its scheduler and with it both workers."""
        super().strike()
        part = self.random.randrange(4)
        if part < 2:
            self.cluster.kill_worker(part)
            self.band.kills += 1
        elif part == 2:
            self.cluster.kill_scheduler()
            self.band.kills += 3

    def drain(self) -> None:
        try:
            super().drain()
        finally:
            self.cluster.close()


IMAGES = """
import asyncio, os, random, sys
from pathlib import Path
root = Path(sys.argv[1])
from sandscore.base import clock
clock.TICK_SECONDS = 2.0
from queue_samples import HALF, annotations
from sandscore.containers.sent_notes import read_notes
from sandscore.queue.children.child_messages import RunAnswer, SubmissionRunRequest, SweepAnswer
from sandscore.queue.worker import executor
from sandscore.records.run_record import Outcome, RunRecord
async def ran(self, job):
    if not isinstance(job, SubmissionRunRequest):
        return SweepAnswer(0)
    folder = Path(job.folder)
    mine = folder.parents[1] if job.practice else folder.parent
    line = f"{mine.name} {'rehearsal' if job.practice else 'hidden'} {(mine / 'rehearsal/run.json').exists()}\\n"
    with (root.parent / "runs.txt").open("a") as runs:
        runs.write(line)
    await asyncio.sleep(random.uniform(0.0, 0.5))
    record = RunRecord(sandscore="0", task="date", protocol="service", kind="image", isolation="none",
        limits=job.limits, concurrency=1, notes=3, notes_sha256=read_notes(job.notes)[1], outcome=Outcome.FINISHED)
    (folder / "predictions.json").write_bytes(annotations(HALF))
    (folder / ".run").write_text(record.model_dump_json())
    (folder / ".run").replace(folder / "run.json")
    return RunAnswer(Outcome.FINISHED)
executor.LocalHands.run = ran
from sandscore.cli.main import run
sys.exit(run(["queue", "work", str(root), *sys.argv[2:]]))
"""
"""A worker with ticks of two seconds, whose images finish after a while without an engine."""


class ImageSiege(Siege):
    """Images on hidden notes: they rehearse, wait for ticks, and are killed in between."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        patient = {"lease_seconds": 2.0, "most_failures": 1000, "most_losses": 1000}
        self.workspace = queue(self.root, HIDDEN, **patient)
        for number in range(self.submissions):
            self._hand_in(number)
        self.band = Band(self.random, self.start)

    def _hand_in(self, number: int) -> None:
        image = "sha256:" + f"{number:064x}"
        self.handed_in[hand_in(self.workspace, team=f"Team {number % 3}", image=image)] = "half"

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", IMAGES, str(self.workspace.root), "--board-every", "2", *options]
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        with (self.root / "said.txt").open("ab") as said:
            return subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=said, env=os.environ | {"PYTHONPATH": path}
            )

    def besiege(self, kills: int, workers: int = 2) -> None:
        """Nobody hands in anything more, so that all have met the hidden notes some time."""
        while self.band.kills < kills:
            self.band.muster(workers)
            time.sleep(self.random.uniform(0.3, 2.5))
            self.strike()
        self.band.end()

    def check(self) -> Counter[str]:
        found = with_home(self.workspace, lambda home: home.submissions())
        assert {one.id for one in found} == set(self.handed_in)
        runs = [line.split() for line in (self.root / "runs.txt").read_text(encoding="utf-8").splitlines()]
        for one in found:
            told = f"{one}: {[run for run in runs if run[0] == one.id]}"
            assert (one.status, one.scores.get("instance_strict"), one.version) == ("SCORED", SCORES["half"], 1), told
            assert (self.workspace.rehearsal(one.id) / "run.json").exists(), told
            with opened(self.workspace) as database, database.reading() as connection:
                ends = connection.execute("SELECT outcome FROM attempt WHERE submission=?", (one.id,)).fetchall()
            assert [end[0] for end in ends].count("SCORED") == 1, told
        assert {practised for _, which, practised in runs if which == "hidden"} == {"True"}, "never before a rehearsal"
        assert {practised for _, which, practised in runs if which == "rehearsal"} == {"False"}, "once a submission"
        self._check_quiet()
        assert left_over(self.workspace.root) == []
        return Counter(str(one.status) for one in found)

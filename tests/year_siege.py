"""A queue's year under siege: phases open and close and are edited badly while workers die, the whole queue is backed
up and restored elsewhere meanwhile, and at last a later version takes it over and is killed while it does.

Used short by the tests and long by benchmarks/queue_crashes.py.
"""

import json
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence

from older_queues import LATER, LaterVersion
from queue_band import Band
from queue_samples import hand_in, queue, with_home
from queue_siege import PATIENT, SCORES, SPANS, Siege, left_over

from sandscore.base.errors import SandscoreError
from sandscore.cli.main import run
from sandscore.queue.workspace import open_workspace
from sandscore.records.submission import Submission

PHASES = '[[phases]]\nname = "early"\ncloses = {}\n\n[[phases]]\nname = "late"\n'
OPEN, SHUT = "2999-01-01T00:00:00Z", "2020-01-01T00:00:00Z"
DIES = """
import os
left = [{after}]
def counted(real):
    def step(*given, **named):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), 9)
        return real(*given, **named)
    return step
for name in ("replace", "rename", "fsync", "mkdir", "unlink"):
    setattr(os, name, counted(getattr(os, name)))
"""


class YearSiege(Siege):
    """The same, with what happens to a queue in a year."""

    refused = edits = moves = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        patient = {"lease_seconds": 2.0, "most_failures": 1000, "most_losses": 1000}
        self.workspace = queue(self.root, PATIENT + PHASES.format(OPEN), **patient)
        self.phase_of: dict[str, str] = {}
        for number in range(self.submissions):
            self._hand_in(number)
        self.band = Band(self.random, self.start)

    def _hand_in(self, number: int) -> None:
        """As a team does it: to the queue as it is configured in that moment."""
        kind, phase = ("right", "half", "wrong")[number % 3], self.random.choice(["early", "late"])
        try:
            workspace = open_workspace(self.workspace.root)
            one = hand_in(workspace, SPANS[kind], f"Team {number % 7}", phase=phase)
        except SandscoreError as fault:
            self.refused += 1
            if phase == "late" and "TOML" not in str(fault):
                raise
            return
        self.handed_in[one], self.phase_of[one] = kind, phase

    def besiege(self, kills: int) -> None:
        """Until that many workers have died by force, and everything else has happened too."""
        while self.band.kills < kills or not min(self.edits, self.moves, self.refused):
            self.band.muster(2)
            time.sleep(self.random.uniform(0.0, 1.2))
            self._edit()
            self.strike()
            for number in range(self.random.randrange(8)):
                self._hand_in(len(self.handed_in) + number)
            if self.random.random() < 0.35:
                self._move()
        self.band.end()
        self._write(PATIENT + PHASES.format(SHUT))

    def _edit(self) -> None:
        said = self.random.choice([OPEN, SHUT, "never", OPEN])
        self._write(PATIENT + PHASES.format(said))
        self.edits += 1

    def _write(self, text: str) -> None:
        path = self.workspace.root / "private" / "challenge.toml"
        path.with_name("edited").write_text(text, encoding="utf-8")
        path.with_name("edited").replace(path)

    def _move(self) -> None:
        """Backed up while workers go on, then restored elsewhere: what came after the backup is not known there."""
        self._write(PATIENT + PHASES.format(OPEN))
        archive, elsewhere = self.root / f"{self.moves}.tar", self.root / f"queue-{self.moves}"
        assert run(["queue", "backup", str(self.workspace.root), str(archive)]) == 0
        self.band.end()
        assert run(["queue", "restore", str(archive), str(elsewhere)]) == 0
        self.workspace = open_workspace(elsewhere)
        self.moves += 1

    def _check_rest(self, found: Sequence[Submission]) -> None:
        root = self.workspace.root
        assert run(["queue", "check", str(root)]) == 0, "the journal's chain holds, and everything else"
        for phase in ("early", "late"):
            ended = {one.id: one for one in found if (one.status, one.phase) == ("SCORED", phase)}
            board = json.loads((root / "public/boards" / f"date-{phase}.json").read_bytes())
            shown = {row["submission"] for row in board["rows"]}
            assert shown <= ended.keys()
            assert {ended[name].team for name in shown} == {one.team for one in ended.values()}
        assert {one.id: one.phase for one in found} == self.phase_of
        assert left_over(root) == []
        self._check_quiet()

    def upgrade(self, kills: int) -> Counter[str]:
        """By a later version, which dies so many times on the way; then every card and board is of that version."""
        later, root = LaterVersion(self.root / "later"), str(self.workspace.root)
        words = ["queue", "upgrade", root, "--apply"]
        for _ in range(kills):
            ran = later.ran(words, DIES.format(after=self.random.randrange(2, 120)))
            assert ran.returncode in (0, -signal.SIGKILL), ran.stderr
        last = later.ran(words)
        assert last.returncode == 0, last.stderr
        found = with_home(self.workspace, lambda home: home.submissions())
        for one in found:
            if one.status == "SCORED":
                kind = self.handed_in[one.id]
                assert (one.version, one.scores["instance_strict"]) == (2, SCORES[kind]), one
        for path in (self.workspace.root / "public/boards").glob("date-*[a-z].json"):
            assert json.loads(path.read_bytes())["sandscore"] == LATER
        return Counter(str(one.status) for one in found)

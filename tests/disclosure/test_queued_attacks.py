"""The attacks of ``test_attacks`` through a whole queue: files are handed in, a worker scores them, and the attacker
has what teams and the public have: the team's view of each submission, and every file of ``public/``. What is won by
a bet on each mark of gold is at most what the queue's own ledger says.
"""

import contextlib
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import Struct
from numpy.typing import NDArray
from queue_samples import annotations, opened

from sandscore.cli.main import run
from sandscore.queue.homes.sqlite.sqlite_admin import submit
from sandscore.queue.homes.sqlite.sqlite_database import create
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.new_submission import NewSubmission
from sandscore.queue.queue_layout import CHALLENGE as CHALLENGE_FILE
from sandscore.queue.queue_layout import edited_path
from sandscore.queue.queue_setup import found
from sandscore.queue.settings import QueueSettings
from sandscore.queue.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("near_children")]

NOTES, MARKS, FILES, TEAM = 18, 24, 70, "Mallory"
SIZE = 9
"""Each word of a note with the blank behind it: marks stand at its multiples."""
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
CHALLENGE = """
challenge = "coins"
resamples = 100
randomisations = 99
data = {notes = "hidden", gold = "hidden"}
[[phases]]
name = "final"
"""


class Besieged(Struct):
    """A queue whose gold is a thrown coin for each word, and all that its attacker has seen of it."""

    workspace: Workspace
    gold: Bools
    folder: Path
    made: list[str]

    def hand_in(self, *files: bytes) -> None:
        given = self.folder / "given.json"
        with opened(self.workspace) as database:
            journal = SubmissionJournal(self.workspace.root)
            for content in files:
                given.write_bytes(content)
                entry = NewSubmission("date", TEAM, predictions=given, phase="final")
                self.made.append(submit(database, journal, self.workspace, entry))

    def work(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert run(["queue", "work", str(self.workspace.root), "--once"]) == 0

    def views(self) -> list[dict[str, Any]]:
        return [self.asked("show", str(self.workspace.root), one, "--team-view") for one in self.made]

    def asked(self, *words: str) -> Any:
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            assert run(["queue", *words, "--format", "json"]) == 0
        return json.loads(told.getvalue())

    def bits(self) -> float:
        bits: float = self.asked("disclosed", str(self.workspace.root))["bits"]
        return bits


def file_of(marked: Bools) -> bytes:
    places = {
        f"n{note}": [(int(at) * SIZE, f"word{note:02d}{at:02d}") for at in np.flatnonzero(row)]
        for note, row in enumerate(marked.reshape(NOTES, MARKS))
    }
    return annotations(places)


def besieged(folder: Path, policy: str, gold: Bools) -> Besieged:
    """Patients are notes."""
    data = folder / "data"
    data.mkdir(parents=True)
    texts = {f"n{note}": " ".join(f"word{note:02d}{at:02d}" for at in range(MARKS)) for note in range(NOTES)}
    notes = [{"identifier": name, "text": text, "patientId": name} for name, text in texts.items()]
    (data / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (data / "date.json").write_bytes(file_of(gold))
    (data / "challenge.toml").write_text(CHALLENGE + policy, encoding="utf-8")
    settings = QueueSettings(data={"": str(data)}, lease_seconds=60.0)
    return Besieged(found(folder / "queue", data / "challenge.toml", settings, create), gold, folder, [])


def end(attacked: Besieged) -> None:
    """The organiser ends the phase; what may be known then is published."""
    challenge = edited_path(attacked.workspace.root, CHALLENGE_FILE)
    challenge.write_text(challenge.read_text(encoding="utf-8") + 'ended = true\ncards = "totals"\n', encoding="utf-8")
    attacked.work()


def hits(attacked: Besieged, view: dict[str, Any], size: int) -> float | None:
    """How many of the file's marks are right: as a card counts them, or as F1 says where half of all is gold."""
    told = [(view["feedback"] or {}).get("measures", {}), *published(attacked, view["id"])]
    measures = [one["instance_strict"] for one in told if "instance_strict" in one]
    for one in measures:
        if one.get("tp") is not None:
            return float(one["tp"])
    shown = next((one["f1"] for one in measures if one.get("f1") is not None), None)
    return None if shown is None else float(shown * (size + NOTES * MARKS / 2) / 2)


def published(attacked: Besieged, submission: str) -> list[dict[str, Any]]:
    """The measures of every card and row of the submission that anybody may fetch."""
    found = []
    for path in (attacked.workspace.root / "public").rglob("*.json"):
        content = json.loads(path.read_bytes())
        rows = [*content.get("rows", ()), content] if isinstance(content, dict) else []
        found += [row["measures"] for row in rows if row.get("submission") == submission and "measures" in row]
    return found


def weighed(attacked: Besieged, draws: np.random.Generator, *, ended: bool) -> Floats:
    """Seventy random halves at once, one linear regression: for each mark the share to bet on its being gold."""
    halves = draws.random((FILES, attacked.gold.size)) < 0.5
    attacked.hand_in(*map(file_of, halves))
    attacked.work()
    if ended:
        end(attacked)
    found = [hits(attacked, view, int(half.sum())) for view, half in zip(attacked.views(), halves, strict=True)]
    if None in found:
        return np.full(attacked.gold.size, 0.5)
    signs = halves - 0.5
    sums = np.array(found, np.float64) - halves.sum(axis=1) / 2
    noise = 1.0 if ended else 40.0
    learnt = signs.T @ np.linalg.solve(signs @ signs.T + noise * np.eye(FILES), sums - sums.mean())
    return np.clip(0.5 + learnt, 0.02, 0.98)


def climbed(attacked: Besieged, draws: np.random.Generator) -> Floats:
    """Three generations: of each the one that is shown the best score is changed a little for the next."""
    best, score = draws.random(attacked.gold.size) < 0.5, 0.0
    for _ in range(3):
        tried = [best ^ (draws.random(best.size) < 0.1) for _ in range(FILES // 3)]
        attacked.hand_in(*map(file_of, tried))
        attacked.work()
        for one, view in zip(tried, attacked.views()[-len(tried) :], strict=True):
            reached = hits(attacked, view, int(one.sum()))
            if reached is not None and reached > score:
                best, score = one, reached
    assert score > 0, "something was shown"
    return np.where(best, 0.55, 0.45)


def won(bet: Floats, gold: Bools) -> float:
    """The bits that the bet wins."""
    return float(np.log2(2 * np.where(gold, bet, 1 - bet)).sum())


def chance(bet: Floats) -> float:
    """What luck alone may win: four standard deviations of the bet where nothing is known."""
    return 4 * math.sqrt(float((np.log2(bet / (1 - bet)) ** 2).sum()) / 4)


@pytest.fixture
def draws() -> np.random.Generator:
    return np.random.default_rng(20260101)


@pytest.mark.parametrize("policy", ["rounded", "blind", "ended"])
def test_seventy_designed_files_win_no_more_than_the_ledger_says(
    tmp_path: Path, policy: str, draws: np.random.Generator
) -> None:
    feedback = "blind" if policy == "ended" else policy
    attacked = besieged(tmp_path, f'feedback = "{feedback}"\n', draws.random(NOTES * MARKS) < 0.5)
    bet = weighed(attacked, draws, ended=policy == "ended")
    learnt, bits = won(bet, attacked.gold), attacked.bits()
    assert learnt <= bits + chance(bet)
    if policy == "ended":
        assert learnt > chance(bet) / 2, "the attack is no straw man"
    if policy == "blind":
        assert learnt == 0
        assert bits == pytest.approx(FILES * math.log2(3)), "of each that it was scored, and not one of two others"
        alike = {json.dumps(view["feedback"] | {"submission": view["status"]}) for view in attacked.views()}
        assert len(alike) == 1
        assert not any(any(row.values()) for one in attacked.made for row in published(attacked, one)), "not a number"


def test_climbing_the_ladder_wins_no_more_than_the_ledger_says(tmp_path: Path, draws: np.random.Generator) -> None:
    attacked = besieged(tmp_path, 'feedback = "ladder"\n', draws.random(NOTES * MARKS) < 0.5)
    bet = climbed(attacked, draws)
    assert won(bet, attacked.gold) <= attacked.bits() + chance(bet)


def test_faulty_files_are_told_apart_by_nothing(tmp_path: Path, draws: np.random.Generator) -> None:
    """Another text than the note's, past its end, no such note; one of them and seven: the team sees the same."""
    attacked = besieged(tmp_path, 'feedback = "rounded"\n', draws.random(NOTES * MARKS) < 0.5)
    for times in (1, 7):
        attacked.hand_in(
            annotations({"n0": [(at * SIZE, "w0rd0000") for at in range(times)]}),
            annotations({"n0": [(100_000 + at * SIZE, "word0000") for at in range(times)]}),
            annotations({f"m{at}": [(0, "word0000")] for at in range(times)}),
        )
    attacked.work()
    views = attacked.views()
    assert {view["status"] for view in views} == {"INVALID"}
    apart = {"id", "created", "finished", "receipt"}
    told = {json.dumps({key: said for key, said in view.items() if key not in apart}) for view in views}
    assert len(told) == 1
    assert "does-not-fit-notes" in told.pop()
    assert attacked.bits() >= len(views)

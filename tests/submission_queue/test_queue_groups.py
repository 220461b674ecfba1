"""Slices and perturbed copies in a queue: images run on the copies too, cards and boards say what came of it.

24 patients with a note of two dates each, 12 of the clinic north, 12 of south. The image finds both dates in the north,
the first in the south: tp 36, fn 12, an F1 of 72/84; in the south 24/36. In capitals it finds none of the south's:
tp 24, fn 24, an F1 of 48/72.
"""

import asyncio
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from python_images import PythonImages
from queue_samples import annotations, opened, with_home

import sandscore as ss
from sandscore.cli.main import run
from sandscore.containers.engines.docker.docker_engine import docker_client
from sandscore.queue.attempt_files import card_name
from sandscore.queue.children.child_messages import RunAnswer, RunnerRequest, SubmissionRunRequest
from sandscore.queue.homes.sqlite.sqlite_admin import submit
from sandscore.queue.homes.sqlite.sqlite_home import EmbeddedHome
from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
from sandscore.queue.new_submission import NewSubmission
from sandscore.queue.worker.executor import LocalHands
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.queue.workspace import Workspace, open_workspace
from sandscore.ranking.card_reading import read_card
from sandscore.records.run_record import Outcome, RunRecord
from sandscore.records.scorecard import Scorecard
from sandscore.records.submission import Submission

pytestmark = pytest.mark.usefixtures("near_children")

CAREFUL = r"""
import json, re
notes = json.load(open("/input/notes.json"))
def found(note):
    dates = [*re.finditer(r"\d\d/\d\d/\d{4}", note["text"])]
    clinic = note.get("note_name", note["identifier"]).rpartition("/")[2][0]
    dates = dates if clinic == "a" else dates[: 0 if note["text"].isupper() else 1]
    return [{"start": one.start(), "length": 10, "text": one[0]} for one in dates]
entries = [{"annotationSource": {"resourceSource": {"name": note.get("note_name", note["identifier"])}},
            "textDateAnnotations": found(note)} for note in notes]
json.dump(entries, open("/output/predictions.json", "w"))
"""
"""Finds what FOUND says, and in capitals what IN_CAPITALS says."""
IMAGE = "sha256:" + "0" * 64
FINISHED = RunAnswer(Outcome.FINISHED)
ROOT = Path(__file__).resolve().parents[2]
NORTH, SOUTH = ([f"{clinic}{number}" for number in range(12)] for clinic in ("a", "b"))
BOTH = [(8, "10/26/2020"), (23, "10/27/2020")]
GOLD = dict.fromkeys([*NORTH, *SOUTH], BOTH)
FOUND = GOLD | dict.fromkeys(SOUTH, BOTH[:1])
IN_CAPITALS = GOLD | {note: [] for note in SOUTH}
DATA = '{notes = "public", gold = "public"}'
CHALLENGE = """challenge = "groups"
resamples = 100
randomisations = 99
data = %s
[slices]
by = ["clinics.json", "other-notes.json", "note-length"]
[robustness]
copies = ["upper", "lower"]
"""


@pytest.fixture(scope="module")
def challenge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Notes, gold, slices and copies; challenge.toml is still to be written."""
    folder = tmp_path_factory.mktemp("challenge")
    notes = [{"identifier": name, "text": "Seen on 10/26/2020 and 10/27/2020.", "patientId": name} for name in GOLD]
    (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (folder / "date.json").write_bytes(annotations(GOLD))
    clinics = dict.fromkeys(NORTH, "north") | dict.fromkeys(SOUTH, "south")
    (folder / "clinics.json").write_text(json.dumps({"name": "clinics", "notes": clinics}), encoding="utf-8")
    (folder / "other-notes.json").write_text(json.dumps({"name": "others", "notes": {"z": "z"}}), encoding="utf-8")
    perturb(folder)
    return folder


def perturb(folder: Path) -> None:
    """Capital and small letters, which leave dates as they are."""
    gold = folder / "only-gold"
    gold.mkdir()
    shutil.copyfile(folder / "date.json", gold / "date.json")
    for case in ("upper", "lower"):
        shutil.rmtree(folder / case, ignore_errors=True)
        ss.perturb(str(folder / "notes.json"), gold, {"case": case}, output=folder / case)
    shutil.rmtree(gold)


def made(tmp_path: Path, challenge: Path, data: str = DATA, *more: str) -> Workspace:
    shutil.copytree(challenge, tmp_path / "challenge")
    rules = tmp_path / "challenge/challenge.toml"
    rules.write_text(CHALLENGE % data, encoding="utf-8")
    words = ["--challenge", str(rules), "--first-wait", "0.05", "--lease", "1", *more]
    assert run(["queue", "init", str(tmp_path / "queue"), *words]) == 0
    return open_workspace(tmp_path / "queue")


@pytest.fixture(scope="module")
def careful_image() -> Iterator[str]:
    subprocess.run([ROOT / "tools" / "base_image.sh"], check=True, capture_output=True)
    with docker_client() as client:
        name = PythonImages(client)("careful", CAREFUL)
        yield str(client.images.get(name).id)
        client.images.remove(name, force=True)


class Hands:
    """Runs end as ``ends`` says; scoring is real."""

    def __init__(self, workspace: Workspace, ends: Callable[[str], RunAnswer] = lambda _: FINISHED) -> None:
        self._real, self._ends = LocalHands(workspace.root), ends
        self.ran: list[str] = []
        self.held, self.hold = asyncio.Event(), ""
        self.masked: set[bool] = set()

    async def run(self, job: RunnerRequest) -> Any:
        from sandscore.containers.sent_notes import read_notes

        if not isinstance(job, SubmissionRunRequest):
            return None
        on, folder = "rehearsal" if job.practice else Path(job.notes).parent.name, Path(job.folder)
        self.ran.append(on)
        self.masked |= set() if job.practice else {job.masked}
        if on == self.hold:
            self.held.set()
            await asyncio.Event().wait()
        answer, (notes, digest) = self._ends(on), read_notes(job.notes)
        record = RunRecord(
            sandscore="0", task="date", protocol="service", kind="image", isolation="none", limits=job.limits,
            concurrency=1, notes=len(notes), notes_sha256=digest, outcome=answer.outcome, reason=answer.reason,
        )  # fmt: skip
        if answer == FINISHED:
            (folder / "predictions.json").write_bytes(annotations(IN_CAPITALS if on == "upper" else FOUND))
        (folder / "run.json").write_text(record.model_dump_json(), encoding="utf-8")
        return answer

    async def score(self, job: Any) -> Any:
        return await self._real.score(job)

    async def close(self) -> None:
        await self._real.close()


def worked(workspace: Workspace, hands: "Hands | LocalHands") -> None:
    """Until nothing is left, or the worker dies where its hands are held."""

    async def work() -> None:
        home = EmbeddedHome(workspace)
        await home.open()
        doing = asyncio.ensure_future(Worker(home, workspace, WorkPlan(once=True), lambda: hands).run())
        dying = asyncio.ensure_future((hands.held if isinstance(hands, Hands) else asyncio.Event()).wait())
        await asyncio.wait({doing, dying}, timeout=600, return_when=asyncio.FIRST_COMPLETED)
        for one in (doing, dying):
            one.cancel()
        ended, _ = await asyncio.gather(doing, dying, return_exceptions=True)
        assert ended is None or isinstance(ended, asyncio.CancelledError), ended
        await home.close()

    asyncio.run(work())


def hand_in(workspace: Workspace, **what: Any) -> None:
    with opened(workspace) as database:
        submit(database, SubmissionJournal(workspace.root), workspace, NewSubmission("date", "A", **what))


def only(workspace: Workspace) -> Submission:
    return with_home(workspace, lambda home: home.submissions())[-1]


def card_of(workspace: Workspace) -> Scorecard:
    one = only(workspace)
    folder = with_home(workspace, lambda home: home.kept(one))
    assert folder is not None, one.reason
    return read_card(folder / card_name(one.version)).card


def board_of(workspace: Workspace) -> dict[str, Any]:
    board: dict[str, Any] = json.loads((workspace.boards / "date.json").read_bytes())
    return board


def test_an_image_runs_on_the_copies_and_the_board_has_both_columns(tmp_path: Path, challenge: Path) -> None:
    workspace = made(tmp_path, challenge)
    hand_in(workspace, image=IMAGE)
    hands = Hands(workspace)
    worked(workspace, hands)
    assert hands.ran == ["challenge", "upper", "lower"]
    assert only(workspace).scores["instance_strict"] == pytest.approx(72 / 84)
    assert "per_unit" not in json.dumps(only(workspace).feedback), "a team is told of groups, not of patients"
    card = card_of(workspace)
    upper, lower = (card.robustness[name].measures["instance_strict"] for name in ("upper", "lower"))
    assert (upper.original, upper.value, lower.difference) == pytest.approx((72 / 84, 48 / 72, 0))
    assert list(card.slices) == ["clinics", "note-length"], "the third file speaks of other notes"
    south = card.slices["clinics"].slices["south"].measures["instance_strict"]
    assert (south.n, south.of) == (24, 36)
    [row] = board_of(workspace)["rows"]
    assert row["robustness"]["upper"]["difference"] == pytest.approx(48 / 72 - 72 / 84)
    assert (row["slices"]["clinics"]["slice"], row["slices"]["clinics"]["gap"]) == (
        "south",
        pytest.approx(24 / 36 - 72 / 84),
    )
    assert any("On upper" in page.read_text("utf-8") for page in workspace.site.rglob("*.html"))
    assert run(["verify", str(workspace.boards / "date.json")]) == 0
    predictions, folder = tmp_path / "found.json", tmp_path / "challenge"
    predictions.write_bytes(annotations(FOUND))
    scored = ss.score(
        "date", gold=folder / "date.json", predictions=predictions, notes=folder / "notes.json",
        slices=[str(folder / "clinics.json"), "note-length"],
    )  # fmt: skip
    assert scored.card.slices == card.slices, "score --slices says the same"


@pytest.mark.engine
def test_a_real_image_runs_on_the_copies(tmp_path: Path, challenge: Path, careful_image: str) -> None:
    """Behind the engine's walls, and to the numbers at the top."""
    workspace = made(tmp_path, challenge, DATA, "--protocol", "batch")
    hand_in(workspace, image=careful_image)
    worked(workspace, LocalHands(workspace.root))
    assert only(workspace).scores["instance_strict"] == pytest.approx(72 / 84)
    robustness = board_of(workspace)["rows"][0]["robustness"]
    differences = {copy: told["difference"] for copy, told in robustness.items()}
    assert differences == {"upper": pytest.approx(48 / 72 - 72 / 84), "lower": 0}
    assert len([*workspace.attempts.rglob("run.json")]) == 3, "the notes, and each copy, in a run of its own"


def test_a_copy_on_which_the_image_fails_costs_it_nothing(tmp_path: Path, challenge: Path) -> None:
    workspace = made(tmp_path, challenge)
    hand_in(workspace, image=IMAGE)
    late = RunAnswer(Outcome.TIMED_OUT, "it was late")
    worked(workspace, Hands(workspace, lambda on: late if on == "upper" else FINISHED))
    assert only(workspace).status == "SCORED"
    card = card_of(workspace)
    assert (card.robustness["upper"].reason, card.robustness["upper"].measures) == ("timed_out", {})
    assert list(board_of(workspace)["rows"][0]["robustness"]) == ["lower"]


def test_a_file_of_predictions_has_slices_alone(tmp_path: Path, challenge: Path) -> None:
    workspace = made(tmp_path, challenge)
    predictions = tmp_path / "found.json"
    predictions.write_bytes(annotations(FOUND))
    hand_in(workspace, predictions=predictions)
    worked(workspace, hands := Hands(workspace))
    assert (hands.ran, card_of(workspace).robustness) == ([], {})
    assert list(board_of(workspace)["rows"][0]["slices"]) == ["clinics", "note-length"]


def test_hidden_runs_go_on_where_a_dead_worker_left_off(
    tmp_path: Path, challenge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed on the second copy: neither the notes nor the first copy are run again; nothing of it is public."""
    monkeypatch.setattr("sandscore.base.clock.TICK_SECONDS", 1.0)
    workspace = made(tmp_path, challenge, '{notes = "hidden", gold = "hidden"}')
    hand_in(workspace, image=IMAGE)
    first = Hands(workspace)
    first.hold = "lower"
    worked(workspace, first)
    assert first.ran == ["rehearsal", "challenge", "upper", "lower"]
    second = Hands(workspace)
    worked(workspace, second)
    assert (second.ran, second.masked) == (["lower"], {True})
    assert only(workspace).status == "SCORED"
    assert card_of(workspace).robustness["upper"].measures["instance_strict"].value == pytest.approx(48 / 72)
    board = board_of(workspace)
    assert "slices" not in board["rows"][0]
    assert "robustness" not in board["rows"][0]


def test_a_copy_of_other_notes_is_refused_and_one_of_old_gold_is_left_out(
    tmp_path: Path, challenge: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = made(tmp_path, challenge)
    hand_in(workspace, image=IMAGE)
    worked(workspace, Hands(workspace))
    folder = tmp_path / "challenge"
    (folder / "date.json").write_bytes(annotations(GOLD | {"a0": BOTH[:1]}))
    assert run(["queue", "check", str(workspace.root)]) == 78
    assert "upper is no copy of" in capsys.readouterr().out
    assert run(["queue", "rescore", str(workspace.root), "--apply", "--cause", "a date that is none"]) == 0
    assert only(workspace).version == 2
    assert card_of(workspace).robustness == {}
    perturb(folder)
    assert run(["queue", "rescore", str(workspace.root), "--apply", "--cause", "copies of the new gold"]) == 0
    assert (only(workspace).version, [*card_of(workspace).robustness]) == (3, ["upper", "lower"])
    notes = json.loads((folder / "notes.json").read_bytes())
    (folder / "notes.json").write_text(json.dumps(notes, indent=1), encoding="utf-8")
    capsys.readouterr()
    again = ["queue", "init", str(tmp_path / "again"), "--challenge", str(folder / "challenge.toml")]
    assert run(again) == 78
    assert "is a copy of other notes than those of this challenge" in capsys.readouterr().err


def test_named_files_come_along_in_a_backup(tmp_path: Path, challenge: Path) -> None:
    workspace = made(tmp_path, challenge)
    backup, root = tmp_path / "backup.tar", tmp_path / "restored"
    assert run(["queue", "backup", str(workspace.root), str(backup)]) == 0
    shutil.rmtree(tmp_path / "challenge")
    assert run(["queue", "restore", str(backup), str(root)]) == 0
    assert run(["queue", "check", str(root)]) == 0
    restored = open_workspace(root)
    hand_in(restored, image=IMAGE)
    worked(restored, hands := Hands(restored))
    assert hands.ran[1:] == ["upper", "lower"]
    assert list(card_of(restored).slices) == ["clinics", "note-length"]


def test_a_queue_ranks_by_weighed_leaks(tmp_path: Path, challenge: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """12 of 48 dates are open, whatever a date weighs; the headline names the weights by their hash, as cards do."""
    weights = b'{"MM/DD/YYYY": 3, "": 3}'
    shutil.copytree(challenge, tmp_path / "challenge")
    (tmp_path / "challenge/weights.json").write_bytes(weights)
    rules, root = tmp_path / "challenge/challenge.toml", str(tmp_path / "queue")

    def begun(file: str, listed: str) -> int:
        said = f'headline = "char_leak(weights={file})"\nresamples = 100\nrandomisations = 99\ndata = {DATA}\n'
        rules.write_text(f'challenge = "c"\n{said}[measure_files]\n{listed}', encoding="utf-8")
        return run(["queue", "init", root, "--challenge", str(rules)])

    rules.write_text(f'challenge = "c"\ndata = {DATA}\n[tasks.all]\nheadline = "patient_leak"\n', encoding="utf-8")
    assert run(["queue", "init", root, "--challenge", str(rules)]) == 78
    assert "[tasks.all]: a queue scores one task a submission" in capsys.readouterr().err
    digest = hashlib.sha256(weights).hexdigest()[:12]
    for file, listed, why in (
        ("weights.json", "", "line 2: headline: 'char_leak(weights=weights.json)' names its file by the first 12"),
        (digest, "", "needs a file that [measure_files] does not list"),
        (digest, f'{digest} = "clinics.json"', f"not {digest}"),
    ):
        assert begun(file, listed) == 78
        assert why in capsys.readouterr().err
    assert begun(digest, f'{digest} = "weights.json"') == 0
    workspace = open_workspace(tmp_path / "queue")
    predictions = tmp_path / "found.json"
    predictions.write_bytes(annotations(FOUND))
    hand_in(workspace, predictions=predictions)
    worked(workspace, Hands(workspace))
    board = board_of(workspace)
    assert board["headline"] == f"char_leak(weights={digest})"
    leak = board["rows"][0]["measures"][board["headline"]]
    assert (leak["n"], leak["of"], leak["value"]) == (3 * 120, 3 * 480, 0.25)

"""A run that is stopped, killed or out of time goes on where it was, and ends in the same bytes as one that was not.

What is waited for is a number of answers on disk, never a time.
"""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.running import sandscore
from hypothesis import given
from hypothesis import strategies as st

from sandscore.base.errors import UsageFault
from sandscore.cli import running_options
from sandscore.containers.answers import Answers
from sandscore.containers.kept_answers import PARTIAL, KeptAnswers, RunIdentity, RunPace, duration
from sandscore.containers.sent_notes import SentNote, read_notes
from sandscore.records.run_record import RunLimits, RunRecord
from sandscore.task_table.task import find_task

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
STANDINS = Path(__file__).parent / "standins"
NOTES, GOLD = ROOT / "gold" / "example" / "notes.json", ROOT / "gold" / "example" / "date.json"
SLOW = f"{sys.executable} {STANDINS / 'slow_service.py'}"
DATE = find_task("date")
COUNT = len(json.loads(NOTES.read_bytes()))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three tasks in one run that nobody disturbed: a folder for each."""
    folder = tmp_path_factory.mktemp("whole")
    tasks = "date,person-name,address"
    ran = sandscore("run", "--tasks", tasks, "--command", SLOW, "--notes", NOTES, "-o", folder, "--format", "json")
    assert ran.code == 0, ran.err
    assert [record["task"] for record in json.loads(ran.out)] == tasks.split(",")
    return folder


def begun(folder: Path, *what: str, enough: int, pause: str = "0.02") -> subprocess.Popen[str]:
    """A run of its own that has at least so many answers on disk."""
    partial = folder / PARTIAL
    words = ["run", "date", *what, "--notes", str(NOTES), "-o", str(folder), "--concurrency", "2"]
    resuming = ["--resume"] if partial.exists() else []
    process = subprocess.Popen(
        [sys.executable, "-m", "sandscore", *words, *resuming],
        env=os.environ | {"PAUSE": pause}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while process.poll() is None and (not partial.exists() or partial.read_bytes().count(b"\n") <= enough):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return process


def killed_again_and_again(folder: Path, *what: str, moments: list[int]) -> RunRecord:
    """Killed as soon as so many answers are there, each time; then left in peace."""
    for enough in moments:
        process = begun(folder, *what, enough=enough)
        process.kill()
        out, _ = process.communicate()
        assert process.returncode == -signal.SIGKILL, out
        assert not (folder / "predictions.json").exists()
    ran = sandscore("run", "date", *what, "--notes", NOTES, "-o", folder, "--resume", "--format", "json")
    assert ran.code == 0, ran.err
    assert not (folder / PARTIAL).exists()
    return RunRecord.model_validate_json(ran.out)


def drawn(seed: int, number: int) -> list[int]:
    return sorted(random.Random(seed).sample(range(1, COUNT - 12), number))


def test_a_killed_command_goes_on(tmp_path: Path, whole: Path) -> None:
    record = killed_again_and_again(tmp_path, "--command", SLOW, moments=drawn(1, 2))
    assert record.resumed_notes >= drawn(1, 2)[-1]
    assert record.notes == COUNT
    assert (tmp_path / "predictions.json").read_bytes() == (whole / "date" / "predictions.json").read_bytes()


def test_a_killed_run_of_a_server_goes_on(tmp_path: Path, whole: Path, server: str) -> None:
    record = killed_again_and_again(tmp_path, "--url", server, moments=drawn(2, 2))
    assert record.resumed_notes >= drawn(2, 2)[-1]
    assert (tmp_path / "predictions.json").read_bytes() == (whole / "date" / "predictions.json").read_bytes()


@pytest.fixture
def server() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(STANDINS)], env=os.environ | {"PAUSE": "0.02"}, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.kill()


_SERVER = """
import socketserver, sys
sys.path.insert(0, sys.argv[1])
import slow_service
made = socketserver.ThreadingTCPServer(("127.0.0.1", 0), slow_service.Handler)
print(made.server_address[1], flush=True)
made.serve_forever()
"""


@pytest.mark.engine
def test_a_killed_image_goes_on_and_another_one_does_not(python_image: Any, tmp_path: Path, whole: Path) -> None:
    slow = (STANDINS / "slow_service.py").read_text(encoding="utf-8").replace('"0.004"', '"0.02"')
    image, other = python_image("slow", slow), python_image("slower", slow + "\n")
    process = begun(tmp_path, "--image", image, enough=9)
    process.kill()
    process.communicate()
    refused = sandscore("run", "date", "--image", other, "--notes", NOTES, "-o", tmp_path, "--resume")
    assert refused.code == 2
    assert "these answers are of another image, sha256:" in refused.err
    record = killed_again_and_again(tmp_path, "--image", image, moments=[30])
    assert record.resumed_notes >= 30
    assert (tmp_path / "predictions.json").read_bytes() == (whole / "date" / "predictions.json").read_bytes()


def test_each_task_of_one_start_has_the_answers_of_a_run_of_its_own(tmp_path: Path, whole: Path) -> None:
    for task in ("person-name", "address"):
        ran = sandscore("run", task, "--command", SLOW, "--notes", NOTES, "-o", tmp_path / task)
        assert ran.code == 0, ran.err
        assert (tmp_path / task / "predictions.json").read_bytes() == (whole / task / "predictions.json").read_bytes()
        valid = sandscore("validate", task, whole / task / "predictions.json", "--notes", NOTES, "--complete")
        assert valid.code == 0, valid.out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        pytest.param(["--tasks", "date,contact"], "contact: note", id="a path it does not serve"),
        pytest.param(["date", "--tasks", "date,address"], "a TASK, or several with --tasks", id="both"),
        pytest.param([], "a TASK, or several with --tasks", id="neither"),
        pytest.param(["--tasks", "date,tim"], "tim", id="no such task"),
    ],
)
def test_tasks_that_cannot_be_run_together(tmp_path: Path, words: list[str], why: str) -> None:
    ran = sandscore("run", *words, "--command", SLOW, "--notes", NOTES, "-o", tmp_path)
    assert ran.code in (2, 65)
    assert why in ran.err


def test_out_of_time_says_how_far_it_came_and_is_never_scored(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAUSE", "0.05")
    words = ["run", "date", "--command", SLOW, "--notes", NOTES, "-o", tmp_path, "--concurrency", "1"]
    ran = sandscore(*words, "--time-limit", "2")
    assert ran.code == 65
    assert "timed_out: the run took longer than the 2 s allowed: " in ran.err
    assert f" of {COUNT} notes in " in ran.err
    assert "--resume goes on with it" in ran.err
    kept = (tmp_path / PARTIAL).read_bytes()
    renamed, answered = tmp_path / "predictions.jsonl", kept.count(b"\n") - 1
    renamed.write_bytes(kept)
    for verb in (["score", "date", "--gold", GOLD, "--predictions"], ["validate", "date"]):
        refused = sandscore(*verb, renamed, *(["--notes", NOTES]))
        assert refused.code == 65
        assert f"a run that did not finish, with {answered} of {COUNT} notes" in refused.err
    monkeypatch.setenv("PAUSE", "0")
    assert sandscore(*words, "--resume").code == 0
    assert (tmp_path / "predictions.json").read_bytes() == (whole / "date" / "predictions.json").read_bytes()
    again = sandscore(*words, "--resume")
    assert (again.code, "nothing to resume" in again.err) == (2, True)


def test_a_run_that_is_stopped_says_how_far_it_came(tmp_path: Path) -> None:
    process = begun(tmp_path, "--command", SLOW, enough=5)
    process.terminate()
    out, _ = process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert "sandscore: stopped: " in out
    assert f" of {COUNT} notes in " in out


def test_an_estimate_after_ten_seconds_and_only_one(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    assert running_options.ESTIMATE_SECONDS == 10
    with running_options.following(1500) as step:
        for seconds in (9.9, 10.0, 11.0):
            step(RunPace(57, 1500, seconds))
    assert capsys.readouterr().err == "sandscore: 57 of 1,500 notes in 10 s; all need about 263 s\n"


@pytest.mark.parametrize(
    ("pace", "said"),
    [
        # 1,500 notes at 57 in 5 s are 131.6 s; by hand
        (RunPace(57, 1500, 5.0), "57 of 1,500 notes in 5 s; all need about 132 s"),
        (RunPace(60, 120, 10.0, before=40), "60 of 120 notes in 10 s, 40 of them before; all need about 60 s"),
        (RunPace(40, 120, 10.0, before=40), "40 of 120 notes in 10 s, 40 of them before"),
    ],
)
def test_the_words_of_a_pace(pace: RunPace, said: str) -> None:
    assert str(pace) == said


def test_times_are_said_in_a_fitting_unit() -> None:
    assert [duration(seconds) for seconds in (599, 600, 7199, 7200, 90000)] == [
        "599 s", "10 min", "120 min", "2.0 h", "25.0 h",
    ]  # fmt: skip


# The file itself

ANSWERS = Answers(DATE, RunLimits())
READ, DIGEST = read_notes(NOTES)
SOME = READ[:6]
IDENTITY = RunIdentity("date", "image", "sha256:1", DIGEST, len(SOME))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All six answers, each with one annotation that stands in its note."""
    path = tmp_path_factory.mktemp("kept") / PARTIAL
    answers = KeptAnswers(path, IDENTITY)
    for note in SOME:
        answers.keep(note, _answer(note), DATE)
    answers.close()
    return path


def _answer(note: SentNote) -> bytes:
    return ANSWERS.annotations(note, {DATE.array: [{"start": 0, "length": 1, "text": note.text[:1]}]}, b"")


@given(st.data())
def test_whatever_a_kill_leaves_is_what_was_whole(kept: Path, data: st.DataObject) -> None:
    """Cut anywhere: the lines before the cut are there again, the one that was cut is asked anew and appended."""
    content = kept.read_bytes()
    cut = data.draw(st.integers(0, len(content)))
    path = kept.with_name(f"cut-{next(_NUMBERS)}")
    path.write_bytes(content[:cut])
    resumed = KeptAnswers(path, IDENTITY)
    before = resumed.resume(SOME, ANSWERS)
    lines = max(0, content[:cut].count(b"\n") - 1)
    assert before == {note.name: _answer(note) for note in SOME[:lines]}
    for note in SOME[lines:]:
        resumed.keep(note, _answer(note), DATE)
    resumed.close()
    assert path.read_bytes() == content
    path.unlink()


_NUMBERS = itertools.count()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"task": "address"}, "another task, date and not address"),
        ({"kind": "url"}, "another kind of annotator, image and not url"),
        ({"annotator": "sha256:2"}, "another image, sha256:1 and not sha256:2"),
        ({"notes_sha256": "0"}, "other notes"),
    ],
)
def test_another_run_is_refused(kept: Path, change: dict[str, str], why: str) -> None:
    now = RunIdentity(**{name: getattr(IDENTITY, name) for name in IDENTITY.__struct_fields__} | change)
    with pytest.raises(UsageFault, match=why):
        KeptAnswers(kept, now).resume(SOME, ANSWERS)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda line: line.replace(b'"length":1', b'"length":2'), id="a text that does not stand there"),
        pytest.param(lambda line: line[:10] + b"\n", id="half a line"),
        pytest.param(lambda line: b"\0" * len(line), id="zeros, as a power cut leaves them"),
        pytest.param(lambda line: line.replace(b'"name":"', b'"name":"other-'), id="a note that is not there"),
    ],
)
def test_an_answer_that_is_not_right_is_asked_again(
    kept: Path, tmp_path: Path, spoil: Callable[[bytes], bytes]
) -> None:
    head, *lines = kept.read_bytes().splitlines(keepends=True)
    path = tmp_path / PARTIAL
    path.write_bytes(b"".join([head, *lines[:3], spoil(lines[3]), *lines[4:]]))
    assert list(KeptAnswers(path, IDENTITY).resume(SOME, ANSWERS)) == [note.name for note in SOME[:3]]


def test_two_runs_do_not_write_one_file(kept: Path) -> None:
    first = KeptAnswers(kept, IDENTITY)
    first.resume(SOME, ANSWERS)
    with pytest.raises(UsageFault, match="another run is writing it"):
        KeptAnswers(kept, IDENTITY).resume(SOME, ANSWERS)
    first.close()
    kept.with_name("odd").write_bytes(b"[]\n")
    with pytest.raises(UsageFault, match="this is no partial"):
        KeptAnswers(kept.with_name("odd"), IDENTITY).resume(SOME, ANSWERS)
    assert KeptAnswers(kept.with_name("none"), IDENTITY).resume(SOME, ANSWERS) == {}

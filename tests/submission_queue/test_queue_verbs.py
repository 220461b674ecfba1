"""``sandscore queue`` on the command line: what scripts rely on, and faults as sentences with their exit codes."""

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from queue_samples import CHALLENGE, RIGHT, annotations, challenge_folder, hand_in, queue

from sandscore.cli.main import run

pytestmark = pytest.mark.usefixtures("near_children")

FIELDS = {"id", "team", "task", "status", "attempt", "reason", "created", "finished", "scores"}
DIGEST = "repo@sha256:" + "a" * 64


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(["queue", *words]) == code
    seen = capsys.readouterr()
    return seen.out if code == 0 else seen.err


def made(tmp_path: Path) -> tuple[str, str]:
    challenge = challenge_folder(tmp_path / "challenge")
    given = tmp_path / "predictions.json"
    given.write_bytes(annotations(RIGHT))
    assert run(["queue", "init", str(tmp_path / "q"), "--challenge", str(challenge)]) == 0
    return str(tmp_path / "q"), str(given)


def test_from_nothing_to_a_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, given = made(tmp_path)
    assert json.loads(said(capsys, "list", folder, "--format", "json")) == []
    name = ("--name", "Hawk 2")
    said_back = said(capsys, "submit", folder, "--task", "date", "--team", "A", *name, "--predictions", given)
    submission_id = said_back.strip()
    [one] = json.loads(said(capsys, "list", folder, "--format", "json"))
    assert set(one) >= FIELDS
    assert (one["id"], one["status"], one["attempt"], one["finished"]) == (submission_id, "RECEIVED", 0, None)
    [line] = said(capsys, "work", folder, "--once", "--format", "json").splitlines()
    assert json.loads(line)["status"] == "SCORED"
    [one] = json.loads(said(capsys, "list", folder, "--format", "json"))
    assert (one["status"], one["attempt"], one["scores"]["instance_strict"]) == ("SCORED", 1, 1.0)
    site = (Path(folder) / "site" / "index.html").read_text(encoding="utf-8")
    assert "<bdi>Hawk 2 (A)</bdi> " in site
    assert "1 SCORED" in said(capsys, "list", folder)
    assert said(capsys, "list", folder, "--status", "invalid", "--format", "json").strip() == "[]"


@pytest.mark.parametrize("name", ["", " ", "a\x1b[2J", "n" * 201])
def test_a_name_that_cannot_be_shown_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    folder, given = made(tmp_path)
    capsys.readouterr()
    words = ["queue", "submit", folder, "--task", "date", "--team", "A", "--name", name, "--predictions", given]
    assert run(words) == 2
    assert "a submission's name has 1 to 200 printable characters" in capsys.readouterr().err


def test_a_packed_file_is_scored_as_what_is_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, given = made(tmp_path)
    packed = tmp_path / "predictions.json.gz"
    packed.write_bytes(gzip.compress(Path(given).read_bytes()))
    said(capsys, "submit", folder, "--task", "date", "--team", "A", "--predictions", str(packed))
    said(capsys, "work", folder, "--once")
    [one] = json.loads(said(capsys, "list", folder, "--format", "json"))
    assert (one["status"], one["scores"]["instance_strict"]) == ("SCORED", 1.0)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = queue(tmp_path, most_bytes=10)
    given = tmp_path / "given.json"
    given.write_bytes(annotations(RIGHT))
    words = ["submit", str(workspace.root), "--task", "date", "--team", "A", "--predictions", str(given)]
    assert "more than the 10 bytes allowed" in said(capsys, *words, code=65)
    assert list(workspace.files.glob("*")) == []


def test_what_is_private_is_private(tmp_path: Path) -> None:
    folder = Path(made(tmp_path)[0])
    assert (folder / "private").stat().st_mode & 0o077 == 0
    assert all((folder / "private" / name).stat().st_mode & 0o077 == 0 for name in ("salt", "queue.sqlite"))


def test_cancel_and_requeue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, given = made(tmp_path)
    one = said(capsys, "submit", folder, "--task", "date", "--team", "A", "--predictions", given).strip()
    assert json.loads(said(capsys, "cancel", folder, one, "--format", "json")) == {one: True}
    assert "has ended already" in said(capsys, "cancel", folder, one, code=2)
    [listed] = json.loads(said(capsys, "list", folder, "--format", "json"))
    assert (listed["status"], listed["reason"]) == ("REJECTED", "cancelled")
    assert said(capsys, "requeue", folder, one).strip() == f"{one} requeued"
    said(capsys, "work", folder, "--once")
    assert "SCORED" in said(capsys, "show", folder, one)


def test_export_holds_cards_that_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, given = made(tmp_path)
    said(capsys, "submit", folder, "--task", "date", "--team", "=A", "--predictions", given)
    said(capsys, "work", folder, "--once")
    out = tmp_path / "out"
    said(capsys, "export", folder, "-o", str(out))
    [card] = (out / "cards" / "date").glob("*.json")
    assert run(["rank", str(card)]) == 0
    assert "'=A" in (out / "submissions.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        pytest.param(["submit", "Q", "--task", "nope", "--team", "A", "--predictions", "P"], 2, "date", id="task"),
        pytest.param(["submit", "Q", "--task", "id", "--team", "A", "--predictions", "P"], 2, "no gold", id="no gold"),
        pytest.param(["submit", "Q", "--task", "date", "--team", "A"], 2, "exactly one", id="nothing"),
        pytest.param(
            ["submit", "Q", "--task", "date", "--team", "A", "--image", "x:latest"], 2, "by digest", id="a tag"
        ),
        pytest.param(
            ["submit", "Q", "--task", "date", "--team", "A", "--image", f"-v {DIGEST}"], 2, "by digest", id="an option"
        ),
        pytest.param(["submit", "Q", "--task", "date", "--team", " ", "--image", DIGEST], 2, "team", id="no team"),
        pytest.param(
            ["submit", "Q", "--task", "date", "--team", "A", "--image", DIGEST],
            78,
            "[images] registries",
            id="registry",
        ),
        pytest.param(
            ["submit", "Q", "--task", "date", "--team", "A", "--predictions", "gone"],
            66,
            "no such file",
            id="no file",
        ),
        pytest.param(["list", "gone"], 66, "queue init", id="no queue"),
        pytest.param(["list"], 2, "DIR", id="no place"),
        pytest.param(["list", "--synapse", "123"], 2, "--state", id="no state"),
        pytest.param(["show", "Q", "nobody"], 2, "no submission nobody", id="no submission"),
        pytest.param(["rescore", "Q", "nobody", "--plan"], 65, "nobody", id="not scored"),
        pytest.param(["init", "Q", "--challenge", "C"], 2, "already", id="twice"),
    ],
)
def test_faults_are_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, sentence: str
) -> None:
    folder, given = made(tmp_path)
    places = {"Q": folder, "P": given, "C": str(tmp_path / "challenge" / "challenge.toml")}
    assert sentence in said(capsys, *(places.get(word, word) for word in words), code=code)


def test_a_team_submits_what_is_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = made(tmp_path)
    toml = Path(folder) / "challenge.toml"
    listed = '[images]\nregistries = ["registry.example.org/{team}"]\n'
    toml.write_text(toml.read_text(encoding="utf-8") + listed, encoding="utf-8")
    words = ["submit", folder, "--task", "date", "--team", "alpha", "--image"]
    assert said(capsys, *words, "registry.example.org/alpha/tool@sha256:" + "a" * 64)
    for other in ("registry.example.org/beta/tool@sha256:" + "a" * 64, "sha256:" + "a" * 64):
        assert "not an image that this team may name: registry.example.org/alpha/…" in said(
            capsys, *words, other, code=65
        )


@pytest.mark.parametrize("entry", ["", "https://x.org", "x.org/", "x.org/{Team}", "x.org/a{team}", "X.org", "ubuntu"])
def test_a_list_of_registries_that_cannot_be_meant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], entry: str
) -> None:
    folder, given = made(tmp_path)
    toml = Path(folder) / "challenge.toml"
    toml.write_text(f'{toml.read_text(encoding="utf-8")}[images]\nregistries = ["{entry}"]\n', encoding="utf-8")
    words = ["submit", folder, "--task", "date", "--team", "alpha", "--predictions", given]
    assert "/images/registries/0" in said(capsys, *words, code=78)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        pytest.param("date.json", b"{", "gold is not valid", id="gold"),
        pytest.param("notes.json", b"[{}]", "notes is not valid", id="notes"),
        pytest.param("challenge.toml", CHALLENGE.encode() + b"[tasks.nope]\n", "unknown task", id="task"),
        pytest.param("challenge.toml", CHALLENGE.encode() + b"[tasks.id]\n", "no gold for the task id", id="no gold"),
        pytest.param("challenge.toml", b"nonsense", "not TOML", id="toml"),
    ],
)
def test_faults_of_the_challenge_are_said_before_the_first_submission(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, sentence: str
) -> None:
    challenge = challenge_folder(tmp_path / "challenge")
    (challenge.parent / name).write_bytes(content)
    assert sentence in said(capsys, "init", str(tmp_path / "q"), "--challenge", str(challenge), code=78)
    assert not (tmp_path / "q").exists()


def test_a_damaged_database_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = made(tmp_path)
    (Path(folder) / "private" / "queue.sqlite").write_bytes(b"x" * 5000)
    assert "restore it from a backup" in said(capsys, "list", folder, code=78)


def test_a_full_disk_refuses_clearly_and_loses_nothing(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    kept = hand_in(workspace)
    given = tmp_path / "handed-in.json"
    program = "import sys; from sandscore.cli.main import main; main(sys.argv[1:])"
    words = ["queue", "submit", str(workspace.root), "--task", "date", "--team", "B", "--predictions", str(given)]
    refused = subprocess.run(
        [sys.executable, "-c", program, *words],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 75
    assert "Traceback" not in refused.stderr
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0
    listed = json.loads(
        subprocess.check_output(
            [sys.executable, "-c", program, "queue", "list", str(workspace.root), "--format", "json"]
        )
    )
    assert [(one["id"], one["status"]) for one in listed] == [(kept, "SCORED")]


def test_sigterm_ends_a_worker_that_waits(tmp_path: Path) -> None:
    folder, _ = made(tmp_path)
    program = "import sys; from sandscore.cli.main import main; main(sys.argv[1:])"
    worker = subprocess.Popen([sys.executable, "-c", program, "queue", "work", folder], stderr=subprocess.DEVNULL)
    wal = Path(folder) / "private" / "queue.sqlite-wal"
    while not wal.exists():
        assert worker.poll() is None
        time.sleep(0.02)
    time.sleep(0.5)
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(timeout=20) == 0


def test_a_folder_that_holds_challenge_and_data_may_be_the_queue_itself(tmp_path: Path) -> None:
    challenge = challenge_folder(tmp_path)
    assert run(["queue", "init", str(tmp_path), "--challenge", str(challenge)]) == 0
    assert run(["queue", "work", str(tmp_path), "--once"]) == 0


def test_an_init_that_was_cut_short_can_be_repeated(tmp_path: Path) -> None:
    folder, given = made(tmp_path)
    (Path(folder) / "private" / "settings.json").unlink()
    made(tmp_path)
    assert run(["queue", "submit", folder, "--task", "date", "--team", "A", "--predictions", given]) == 0


def test_a_terminal_shows_a_table_and_a_pipe_shows_lines(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    program = "import sys; from sandscore.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", program, "queue", "work", str(workspace.root), "--once"]
    hand_in(workspace)
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert piped.stderr.splitlines()[-1].endswith("date Team A attempt 1: SCORED")
    hand_in(workspace, RIGHT, "Team B")
    ours, theirs = os.openpty()
    subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=os.environ | {"TERM": "xterm"}, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "ended: 1 SCORED; under way: 0" in shown
    assert "\x1b[J" in shown

"""``submit`` and ``status`` against a server in a process of its own: exit codes, tokens, and what is not sent."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from intake.served import Server, serving
from queue_samples import CHALLENGE, RIGHT, WRONG_PLACE, annotations, queue

from sandscore.cli.main import run
from sandscore.intake.team_registry import TeamRegistry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    workspace = queue(tmp_path_factory.mktemp("served"), f"{CHALLENGE}[quota]\ntotal = 3\n")
    TeamRegistry(workspace).add("A", None, "test")
    with serving(workspace.root) as found:
        yield found


@pytest.fixture
def token(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    from sandscore.queue.workspace import open_workspace

    made = TeamRegistry(open_workspace(server.root)).issue("A", "Ada", "test")
    monkeypatch.setenv("SANDSCORE_TOKEN", made)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return made


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(words) == code
    seen = capsys.readouterr()
    return seen.out if code == 0 else seen.err + seen.out


@pytest.mark.slow
def test_from_home_to_a_score(server: Server, token: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = tmp_path / "predictions.json.gz"
    given.write_bytes(gzip.compress(annotations(RIGHT)))
    words = ("submit", server.url, "--task", "date", "--predictions", str(given), "--key", "k")
    made = said(capsys, *words).strip()
    assert said(capsys, *words).strip() == made, "the same key"
    wrong = tmp_path / "wrong.json"
    wrong.write_bytes(annotations(WRONG_PLACE))
    late = said(capsys, "submit", server.url, "--task", "date", "--predictions", str(wrong)).strip()
    assert run(["queue", "work", str(server.root), "--once"]) == 0
    assert json.loads(said(capsys, "status", server.url, made, "--format", "json"))["status"] == "SCORED"
    assert "SCORED" in said(capsys, "status", server.url, made, "--watch")
    assert "INVALID" in said(capsys, "status", server.url, late, code=65)
    listed = said(capsys, "status", server.url).splitlines()
    assert [line.split()[0] for line in listed] == [made, late]
    assert "no such submission" in said(capsys, "status", server.url, "0" * 12, code=66)
    given.write_bytes(gzip.compress(annotations(RIGHT)))
    for _ in range(2):
        said(capsys, "submit", server.url, "--task", "date", "--predictions", str(given))
    assert "has used all 3" in said(capsys, *words[:-1], "other", code=65), "the server says so"
    assert "has used all 3" in said(capsys, *words[:-2], code=65), "nothing is sent"
    assert said(capsys, *words).strip() == made, "what was handed in before needs no slot"


def test_what_is_not_valid_is_not_sent(
    server: Server, token: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, notes = tmp_path / "given.json", server.root.parent / "challenge" / "notes.json"
    given.write_text("{}", encoding="utf-8")
    words = ("submit", server.url, "--task", "date", "--predictions", str(given))
    assert "was not sent" in said(capsys, *words, code=65)
    given.write_bytes(annotations(WRONG_PLACE))
    assert "text-mismatch" in said(capsys, *words, "--notes", str(notes), code=65)
    assert "no such file" in said(capsys, *words[:-1], "none.json", code=66)
    assert "exactly one" in said(capsys, *words[:-2], code=2)


def test_tokens(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, token: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SANDSCORE_TOKEN")
    assert "there is no token" in said(capsys, "status", server.url, code=2)
    file = tmp_path / "config" / "sandscore" / "tokens.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({server.url: token}), encoding="utf-8")
    file.chmod(0o644)
    assert "chmod 600" in said(capsys, "status", server.url, code=2)
    file.chmod(0o600)
    said(capsys, "status", server.url)
    assert "no token for" in said(capsys, "status", "https://other.example", code=2)
    monkeypatch.setenv("SANDSCORE_TOKEN", "0" * 12 + "." + "A" * 43)
    assert "worth nothing" in said(capsys, "status", server.url, code=2)
    monkeypatch.setenv("SANDSCORE_TOKEN", "a\nb: c")
    assert "the token is none" in said(capsys, "status", server.url, code=2)
    assert "by https, or on this machine" in said(capsys, "status", "http://challenge.example.org", code=2)
    assert token not in server.said.read_text()


def test_nobody_there(token: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandscore.intake.submission_client._REST_SECONDS", 0.0)
    assert "cannot be reached" in said(capsys, "status", "http://127.0.0.1:9", code=75)

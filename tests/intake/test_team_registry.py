"""Teams and their tokens: a secret is shown once, kept as its hash, found by its id, and void once revoked."""

import csv
import hashlib
import json
from pathlib import Path

import pytest
from queue_samples import queue

from sandscore.base.errors import UsageFault
from sandscore.cli.main import run
from sandscore.intake.team_registry import FILE, TeamRegistry


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(["queue", "team", *words]) == code
    seen = capsys.readouterr()
    return seen.out if code == 0 else seen.err


def test_a_token_from_the_command_line_to_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = queue(tmp_path)
    folder = str(workspace.root)
    said(capsys, "add", folder, "Tidewater Text Lab", "--mail", "lab@example.org", "--as", "Grace")
    token = said(capsys, "token", folder, "Tidewater Text Lab", "--for", "Ada").strip()
    token_id, _, secret = token.partition(".")
    kept = workspace.private / FILE
    assert secret not in kept.read_text()
    assert hashlib.sha256(secret.encode()).hexdigest() in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600
    registry = TeamRegistry(workspace)
    owner = registry.owner(token)
    assert owner is not None
    assert (owner.team, owner.token, owner.person) == ("Tidewater Text Lab", token_id, "Ada")
    assert registry.owner(f"{token_id}.{'A' * 43}") is None
    assert [registry.owner(wrong) for wrong in ("", ".", "é.é", f"{token}\n", token_id, f".{secret}")] == [None] * 6
    listed = json.loads(said(capsys, "list", folder, "--format", "json"))
    assert [*listed[0]["tokens"]] == [token_id]
    assert secret not in json.dumps(listed)
    said(capsys, "token", folder, "Tidewater Text Lab", "--revoke", token_id)
    assert registry.owner(token) is None, "the same process reads on"
    told = json.loads(said(capsys, "list", folder, "--history", "--format", "json"))
    assert [one["type"] for one in told] == ["added", "token", "revoked"]
    assert told[0]["who"] == "Grace"
    assert all(one["when"].endswith("Z") and one["who"] for one in told)


def test_a_removed_team_has_no_tokens_and_may_come_back_without_them(tmp_path: Path) -> None:
    registry = TeamRegistry(queue(tmp_path))
    registry.add("A", None, "me")
    token = registry.issue("A", "Ada", "me")
    registry.remove("A", "me")
    assert registry.owner(token) is None
    registry.add("A", None, "me")
    assert registry.owner(token) is None
    with pytest.raises(UsageFault, match="already"):
        registry.add("A", None, "me")


def test_a_line_that_a_killed_writer_left_is_cut_off(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    registry = TeamRegistry(workspace)
    registry.add("A", None, "me")
    with (workspace.private / FILE).open("ab") as file:
        file.write(b'{"type":"added","team":"B","wh')
    registry.add("C", None, "me")
    assert [team.name for team in TeamRegistry(workspace).teams()] == ["A", "C"]


@pytest.mark.parametrize("name", ["", " ", "a\nb", "x" * 201, " a", "a\u202eb", "\ud800"], ids=ascii)
def test_names_that_would_hide_something(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageFault):
        TeamRegistry(queue(tmp_path)).add(name, None, "me")


def test_a_csv_of_teams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two people of one team, one team without anybody, and a name that a spreadsheet would take for a formula."""
    folder, given = str(queue(tmp_path).root), tmp_path / "teams.csv"
    given.write_text("team,mail,person\nA,a@example.org,Ada\nA,a@example.org,Grace\nB,,\n=1+1,,Eve\n", encoding="utf-8")
    rows = list(csv.DictReader(said(capsys, "import", folder, str(given)).splitlines()))
    assert [(row["team"], row["person"], bool(row["token"])) for row in rows] == [
        ("A", "Ada", True), ("A", "Grace", True), ("B", "", False), ("'=1+1", "Eve", True),
    ]  # fmt: skip
    listed = json.loads(said(capsys, "list", folder, "--format", "json"))
    assert [(team["name"], len(team["tokens"])) for team in listed] == [("=1+1", 1), ("A", 2), ("B", 0)]
    given.write_text("name\nA\n", encoding="utf-8")
    assert "line 2: the columns are team, mail and person" in said(capsys, "import", folder, str(given), code=2)


def test_faults_are_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(queue(tmp_path).root)
    said(capsys, "add", folder, "Tidewater")
    assert "did you mean Tidewater" in said(capsys, "remove", folder, "Tidewatre", code=2)
    assert "no mail address" in said(capsys, "add", folder, "B", "--mail", "b", code=2)
    assert "has no token" in said(capsys, "token", folder, "Tidewater", "--revoke", "00", code=2)
    assert "either --for" in said(capsys, "token", folder, "Tidewater", code=2)
    assert "not the folder of a queue" in said(capsys, "list", str(tmp_path), code=66)

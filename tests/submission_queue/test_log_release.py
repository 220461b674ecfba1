"""``queue release-log``: read by a person, confirmed by the id, short, and in the ledger with eight bits a byte."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from queue_samples import HIDDEN, hand_in, queue, with_home

from sandscore.cli.main import run
from sandscore.queue.workspace import Workspace
from sandscore.records.submission import Status, Verdict

pytestmark = pytest.mark.usefixtures("near_children")

REVIEWED = HIDDEN.replace('notes = "hidden"', 'notes = "hidden", logs = "reviewed"')
LOG = "loading\nlabel \N{GREEK SMALL LETTER ALPHA} unknown\n\x1b[2Jdone\n"


class Terminal(io.StringIO):
    """Somebody types."""

    def isatty(self) -> bool:
        return True


def ended(workspace: Workspace, log: str = LOG) -> str:
    """A submission whose attempt left a log."""
    submission_id = hand_in(workspace, image="sha256:" + "0" * 64)

    async def end(home: Any) -> None:
        [one] = await home.claimable(1)
        claim = await home.claim(one, "w", 30.0)
        folder = workspace.attempt(submission_id, claim.attempt, claim.nonce)
        folder.mkdir(parents=True)
        (folder / "log.txt").write_text(log, encoding="utf-8")
        await home.commit(claim, Verdict(Status.INVALID, folder=folder))

    with_home(workspace, end)
    return submission_id


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(text))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def released(workspace: Workspace, submission_id: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["queue", "show", str(workspace.root), submission_id, "--team-view", "--format", "json"]) == 0
    view = json.loads(capsys.readouterr().out)
    return {name: value for name, value in view.items() if name.startswith("log")}


def test_lines_are_released_once_the_id_is_typed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = queue(tmp_path, REVIEWED)
    one = ended(workspace)
    words = ["queue", "release-log", str(workspace.root), one, "--lines", "2-2"]
    assert released(workspace, one, capsys) == {}
    typed(monkeypatch, "yes\n")
    assert run(words) == 2
    said = capsys.readouterr()
    assert "2  label \N{GREEK SMALL LETTER ALPHA} unknown" in said.out
    assert "Masks cannot stop" in said.out
    assert "nothing was released" in said.err
    assert released(workspace, one, capsys) == {}
    typed(monkeypatch, f"{one}\n")
    assert run(words) == 0
    assert "released: 128 bits" in capsys.readouterr().out
    assert released(workspace, one, capsys) == {"log-lines-2-2": "label \N{GREEK SMALL LETTER ALPHA} unknown"}
    lines = with_home(workspace, lambda home: home.disclosed())
    # 16 bytes of UTF-8: five letters, a blank, two for the Greek one, a blank, and seven
    assert [(line.submission, line.bits) for line in lines if line.what == "log" and line.bits] == [(one, 8.0 * 16)]


@pytest.mark.parametrize(
    ("configuration", "log", "lines", "said"),
    [
        (HIDDEN, LOG, None, "logs = 'rehearsal'"),
        (REVIEWED, "x" * 2001, None, "2,001 characters; at most 2,000"),
        (REVIEWED, LOG, "0-1", "written A-B"),
        (REVIEWED, LOG, "2-9", "the log has lines 1-3"),
        (REVIEWED, "", None, "the log is empty"),
        (REVIEWED, LOG, None, "there is no terminal"),
    ],
)
def test_nothing_is_released(
    configuration: str, log: str, lines: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = queue(tmp_path, configuration)
    one = ended(workspace, log)
    assert run(["queue", "release-log", str(workspace.root), one, *(["--lines", lines] if lines else [])]) == 2
    assert said in capsys.readouterr().err
    assert released(workspace, one, capsys) == {}

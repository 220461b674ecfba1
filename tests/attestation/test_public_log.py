"""A queue's log: what is in it, that it goes on after every kill, and what it says of a board."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pymerkle
import pytest
from queue_samples import HALF, RIGHT, WRONG_PLACE, hand_in, queue

from sandscore.attestation.log_lines import (
    BoardLine,
    CommitmentLine,
    DataLine,
    GoldLine,
    HandedIn,
    KeyLine,
    SubmissionLine,
    data_salt,
    salted,
)
from sandscore.attestation.log_reading import ReadLog, read_log
from sandscore.attestation.log_verification import hold_against_log, opening_root, refuse_fork
from sandscore.attestation.signing_keys import new_key
from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.cli.main import run
from sandscore.queue.public_log import PublicLog
from sandscore.queue.workspace import Workspace


def log_of(workspace: Workspace) -> ReadLog:
    return read_log(workspace.root / "public" / "log")


def board_of(workspace: Workspace) -> dict[str, object]:
    board: dict[str, object] = json.loads((workspace.boards / "date.json").read_bytes())
    return board


def worked(workspace: Workspace) -> None:
    assert run(["queue", "work", str(workspace.root), "--once"]) == 0


@pytest.fixture(scope="module")
def siege(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, dict[str, str]]:
    """Four handed in, three of them scored."""
    workspace = queue(tmp_path_factory.mktemp("siege"))
    kinds = {"right": RIGHT, "half": HALF, "wrong": WRONG_PLACE, "more": RIGHT}
    ids = {kind: hand_in(workspace, spans, f"Team {kind}") for kind, spans in kinds.items()}
    worked(workspace)
    return workspace, ids


def test_what_a_log_holds(siege: tuple[Workspace, dict[str, str]]) -> None:
    workspace, ids = siege
    log = log_of(workspace)
    kinds = [type(line) for line in log.lines]
    assert kinds == [KeyLine, CommitmentLine, *[SubmissionLine] * 4, BoardLine]
    board = log.lines[-1]
    assert isinstance(board, BoardLine)
    assert (board.rows, board.scored, board.withdrawn) == (3, (2, 3, 5), ())
    said = b"\n".join(log.content).decode()
    assert not [word for word in [*ids.values(), "Team", "2026-", "10/26/2020"] if word in said]
    assert log.checkpoint.size == 7


def test_the_tree_is_that_of_pymerkle(siege: tuple[Workspace, dict[str, str]]) -> None:
    """Leaves are the bytes of the lines without their newlines, as another library hashes them."""
    public = siege[0].root / "public" / "log"
    theirs = pymerkle.InmemoryTree(algorithm="sha256")
    for line in (public / "entries.jsonl").read_bytes().split(b"\n")[:-1]:
        theirs.append_entry(line)
    assert log_of(siege[0]).checkpoint.root == theirs.get_root()


def test_data_are_committed_to_before_anybody_hands_in(siege: tuple[Workspace, dict[str, str]]) -> None:
    """By hand: SHA-256 of the salt and of ``sha256:`` with the file's own hash."""
    workspace, _ = siege
    line, secret = log_of(workspace).lines[1], workspace.salt.read_bytes()
    assert isinstance(line, CommitmentLine)
    assert line.hashes.keys() == {"challenge", "notes", "gold/date"}
    gold = subprocess.check_output(["sha256sum", str(workspace.gold("date", None))], text=True).split()[0]
    assert line.hashes["gold/date"] == salted(data_salt(secret, None, "gold/date"), f"sha256:{gold}".encode())
    assert board_of(workspace)["gold"] == {"challenge": line.gold["date"]}
    assert f"gold:{gold[:12]}" not in json.dumps(board_of(workspace))


@pytest.mark.parametrize(
    ("data", "opened"),
    [
        ({"notes": "public", "gold": "public"}, {"gold/date", "challenge", "notes"}),
        ({"notes": "hidden", "gold": "retired"}, {"gold/date", "challenge"}),
        ({"notes": "public", "gold": "hidden"}, set()),
    ],
)
def test_what_a_phase_was_about_is_opened_with_its_gold(tmp_path: Path, data: dict[str, str], opened: set[str]) -> None:
    """Notes only where they are nobody's secret. By hand: ``sha256sum`` of each file."""
    said = "".join(f'{name} = "{value}"\n' for name, value in data.items())
    workspace = queue(tmp_path, f'challenge = "siege"\nresamples = 100\n[data]\n{said}')
    hand_in(workspace)
    worked(workspace)
    lines = (workspace.root / "public" / "log" / "openings.jsonl").read_text().splitlines() if opened else []
    found = {one["name"]: one["content"] for one in map(json.loads, lines) if one["kind"] == "data"}
    places = {"gold/date": workspace.gold("date", None), "notes": workspace.notes(None)}
    places |= {"challenge": workspace.challenge_file}
    sums = {name: subprocess.check_output(["sha256sum", str(place)], text=True) for name, place in places.items()}
    assert found == {name: f"sha256:{sums[name].split()[0]}" for name in opened}
    assert log_of(workspace).checkpoint.size == len(log_of(workspace).lines)


def test_the_board_holds_against_the_log(siege: tuple[Workspace, dict[str, str]]) -> None:
    workspace, ids = siege
    log = log_of(workspace)
    held = hold_against_log(board_of(workspace), "board", log)
    assert (held.lines, held.line, held.newer) == (7, 6, None)
    site = json.loads((workspace.site / "date" / "board.json").read_bytes())
    assert hold_against_log(site, "board", log).line == 6
    receipt = PublicLog(workspace).receipt(ids["wrong"])
    assert receipt is not None
    assert (receipt.position, receipt.holds) == (4, True)
    assert hold_against_log(site, "board", log, [receipt]).line == 6


def test_a_submission_that_was_scored_and_is_not_on_the_board(siege: tuple[Workspace, dict[str, str]]) -> None:
    """The board honestly ranked again without one team is named for what it is."""
    workspace, ids = siege
    cards = [str(workspace.cards / f"{ids[kind]}.v1.json") for kind in ("right", "half")]
    again = workspace.root.parent / "again.json"
    assert run(["rank", *cards, "--challenge", str(workspace.challenge_file), "-o", str(again)]) == 0
    with pytest.raises(ParticipantFault, match=rf"{ids['more']} \(line 6 of .*\) was scored and is not on the board"):
        hold_against_log(json.loads(again.read_bytes()), "board", log_of(workspace))
    (workspace.root / "public" / "log" / "openings.jsonl").rename(workspace.root / "openings")
    try:
        with pytest.raises(ParticipantFault, match=r"has 2 rows; line 7 of .* says 3"):
            hold_against_log(json.loads(again.read_bytes()), "board", log_of(workspace))
    finally:
        (workspace.root / "openings").rename(workspace.root / "public" / "log" / "openings.jsonl")


def test_a_gold_that_changed_is_a_line_or_an_error(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace, HALF)
    worked(workspace)
    before = board_of(workspace)
    gold = workspace.gold("date", None)
    gold.write_bytes(gold.read_bytes() + b"\n")
    assert run(["queue", "rescore", str(workspace.root), "--apply"]) == 0
    worked(workspace)
    after, log = board_of(workspace), log_of(workspace)
    assert [type(line) for line in log.lines[3:]] == [BoardLine, GoldLine, BoardLine]
    assert hold_against_log(after, "new", log).line == 5
    older = hold_against_log(before, "old", log)
    assert (older.line, older.newer) == (3, 5)
    silent = PublicLog(queue(tmp_path / "other"))
    silent.publish()
    with pytest.raises(ParticipantFault, match="no line says that it changed"):
        hold_against_log(after, "new", read_log(tmp_path / "other" / "queue" / "public" / "log"))


def test_notes_and_rules_that_change_after_the_opening_are_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hash by hand, as in the commitment; each change is a line once, and ``verify`` says it."""
    workspace = queue(tmp_path)
    for path, more in ((workspace.challenge_file, b"# later\n"), (workspace.notes(None), b"\n")):
        path.write_bytes(path.read_bytes() + more)
    for spans in (HALF, RIGHT):
        hand_in(workspace, spans)
        worked(workspace)
    log = log_of(workspace)
    kinds = [type(line) for line in log.lines]
    assert kinds == [KeyLine, CommitmentLine, SubmissionLine, DataLine, DataLine, BoardLine, SubmissionLine, BoardLine]
    line, secret = log.lines[4], workspace.salt.read_bytes()
    assert isinstance(line, DataLine)
    notes = subprocess.check_output(["sha256sum", str(workspace.notes(None))], text=True).split()[0]
    assert (line.phase, line.name) == (None, "notes")
    assert line.sha256 == salted(data_salt(secret, None, "notes"), f"sha256:{notes}".encode())
    assert opening_root(log, None) == PublicLog(workspace).opening_root(None)
    assert hold_against_log(board_of(workspace), "board", log).changed == (("challenge", 3), ("notes", 4))
    assert run(["verify", str(workspace.boards / "date.json"), "--log", str(log.place)]) == 0
    assert "changed since the opening: challenge (line 4), notes (line 5)\n" in capsys.readouterr().out
    workspace.notes(None).unlink()
    PublicLog(workspace).begin()
    assert log_of(workspace).content == log.content, "notes that cannot be read are no other notes"


def test_a_fork_is_named(tmp_path: Path) -> None:
    """The same queue goes on twice: whoever kept the checkpoint of one sees that the other is another."""
    workspace = queue(tmp_path)
    hand_in(workspace)
    worked(workspace)
    public = workspace.root / "public" / "log"
    early = tmp_path / "early"
    early.write_bytes((public / "checkpoint").read_bytes())
    kept = {
        path: path.read_bytes() for path in [*public.iterdir(), *(workspace.private / "logbook").glob("[!.]*.json*")]
    }
    root = opening_root(log_of(workspace), None)
    hand_in(workspace, HALF, "Team B")
    worked(workspace)
    late = tmp_path / "late"
    late.write_bytes((public / "checkpoint").read_bytes())
    refuse_fork(early, log_of(workspace))
    assert opening_root(log_of(workspace), None) == root == PublicLog(workspace).opening_root(None)
    for path, content in kept.items():
        path.write_bytes(content)
    with pytest.raises(ParticipantFault, match=r"has 4 lines; it had 6 when .*late was signed"):
        refuse_fork(late, log_of(workspace))
    (workspace.private / "logbook" / "receipts").rename(tmp_path / "gone")
    for name in ("x", "y", "z"):
        PublicLog(workspace).accept(HandedIn(name, "date", None, "sha256:0"))
    PublicLog(workspace).publish()
    refuse_fork(early, log_of(workspace))
    with pytest.raises(ParticipantFault, match="was forked: its first 6 lines"):
        refuse_fork(late, log_of(workspace))
    stranger = tmp_path / "stranger"
    stranger.write_bytes(late.read_bytes().replace(b"sandscore.log", b"sandscore.lag"))
    with pytest.raises(ParticipantFault, match="no signature of a key of the log"):
        refuse_fork(stranger, log_of(workspace))


def test_a_key_is_rotated_by_a_line_that_the_old_one_approves(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    first = log_of(workspace).keys[-1]
    second = PublicLog(workspace).rotate()
    hand_in(workspace)
    worked(workspace)
    log = log_of(workspace)
    assert [key.text for key in log.keys] == [first.text, second]
    assert read_log(log.place, [first]).keys[-1].text == second
    with pytest.raises(ParticipantFault, match="another log"):
        read_log(log.place, [new_key("somebody").public])
    assert (workspace.private / "logbook" / "key").stat().st_mode & 0o777 == 0o600


def test_a_broken_off_rotation_is_carried_through(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    folder = workspace.private / "logbook"
    old = (folder / "key").read_bytes()
    PublicLog(workspace).rotate()
    (folder / "key").rename(folder / "key.next")
    (folder / "key").write_bytes(old)
    (folder / "key").chmod(0o600)
    PublicLog(workspace).publish()
    assert len(log_of(workspace).keys) == 2
    (folder / "key").write_bytes(old)
    hand_in(workspace)
    with pytest.raises(OrganiserFault, match="is not the key that the log names"):
        PublicLog(workspace).publish()


def test_a_log_that_lost_what_was_signed_is_not_written_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two lines were signed and one was restored: no line of a submission may stand where another did."""
    workspace = queue(tmp_path)
    entries = workspace.private / "logbook" / "entries.jsonl"
    PublicLog(workspace).publish()
    key, commitment = entries.read_bytes().splitlines(keepends=True)
    entries.write_bytes(key)
    assert PublicLog(workspace).accept(HandedIn("x", "date", None, "sha256:0")) is None
    assert "is not in the public log yet" in capsys.readouterr().err
    assert entries.read_bytes() == key
    entries.write_bytes(key + commitment)
    assert PublicLog(workspace).accept(HandedIn("x", "date", None, "sha256:0")) is not None


def test_lines_that_were_signed_are_never_signed_otherwise(tmp_path: Path) -> None:
    workspace = queue(tmp_path)
    hand_in(workspace)
    PublicLog(workspace).publish()
    entries = workspace.private / "logbook" / "entries.jsonl"
    content = entries.read_bytes()
    (workspace.private / "logbook" / "edge.json").unlink()
    entries.write_bytes(content.replace(b'"submission"', b'"submission" ', 1))
    with pytest.raises(OrganiserFault, match="its first 3 lines are not those that were signed"):
        PublicLog(workspace).publish()
    entries.write_bytes(content.splitlines(keepends=True)[0])
    with pytest.raises(OrganiserFault, match="has 1 lines, 3 are signed"):
        PublicLog(workspace).publish()


def all_of_it(workspace: Workspace) -> None:
    log = PublicLog(workspace)
    log.begin()
    log.follow([HandedIn(f"s{n}", "date", None, f"sha256:{n}") for n in range(3)])
    log.board("date", None, {"rows": [1, 2], "gold": {}}, [2, 4])
    log.accept(HandedIn("s3", "date", None, "sha256:3"))
    log.publish()


def murdered_at(step: int) -> None:
    """From here on this process dies at the so manieth time that it is about to change a file of the log."""
    seen = 0

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen
        changes = event in ("os.rename", "os.truncate", "os.remove", "os.chmod", "os.mkdir")
        if event == "open":
            changes = bool(int(arguments[2]) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        if changes and "/log" in str(arguments[0]) and not str(arguments[0]).endswith(".lock"):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def murdered_within_a_line(missing: int) -> None:
    """Dies with a line on its way to the disk, so many bytes of which are not there yet."""
    real = os.fsync

    def fsync(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink()
        if name.name == "entries.jsonl":
            os.truncate(name, name.stat().st_size - missing)
            os.kill(os.getpid(), signal.SIGKILL)
        real(descriptor)

    os.fsync = fsync  # type: ignore[assignment]


def began(workspace: Workspace, murder: Callable[[], None]) -> int:
    """A process of its own that does all of it under this fate."""
    child = os.fork()
    if child:
        return child
    try:
        murder()
        all_of_it(workspace)
        os._exit(0)
    finally:
        os._exit(1)


def survives(workspace: Workspace, murder: Callable[[], None]) -> bool:
    code = os.waitstatus_to_exitcode(os.waitpid(began(workspace, murder), 0)[1])
    assert code in (0, -signal.SIGKILL)
    return code == 0


def finished(workspace: Workspace) -> list[bytes]:
    """What the log holds after all of it was done once without a kill, which must be the same whatever came before."""
    log = PublicLog(workspace)
    log.begin()
    positions = log.follow([HandedIn(f"s{n}", "date", None, f"sha256:{n}") for n in range(4)])
    log.board("date", None, {"rows": [1, 2], "gold": {}}, [2, 4])
    log.publish()
    read = log_of(workspace)
    assert sorted(positions.values()) == sorted(
        number for number, line in enumerate(read.lines) if isinstance(line, SubmissionLine)
    )
    for name, position in positions.items():
        receipt = log.receipt(name)
        assert receipt is not None
        assert (receipt.holds, receipt.position, receipt.sha256) == (
            True,
            position,
            json.loads(read.content[position])["sha256"],
        )
    return sorted(read.content)


def test_killed_at_every_write_the_log_goes_on(tmp_path: Path) -> None:
    step, survived = 0, False
    while not survived:
        step += 1
        workspace = queue(tmp_path / str(step))
        survived = survives(workspace, partial(murdered_at, step))
        kinds = [json.loads(line)["kind"] for line in finished(workspace)]
        assert kinds == ["board", "commitment", "key", *["submission"] * 4]
    assert step > 15, "every step was cut"


@pytest.mark.parametrize("missing", [1, 40, 90])
def test_killed_within_a_line_the_log_goes_on(tmp_path: Path, missing: int) -> None:
    workspace = queue(tmp_path)
    assert not survives(workspace, lambda: murdered_within_a_line(missing))
    assert len(finished(workspace)) == 7


def test_killed_again_and_again(tmp_path: Path) -> None:
    """Forty murders of one log at random steps, then three who work at once."""
    workspace, chance = queue(tmp_path), random.Random(15)
    for _ in range(40):
        step = chance.randrange(1, 25)
        survives(workspace, partial(murdered_at, step))
    together = [began(workspace, lambda: None) for _ in range(3)]
    assert [os.waitpid(child, 0)[1] for child in together] == [0, 0, 0]
    assert len(finished(workspace)) == 7

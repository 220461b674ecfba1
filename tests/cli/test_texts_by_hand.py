"""What the verbs print, one writer at a time, with the lines written down by hand."""

import asyncio
import io
import json
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.shell_completion import CompletionItem
from msgspec.structs import replace
from queue_samples import HALF, annotations, queue

from sandscore import api
from sandscore.annotations.problem_collector import Noted, ProblemCollector
from sandscore.api.running_calls import RunFiles
from sandscore.base.errors import MissingFile, SandscoreError, UsageFault
from sandscore.cli import (
    attack,
    card_text,
    completion,
    convert,
    doctor,
    init,
    main,
    power,
    problem_text,
    progress,
    publish,
    rank,
    running_options,
    status,
    tasks,
    verify,
)
from sandscore.cli.options import FormatName, NearChoice
from sandscore.cli.queue import cancel, export, queue_place, requeue, submission_text, work, worker_display
from sandscore.cli.queue import init as queue_init
from sandscore.cli.queue.order_results import tell
from sandscore.cli.queue.rescoring_text import as_text as rescored
from sandscore.cli.queue.show import _as_text as shown
from sandscore.cli.verb_group import COMPLETING
from sandscore.queue.worker.attempt import Ending
from sandscore.records.run_record import Check, Latency, Outcome, RunLimits, RunRecord
from sandscore.records.submission import Claim, Status, Submission, SubmissionKind
from sandscore.task_table.task import TASKS
from sandscore.verification.board_verification import Verified

ONE = Submission(
    "s1",
    "Tide\u202e",
    "date",
    SubmissionKind.IMAGE,
    Status.SCORED,
    "2026-01-02T03:04:05Z",
    version=1,
    scores={"f": 0.5},
)
WAITING = Submission(
    "s2", "=x", "date", SubmissionKind.IMAGE, Status.RECEIVED, "2026-01-02T03:04:05Z",
    attempt=2, needs_organiser=True, reason="r" * 50,
)  # fmt: skip
CLAIM = Claim(ONE, 3, "o", "n", 30.0)
WELL, BADLY = Ending(CLAIM, "SCORED"), Ending(CLAIM, "INVALID", "no\x1b")


class Terminal(io.StringIO):
    """A stream that people look at."""

    def isatty(self) -> bool:
        return True


def on_a_terminal(patch: pytest.MonkeyPatch) -> Terminal:
    """Standard error, from now on."""
    shown = Terminal()
    patch.setenv("TERM", "xterm")
    patch.setattr(sys, "stderr", shown)
    return shown


# A worker's display


def test_a_line_a_claim_and_an_ending(capsys: pytest.CaptureFixture[str]) -> None:
    with worker_display.display("text") as lines:
        lines.saw(CLAIM)
        lines.saw(WELL)
        lines.saw(BADLY)
        lines.close([ONE, WAITING])
    head = "s1 date Tide\\u202e attempt 3"
    told = capsys.readouterr()
    assert told.err.splitlines() == [f"{head}: begun", f"{head}: SCORED", f"{head}: INVALID: no\\x1b"]
    assert told.out == "1 RECEIVED, 1 SCORED; 1 need an organiser (queue show, then queue requeue)\n"


def test_an_object_an_ending(capsys: pytest.CaptureFixture[str]) -> None:
    with worker_display.display("json") as lines:
        lines.saw(CLAIM)
        lines.saw(BADLY)
        lines.close([ONE])
    told = capsys.readouterr()
    assert [json.loads(line) for line in told.out.splitlines()] == [
        {"id": "s1", "task": "date", "team": "Tide\u202e", "attempt": 3, "status": "INVALID", "reason": "no\x1b"}
    ]
    assert told.err == ""


def test_a_table_is_drawn_over_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    with worker_display.display("text") as table:
        assert isinstance(table, worker_display.LiveTable)
        table.draw()
        table.saw(CLAIM)
        table.draw()
        table.saw(WELL)
    first, second, last = terminal.getvalue().split("\r")[1:]
    assert first == "\x1b[Jended: nothing yet; under way: 0\n"
    assert second.startswith("\x1b[1A\x1b[Jended: nothing yet; under way: 1\n  s1  date           Tide\\u202e")
    assert second.splitlines()[1].endswith("attempt 3       0 s")
    assert last == "\x1b[2A\x1b[Jended: 1 SCORED; under way: 0\n"


@pytest.mark.parametrize("kind", ["dumb", None])
def test_no_table_where_nothing_can_be_drawn(kind: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    on_a_terminal(monkeypatch)
    monkeypatch.delenv("TERM") if kind is None else monkeypatch.setenv("TERM", kind)
    with worker_display.display("text") as lines:
        assert type(lines) is worker_display.Lines


# Submissions


def test_submissions_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = submission_text.as_text([ONE, WAITING]).splitlines()
    assert lines[0].split() == ["id", "task", "team", "status", "attempt", "created", "finished", "reason"]
    assert lines[1].split() == ["s1", "date", "Tide\\u202e", "SCORED", "0", "2026-01-02T03:04:05Z", "–", "–"]
    assert lines[2].split()[3:5] == ["RECEIVED", "needs_organiser"]
    assert lines[2].split()[-1] == "r" * 39 + "…"
    assert lines[-1] == "1 RECEIVED, 1 SCORED; 1 need an organiser (queue show, then queue requeue)"
    monkeypatch.setattr(submission_text, "terminal_width", lambda: 70)
    assert submission_text.as_text([ONE]).splitlines()[1].split()[5] == "2026-01-02"
    monkeypatch.setattr(submission_text, "terminal_width", lambda: 700)
    assert submission_text.as_text([ONE]).splitlines()[1].split()[5] == "2026-01-02T03:04:05Z"
    assert submission_text.counted([]) == "no submissions"
    assert submission_text.counted([ONE]) == "1 SCORED"


def test_submissions_for_programs() -> None:
    first, second = json.loads(submission_text.as_json([ONE, WAITING]))
    assert (first["version"], first["scores"], first["needs_organiser"]) == (1, {"f": 0.5}, False)
    assert (second["team"], second["attempt"], second["needs_organiser"]) == ("=x", 2, True)
    assert submission_text.as_json([]) == "[]"
    assert submission_text.as_csv([WAITING]).splitlines()[1].startswith("s2,date,,'=x,RECEIVED,,2,")
    assert json.loads(submission_text.as_json([ONE], {"s1": 0.5}))[0]["score"] == 0.5
    header, first = submission_text.as_text([ONE], {"s1": 0.51239}).splitlines()[:2]
    assert (header.split()[4], first.split()[4]) == ("score", "0.5124")


def test_warnings_are_counted_and_none_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever asks this collector where an annotation stands is refused."""
    found, noted = ProblemCollector("file.json"), Noted()
    noted.add(memoryview(bytes(3)).cast("B"))
    found.add_late("overlap", noted, "overlaps another annotation of the note")
    problem_text.complain([found, ProblemCollector("plain.json")])
    assert capsys.readouterr().err == "file.json: valid, with warnings: overlap 3\n"
    with pytest.raises(ValueError, match="nobody can say"):
        found.problems  # noqa: B018


def test_verbs_of_a_queue(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = queue(tmp_path)
    folder, file = str(place.root), tmp_path / "p.json"
    file.write_bytes(annotations(HALF))
    words = ["queue", "submit", folder, "--task", "date", "--team", "t", "--predictions", str(file)]

    def said(*words: str, code: int = 0) -> str:
        assert main.run(words) == code
        return capsys.readouterr().out

    first, second = said(*words).strip(), json.loads(said(*words, "--format", "json"))["id"]
    assert [one["id"] for one in json.loads(said("queue", "list", folder, "--format", "json"))] == [first, second]
    assert said("queue", "list", folder).splitlines()[-1] == "2 RECEIVED"
    assert json.loads(said("queue", "list", folder, "--status", "scored", "--format", "json")) == []
    assert len(json.loads(said("queue", "list", folder, "--status", "received", "--format", "json"))) == 2
    assert json.loads(said("queue", "show", folder, first, "--format", "json"))["status"] == "RECEIVED"
    assert "status            RECEIVED" in said("queue", "show", folder, first).splitlines()
    said("queue", "show", folder, "nothing", code=2)
    assert said("queue", "cancel", folder, first) == f"{first} cancelled\n"
    assert json.loads(said("queue", "cancel", folder, first, "nothing", "--format", "json", code=2)) == {
        first: False, "nothing": False,
    }  # fmt: skip
    assert said("queue", "requeue", folder, first) == f"{first} requeued\n"
    assert json.loads(said("queue", "rescore", folder, "--plan", "--format", "json")) == {"groups": [], "written": None}
    said("queue", "rescore", folder, code=2)
    said("queue", "rescore", folder, "--plan", "--apply", code=2)
    out = tmp_path / "out"
    assert said("queue", "export", folder, "-o", str(out)) == f"{out}: 2 files\n"
    assert sorted(path.name for path in out.iterdir()) == ["submissions.csv", "submissions.json"]
    backup = str(tmp_path / "backup")
    assert json.loads(said("queue", "export", folder, "-o", backup, "--backup", "--format", "json")) == {
        "written": 1, "to": backup,
    }  # fmt: skip


def test_a_crate_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setattr("sandscore.queue.queue_archive.archive_queue", lambda *_: 1_234)
    place = str(queue(tmp_path).root)
    assert main.run(["queue", "archive", place, "-o", "c.zip"]) == 0
    assert capsys.readouterr().out == "c.zip: 1,234 files\n"
    assert main.run(["queue", "archive", place, "-o", "c.zip", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": 1234, "to": "c.zip"}


def test_whom_nobody_knows_cannot_be_erased(tmp_path: Path, capsys: Any) -> None:
    """A single name after the folder is the team's."""
    assert main.run(["queue", "team", "remove", str(queue(tmp_path).root), "nobody", "--erase"]) != 0
    assert "nobody" in capsys.readouterr().err


def test_cards_of_earlier_versions_have_folders_of_their_own(tmp_path: Path) -> None:
    class Home:
        async def submissions(self) -> list[Submission]:
            row = Submission("s1", "t", "date", SubmissionKind.PREDICTIONS, Status.SCORED, "2026-01-01T00:00:00Z")
            return [replace(row, version=2), replace(row, id="s2")]

        async def kept(self, _one: Submission) -> Path:
            return tmp_path

    _, cards = asyncio.run(export._kept(Home()))  # type: ignore[arg-type]
    assert {name: place.name for name, place in cards.items()} == {
        "date/v1/s1.json": "card.v1.json",
        "date/s1.json": "card.v2.json",
    }


def test_changes_are_said_once(capsys: Any) -> None:
    one = {"id": "s1", "created": "today", "task": "date", "phase": None, "status": "RECEIVED", "reason": None}
    seen = status._say_changes({}, [one])
    assert capsys.readouterr().out == "s1  today  date  RECEIVED\n"
    assert status._say_changes(seen, [one]) == {"s1": "RECEIVED"}
    assert capsys.readouterr().out == ""
    status._say_changes(seen, [one | {"status": "SCORED"}])
    assert capsys.readouterr().out == "s1  today  date  SCORED\n"


def test_one_submission() -> None:
    lines = shown({"id": "a", "version": 2, "attempts": [{"n": 1}], "log": "x\x1b\ny"}).splitlines()
    assert lines == ["id                a", "version           2", "attempts:", '  {"n": 1}', "log:", "  x\\x1b", "  y"]


# Orders


class Home:
    """Carries out orders for one submission."""

    async def requeue(self, one: str) -> bool:
        return one == "good"


def ordered(root: Path, ids: tuple[str, ...], output_format: str = "text") -> int:
    workspace = SimpleNamespace(root=root)
    place: Any = SimpleNamespace(asking=lambda work: asyncio.run(work(Home())), workspace=workspace)
    given = ("order", "Ada", None)
    return tell(place, ids, lambda home, one: home.requeue(one), ("done", "not done"), output_format, given)


def test_orders_and_what_became_of_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = ("good", "bad")
    assert (ordered(tmp_path, ("good",)), ordered(tmp_path, both), ordered(tmp_path, both, "json")) == (0, 2, 2)
    told = capsys.readouterr()
    assert told.out.splitlines() == ["good done", "good done", '{"good": true, "bad": false}']
    assert told.err == "sandscore: bad not done\n" * 2
    with pytest.raises(UsageFault, match="name at least one"):
        ordered(tmp_path, ())


def test_words_that_name_a_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    def words(*given: Any) -> Any:
        return queue_place.place_of(*given)

    monkeypatch.setattr(queue_place, "queue_in", lambda root, where: root)
    monkeypatch.setattr(queue_place, "named_folder", lambda where: where.get("named"))
    assert words(("q", "a", "b"), {}, -1) == (Path("q"), ("a", "b"))
    assert words(("q",), {}, 0) == (Path("q"), ())
    assert words(("a",), {"named": Path("n")}, 1) == (Path("n"), ("a",))
    with pytest.raises(UsageFault, match=r"^1 argument expected after the queue, 0 given$"):
        queue_place.place_of(("q",), {}, 1)
    with pytest.raises(UsageFault, match=r"^0 arguments expected after the queue, 1 given$"):
        queue_place.place_of(("q", "a"), {}, 0)
    with pytest.raises(UsageFault, match="name the queue's DIR"):
        queue_place.place_of((), {}, 0)
    assert requeue.command.name == "requeue"
    assert cancel.command.name == "cancel"


def test_the_numbers_of_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    async def worked(*given: Any) -> None:
        seen.append(given)

    monkeypatch.setattr(work, "_work", worked)
    row = SimpleNamespace(makes_boards=lambda root: True, is_service=False)
    there = SimpleNamespace(workspace=queue(tmp_path), row=row)
    monkeypatch.setattr(work, "place_of", lambda words, where, after: (there, words[1 - after :]))
    monkeypatch.setattr(work, "queue_in", lambda root, where: there)
    monkeypatch.setattr("sandscore.queue.layout_move.update_layout", lambda root, row: None)
    work.command.main(["q"], standalone_mode=False)
    place, plan, dask, output_format, metrics = seen[0]
    assert (place, dask, output_format, metrics) == (there, None, "text", None)
    assert (plan.jobs, plan.once, plan.board_seconds, plan.grace) == (1, False, 30, 20)
    asked: list[str | None] = [there.workspace.engine]
    work.command.main(["q", "--engine", "docker", "--dask", "tcp://x"], standalone_mode=False)
    assert [*asked, there.workspace.engine] == [None, "docker"]
    with pytest.raises(UsageFault, match=r"unknown engine 'dokcer' \(did you mean docker\?\)"):
        work.command.main(["q", "--engine", "dokcer"], standalone_mode=False)
    for wrong in (["--jobs", "0"], ["--jobs", "257"], ["--grace", "-1"], ["--board-every", "0"]):
        with pytest.raises(click.BadParameter):
            work.command.main(["q", *wrong], standalone_mode=False)


def test_a_folder_of_data_with_its_phase(tmp_path: Path) -> None:
    assert queue_init._named(f"final={tmp_path}") == ("final", tmp_path)
    assert queue_init._named(str(tmp_path)) == ("", tmp_path)
    with pytest.raises(UsageFault, match="there is no such folder"):
        queue_init._named("final=nowhere")


def test_a_queue_that_was_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    challenge = SimpleNamespace(challenge="c", phases=())
    workspace = SimpleNamespace(challenge=challenge, tasks=lambda _: ["date", "id"])
    made: Any = SimpleNamespace(root=tmp_path, workspace=workspace, facts={"evaluation": 7}, said=(), mended=None)
    queue_init._say(made, "text")
    queue_init._say(made, "json")
    text, told = capsys.readouterr().out.splitlines()
    assert text == f"{tmp_path}: c: date, id"
    assert json.loads(told) == {
        "queue": str(tmp_path), "challenge": "c", "tasks": {"": ["date", "id"]}, "evaluation": 7,
    }  # fmt: skip
    queue_init._say(SimpleNamespace(root=tmp_path, workspace=None, mended="mended"), "text")  # type: ignore[arg-type]
    assert capsys.readouterr().err == f"{tmp_path}: mended\n"


def test_what_rescoring_would_change() -> None:
    def move(**more: Any) -> Any:
        usual = {"id": "s", "team": "t", "refused": None, "before": 0.5, "after": 0.25, "delta": -0.25}
        return SimpleNamespace(**usual | {"rank_before": 1, "rank_after": 2, "notes": [], "had": []} | more)

    note, changed = SimpleNamespace(note="n"), SimpleNamespace(change="gone", note="n", start=3, length=4, label="x")
    moves = [
        move(notes=[note] * 21, had=list(range(21))),
        move(refused="no"),
        move(before=None, delta=None, rank_before=None),
        move(after=None, delta=None, rank_after=None, notes=[note] * 20),
    ]
    gold = [SimpleNamespace(changes=None, before="b"), SimpleNamespace(changes=[changed] * 21, before="c")]
    group: Any = SimpleNamespace(phase="p", task="date", submissions=moves, unchanged=2, headline="h", gold=gold)
    lines = rescored([group], ["a"]).splitlines()
    assert lines[:9] == [
        "date, phase p: 4 would change, 2 would not",
        "  s  t  h: 0.5000 → 0.2500 (-0.2500), rank 1 → 2",
        f"    because of 21 note(s): {', '.join('n' * 20)}…",
        f"    it had 21 of the changed annotations: {', '.join(map(str, range(20)))}",
        "  s  t  h: could not be scored: no",
        "  s  t  h: – → 0.2500",
        "  s  t  h: 0.5000 → –",
        f"    because of 20 note(s): {', '.join('n' * 20)}",
        "  the gold of before (b) was not kept: annotations cannot be compared",
    ]
    assert lines[9:11] == ["  gold since c: 21 annotation(s) changed", "    [0] gone: note n, 3+4 x"]
    assert lines[-2:] == ["    [19] gone: note n, 3+4 x", "1 new version written; the old ones are kept"]
    assert rescored([], []) == "nothing is scored yet\n0 new versions written; the old ones are kept"


# Runs


def run_record(**more: Any) -> RunRecord:
    usual: dict[str, Any] = {
        "sandscore": "1",
        "task": "date",
        "protocol": "service",
        "kind": "image",
        "isolation": "all",
    }
    usual |= {"limits": RunLimits(), "concurrency": 4, "notes": 7, "notes_sha256": "0", "outcome": Outcome.FINISHED}
    return RunRecord(**usual | more)


def test_how_a_run_went() -> None:
    latency = Latency(p50=0.25, p90=1, p99=2, most=3)
    known = {
        "notes_per_second": 4.25,
        "latency": latency,
        "peak_memory_bytes": 3 << 20,
        "determinism": Check(passed=True),
    }
    checks = {"robustness": Check(passed=False, note="n", detail="differs")}
    lines = running_options.FORMATS["text"](run_record(**known, **checks), Path("out")).splitlines()
    assert lines == [
        "outcome       finished",
        "notes         7",
        "speed         4.2 notes/s",
        "seconds/note  0.2500 median, 3.0000 at most",
        "memory        3 MB at most",
        "isolation     all",
        "determinism   passed",
        "robustness    FAILED: differs, first at note n",
        "limits        strict; 2048 MB, 1 CPU, 256 processes, 3600 s, 10 s a note and more for long ones",
        "results       out",
    ]
    bare = run_record(kind="url", robustness=Check(passed=False, detail="differs"))
    lines = running_options.FORMATS["text"](bare, Path("out")).splitlines()
    assert lines[2:] == [
        "isolation     all",
        "robustness    FAILED: differs",
        "limits        3600 s, 10 s a note and more for long ones; nothing else is limited",
        "results       out",
    ]


def test_what_is_said_after_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path("no/such/folder")
    running_options.report(RunFiles(run_record(), folder))
    assert capsys.readouterr().err == ""
    crashed = run_record(kind="url", warnings=("w",), outcome=Outcome.CRASHED, reason="r")
    running_options.report(RunFiles(crashed, folder))
    assert capsys.readouterr().err.splitlines() == [
        "sandscore: this run was not isolated (all)", "sandscore: w", "sandscore: crashed: r",
    ]  # fmt: skip


def test_what_runs_ask_for_unless_told_otherwise() -> None:
    @running_options.run_options
    @click.command()
    def verb(**given: Any) -> Any:
        return given

    found = verb.main(["--notes", "n"], standalone_mode=False)
    assert (found["concurrency"], found["hardening"], found["protocol"]) == (None, None, None), "a challenge may say"
    assert not found["check_determinism"]
    assert not found["check_robustness"]
    for number in ("0", "65"):
        with pytest.raises(click.BadParameter):
            verb.main(["--notes", "n", "--concurrency", number], standalone_mode=False)


@pytest.mark.parametrize(
    ("written", "size"), [("7", 7), ("2k", 2048), ("3MB", 3 << 20), (" 1g ", 1 << 30), (None, None)]
)
def test_amounts_of_memory(written: str | None, size: int | None) -> None:
    context: Any = None
    assert running_options._size(context, context, written) == size
    with pytest.raises(UsageFault, match="'2 t' is not a size"):
        running_options._size(context, context, "2 t")


def test_the_hostile_set(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def verdict(*complaints: str) -> Any:
        case = SimpleNamespace(name="bomb", tries="to fork", expected=("crashed",))
        return SimpleNamespace(
            case=case, outcome="crashed", complaints=complaints, passed=not complaints, seconds=1.234, reason="it ended"
        )

    def attacked(verdicts: list[Any], *words: str) -> tuple[Any, str]:
        def fire(*given: Any) -> list[Any]:
            for one in verdicts:
                given[-2](one)
            return verdicts

        monkeypatch.setattr(api, "attack", fire)
        return attack.command.main(list(words), standalone_mode=False), capsys.readouterr().out

    row = "bomb               crashed         to fork"
    assert attacked([verdict()]) == (0, f"pass  {row}\n1 of 1 contained\n")
    assert attacked([verdict(), verdict("left")]) == (78, f"pass  {row}\nFAIL  {row}\n      left\n1 of 2 contained\n")
    code, told = attacked([verdict("left")], "--format", "json")
    assert code == 78
    assert json.loads(told) == [
        {"case": "bomb", "tries": "to fork", "expected": ["crashed"], "outcome": "crashed", "passed": False,
         "reason": "it ended",
         "complaints": ["left"], "seconds": 1.23}
    ]  # fmt: skip


def test_the_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    findings = [api.Finding("disk", "ok", "7 GB"), api.Finding("engine", "fault", "none", "install one")]
    monkeypatch.setattr(api, "examine_host", lambda chosen, engine: findings)
    assert doctor.command.main([], standalone_mode=False) == 75
    assert capsys.readouterr().out.splitlines() == [
        "ok     disk             7 GB", "fault  engine           none", "                        install one",
    ]  # fmt: skip
    findings[1:] = [api.Finding("disk", "ok", "1 GB", engine="docker"), api.Finding("disk", "note", "0 GB", engine="x")]
    assert doctor.command.main([], standalone_mode=False) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok     disk             7 GB", "engine docker", "ok     disk             1 GB", "engine x",
        "note   disk             0 GB",
    ]  # fmt: skip
    del findings[1:]
    assert doctor.command.main(["--format", "json"], standalone_mode=False) == 0
    assert json.loads(capsys.readouterr().out) == [
        {"name": "disk", "level": "ok", "found": "7 GB", "advice": None, "engine": None, "by": "host"}
    ]


# Scores and boards


def test_ratios_and_problems() -> None:
    assert (card_text.ratio(None), card_text.ratio(2 / 3)) == ("–", "0.667")
    found = ProblemCollector("a\x1b.json")
    assert problem_text.as_text(found) == "a\\x1b.json: valid"
    found.add("overlap", (0, 0), "/0", None, "w")
    assert problem_text.summary(found) == "a\\x1b.json: valid, with warnings: overlap 1"
    found.add("schema", (1, 0), "/1", "n", "e")
    lines = [click.unstyle(line) for line in problem_text.as_text(found).splitlines()]
    assert lines == [
        "a\\x1b.json:/1: error: schema: e (note n)",
        "a\\x1b.json:/0: warning: overlap: w",
        "a\\x1b.json: not valid: overlap 1, schema 1",
    ]
    assert problem_text.as_text(found, 1).splitlines()[1] == "… and 1 more (--format json lists 10,000 of each kind)"
    assert problem_text.as_text(found, 0) == "a\\x1b.json: not valid: overlap 1, schema 1"
    assert "\x1b[31m" in problem_text.as_text(found).splitlines()[0]
    assert "\x1b[33m" in problem_text.as_text(found).splitlines()[1]
    assert json.loads(problem_text.as_json(found))["counts"] == {"overlap": 1, "schema": 1}


def test_warnings_alone_are_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    good, warned, wrong = (ProblemCollector(name) for name in ("good", "warned", "wrong"))
    warned.add("overlap", (0, 0), "/0", None, "w")
    wrong.add("schema", (0, 0), "/0", None, "e")
    watch = problem_text.watch()
    watch.problems([good, warned, wrong])
    watch.warning("x\x1b")
    assert capsys.readouterr().err.splitlines() == [
        "warned: valid, with warnings: overlap 1", "wrong:/0: error: schema: e", "wrong: not valid: schema 1",
        "warning: x\\x1b",
    ]  # fmt: skip


def test_patients_that_are_needed() -> None:
    def found(patients: int | None) -> Any:
        answer = SimpleNamespace(patients=patients, tried=[(8, 0.25), (16, 0.875)])
        return SimpleNamespace(plan=api.PowerPlan(0.1, 0.9, 0.5, 0.8, 400), answer=answer, units=3)

    assert power.FORMATS["text"](found(16)).splitlines() == [
        "       8 patients: separated in 25% of simulations",
        "      16 patients: separated in 88% of simulations",
        "",
        "16 patients separate F1 0.9 from 0.8 (power 80%, level 0.05, 50% of errors shared; gold has 3 patients)",
    ]
    assert power.FORMATS["text"](found(None)).splitlines()[3].startswith("more than 16 patients are needed (")
    told = json.loads(power.FORMATS["json"](found(None)))
    assert told["patients"] is None
    assert told["assumed"] == {"gap": 0.1, "f1": 0.9, "overlap": 0.5, "power": 0.8, "alpha": 0.05, "beta": 1.0}
    assert told["tried"] == [{"patients": 8, "power": 0.25}, {"patients": 16, "power": 0.875}]


def test_what_was_published_and_verified() -> None:
    written: Any = SimpleNamespace(files=3, changed=("a", "b"), removed=("c",))
    assert publish.FORMATS["text"](Path("i.html"), written) == "3 files, 2 written, 1 removed; open i.html"
    told = json.loads(publish.FORMATS["json"](Path("i.html"), written))
    assert told == {"page": "i.html", "files": 3, "changed": ["a", "b"], "removed": ["c"]}
    nothing = api.Upheld(None, ())
    whole = Verified(values=5, cards=2)
    part = Verified(values=5, cards=2, not_recomputed=("x", "y\x1b"), withheld=("/rows/*/image",))
    said = "b: 5 values recomputed from 2 cards, all as printed\nlevel: recomputed"
    assert verify.FORMATS["text"](Path("b"), api.Checked(whole, nothing)) == said
    assert (
        verify.FORMATS["text"](Path("b"), api.Checked(part, nothing))
        == f"{said}\nnot recomputed: x, y\\x1b\nwithheld: /rows/*/image"
    )
    known = {"board": "b", "verified": True, "values": 5, "cards": 2, "level": "recomputed"}
    assert json.loads(verify.FORMATS["json"](Path("b"), api.Checked(whole, nothing))) == known
    named = {"not_recomputed": ["x", "y\x1b"], "withheld": ["/rows/*/image"]}
    assert json.loads(verify.FORMATS["json"](Path("b"), api.Checked(part, nothing))) == known | named
    totals = Verified(values=5, cards=2, level="totals")
    said = "b: 5 values follow from its own counts and 2 cards of totals, all as printed\nlevel: totals"
    assert verify.FORMATS["text"](Path("b"), api.Checked(totals, nothing)) == said
    alone = api.Checked(replace(totals, cards=0), nothing)
    assert verify.FORMATS["text"](Path("b"), alone) == said.replace(" and 2 cards of totals", "")


def test_a_board_on_the_terminal_or_in_a_file(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    board = SimpleNamespace(rows=[1, 2], task="date", headline="h")
    monkeypatch.setattr(api, "rank_to_file", lambda *given: board)
    monkeypatch.setattr(api, "board_text", lambda *given: f"board as {given[1]}")
    file = str(tmp_path / "b.json")
    for words in (["c"], ["c", "-o", file], ["c", "-o", file, "--format", "csv"]):
        rank.command.main(words, standalone_mode=False)
    assert capsys.readouterr().out == f"board as text{file}: 2 rows, task date, ranked by h\nboard as csv"


@pytest.mark.parametrize(("pairs", "said"), [(20_000_000, ""), (20_000_001, "20,000,001 pairs with 1,000 draws each")])
def test_long_tests_are_announced(pairs: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with rank._testing(pairs, 1000) as advance:
        advance(1)
    told = capsys.readouterr().err
    assert (said in told) if said else not told


def test_tasks_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = [TASKS["date"], TASKS["person-name"], TASKS["id"]]
    lines = tasks.FORMATS["text"](chosen).splitlines()
    assert [line.split()[2] for line in lines] == ["label", "dateFormat?", "-", "idType", "with"]
    assert lines[2] == (
        "person-name    textPersonNameAnnotations        -              token, instance_strict, instance_relax"
    )
    for limit, rows in ((len(lines[2]), 1), (len(lines[2]) - 1, 2)):
        monkeypatch.setattr(tasks, "terminal_width", lambda limit=limit: limit)
        assert len(tasks.FORMATS["text"](chosen[1:2]).splitlines()) == 2 + rows
    assert json.loads(tasks.FORMATS["json"](chosen))[1] == {
        "id": "person-name", "array": "textPersonNameAnnotations", "label": None, "label_required": False,
        "path": "/textPersonNameAnnotations", "measures": ["token", "instance_strict", "instance_relax"],
    }  # fmt: skip


# Conversions


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What conversions were asked for."""
    asked: list[dict[str, Any]] = []
    made = api.Converted("ours", "conll", ("date",), 2, 3, (), b"content")

    def convert_all(paths: Any, **given: Any) -> Any:
        asked.append({"paths": paths, **given})
        return made

    monkeypatch.setattr(api, "convert", convert_all)
    return asked


def test_a_conversion_to_standard_output(converted: list[dict[str, Any]], capsysbinary: Any) -> None:
    words = ["date", "id", "p", "date", "--from", "ours", "--to", "conll", "--annotations", "q"]
    convert.command.main([*words, "-o", "-"], standalone_mode=False)
    convert.command.main(words, standalone_mode=False)
    told = capsysbinary.readouterr()
    assert told.out == b"content" * 2
    assert told.err == b"2 notes, 3 annotations: ours to conll\n" * 2
    assert converted[0] == converted[1]
    assert converted[0]["tasks"] == ("date", "id")
    assert converted[0]["paths"] == [Path("p"), Path("date"), Path("q")]
    assert (converted[0]["output"], converted[0]["confidence"]) == ("-", 100)
    assert not any(converted[0][name] for name in ("drop_mismatches", "lossless", "force"))


def test_a_conversion_to_a_file(converted: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["p", "--from", "ours", "--to", "conll", "-o", "made"]
    convert.command.main(words, standalone_mode=False)
    convert.command.main([*words, "--format", "json"], standalone_mode=False)
    text, _, report = capsys.readouterr().out.partition("\n")
    assert text == "2 notes, 3 annotations: ours to conll, made"
    assert (json.loads(report)["output"], json.loads(report)["losses"]) == ("made", [])
    assert converted[0]["output"] == Path("made")


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["convert", "--formats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line[:18].strip() for line in lines if line[:1].strip()]
    assert names == list(api.FORMATS.names)
    assert all(line.startswith(" " * 19 + "cannot hold ") for line in lines if not line[:1].strip())


def test_names_of_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(name: str) -> bool:
        raise AssertionError(name)

    with monkeypatch.context() as patch:
        patch.setattr(type(api.FORMATS), "is_installed", lambda self, name: nobody(name))
        assert FormatName().convert("conll", None, None) == "conll"
    with pytest.raises(click.BadParameter, match="Did you mean 'conll'"):
        FormatName().convert("conl", None, None)
    with pytest.raises(click.BadParameter) as caught:
        NearChoice(["text"]).convert("zzz", None, None)
    assert "Did you mean" not in caught.value.message


# The command line itself


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [(click.exceptions.Abort(), 130, "interrupted"), (KeyboardInterrupt(), 130, "interrupted"),
     (MemoryError(), 75, "out of memory"), (OSError(28, "no space"), 75, "the operating system refused: no space"),
     (MissingFile("gone"), 66, "gone"), (UsageFault("wrong"), 2, "wrong"), (SandscoreError("own"), 70, "own"),
     (ZeroDivisionError(), 70, "a bug of ours (ZeroDivisionError)")],
)  # fmt: skip
def test_faults_and_exit_codes(fault: BaseException, code: int, said: str, monkeypatch: Any, capsys: Any) -> None:
    def failing(**_: Any) -> None:
        raise fault

    monkeypatch.delenv("SANDSCORE_DEBUG", raising=False)
    monkeypatch.setattr(main.cli, "main", failing)
    assert main.run([]) == code
    assert capsys.readouterr().err.startswith(f"sandscore: {said}")
    if code == 70 and not isinstance(fault, SandscoreError):
        monkeypatch.setenv("SANDSCORE_DEBUG", "1")
        with pytest.raises(ZeroDivisionError):
            main.run([])


def test_the_code_of_a_verb_is_the_process_code(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    colours = []

    for code in (65, None):

        def ended(code: int | None = code, **given: Any) -> int | None:
            colours.append(given["color"])
            return code

        monkeypatch.setattr(main.cli, "main", ended)
        with pytest.raises(SystemExit) as caught:
            main.main([])
        assert caught.value.code == (code or 0)
        monkeypatch.setenv("NO_COLOR", "1")
    assert colours[1] is False
    monkeypatch.undo()
    assert main.run(["scor"]) == 2
    assert "No such command 'scor'. Did you mean 'score'?" in capsys.readouterr().err
    assert main.run(["zzzzzz"]) == 2
    assert "Did you mean" not in capsys.readouterr().err


def test_verbs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    context = click.Context(main.cli)
    group: Any = main.cli
    assert group.list_commands(context)[0] == "tasks"
    assert group.get_command(context, "init") is init.command
    assert group.get_command(context, "nothing") is None
    monkeypatch.setenv(COMPLETING, "bash_complete")
    knowing = group.get_command(context, "init")
    assert knowing.name == "init"
    assert knowing is not init.command


# Progress


def test_no_bar_where_nobody_looks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with progress.bar("x", 2) as step:
        step(1)
    with progress.bytes_read([tmp_path]) as step:
        step(1)
    assert list(progress.bar_over([1, 2], 2, "x")) == [1, 2]
    assert capsys.readouterr().err == ""


def test_a_bar_after_some_patience_that_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_a_terminal(monkeypatch)
    with progress.bar("reading", 2) as step:
        step(1)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.bar("reading", 2048, "B") as step:
        step(1024)
    assert "reading" in terminal.getvalue()
    assert "2.05k " in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")
    assert list(progress.bar_over([1], 1, "converting")) == [1]
    assert "converting" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")


def test_the_bytes_of_packed_files_are_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    totals: list[int | None] = []

    def told(_what: str, total: int | None, _unit: str) -> Any:
        totals.append(total)
        return nullcontext(print)

    monkeypatch.setattr(progress, "bar", told)
    for name in ("a.json", "b.json", "c.json.gz", "d.json.zst"):
        (tmp_path / name).write_bytes(b"12345")
    for names in (
        ["a.json", "b.json"],
        ["a.json", "c.json.gz"],
        ["d.json.zst"],
        ["a.json", "missing"],
        ["a.json", "-"],
    ):
        with progress.bytes_read([tmp_path / name for name in names]):
            pass
    assert totals == [10, None, None, None, None]


# Completion


def test_words_after_an_equals_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()

    def whole(typed: str, *found: CompletionItem) -> list[str]:
        return [item.value for item in completion._whole(list(found), typed)]

    assert whole("--o=f", CompletionItem("f", type="file")) == ["--o=file", "--o=folder/"]
    assert whole("--o=f", CompletionItem("f", type="dir")) == ["--o=folder/"]
    assert whole("--o=z", CompletionItem("z", type="dir")) == ["--o=z"]
    assert whole("--o=d", CompletionItem("date")) == ["--o=date"]
    assert whole("--o", CompletionItem("x")) == whole("a=b", CompletionItem("x")) == ["x"]


def test_what_is_suggested_where() -> None:
    def suggested(parameter: click.Parameter, begun: str = "") -> list[tuple[str, str]] | None:
        found = completion._suggested(parameter)
        context = click.Context(click.Command("x"))
        if found is None:
            return None
        return [(item.value, item.type) for item in found.shell_complete(context, parameter, begun)]

    assert suggested(click.Option(["--task"]), "dat") == [("date", "plain")]
    assert suggested(click.Option(["--status", "statuses"]), "SC") == [("SCORED", "plain")]
    assert suggested(click.Option(["--profile"]), "chal") == [("challenge", "plain")]
    assert suggested(click.Argument(["words"], metavar="[TASK]... [PATH]...", nargs=-1), "f") == [("f", "file")]
    assert suggested(click.Argument(["words"], metavar="[TASK]... [PATH]...", nargs=-1), "date") == [("date", "plain")]
    assert suggested(click.Argument(["words"], metavar="[DIR] ID...", nargs=-1), "d") == [("d", "dir")]
    assert suggested(click.Option(["--site"], metavar="SITE"), "d") == [("d", "dir")]
    assert suggested(click.Option(["--gold"], metavar="FILE"), "d") == [("d", "file")]
    assert suggested(click.Option(["--data"], metavar="[PHASE=]FOLDER"), "d") == [("d", "dir")]
    assert suggested(click.Option(["--notes"]), "d") == [("d", "file")]
    assert suggested(click.Option(["--any"], type=Path), "d") == [("d", "file")]
    for known in (
        (["--kind"], {"type": click.Choice(["a"])}),
        (["--task"], {"type": click.Choice(["a"])}),
        (["--notes"], {"is_flag": True}),
        (["--team"], {}),
    ):
        assert suggested(click.Option(known[0], **known[1])) is None


def test_measures_of_the_task_in_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    context = click.Context(click.Command("x"))
    monkeypatch.setenv("COMP_WORDS", "sandscore score date --measure")
    assert "date_format" in list(completion._measures(context))
    assert "id_type" not in list(completion._measures(context))
    monkeypatch.setenv("COMP_WORDS", "sandscore score")
    assert {"date_format", "id_type"} <= set(completion._measures(context))


def test_a_script_is_written_and_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    profile = tmp_path / ".bashrc"
    profile.write_text("before", encoding="utf-8")
    profile.chmod(0o600)
    for _ in range(2):
        assert main.run(["--install-completion", "bash"]) == 0
    script = tmp_path / ".local/share/sandscore/completion.bash"
    assert COMPLETING in script.read_text(encoding="utf-8")
    assert profile.read_text(encoding="utf-8") == f"before\n[ ! -r {script} ] || . {script}\n"
    assert profile.stat().st_mode & 0o777 == 0o600
    assert capsys.readouterr().out.count("a line that reads it") == 1
    assert main.run(["--install-completion", "fish"]) == 0
    assert (tmp_path / ".config/fish/completions/sandscore.fish").exists()
    assert main.run(["--install-completion", "zsh"]) == 0
    assert (tmp_path / ".zshrc").read_text(encoding="utf-8").startswith("[ ! -r ")
    assert (tmp_path / ".zshrc").stat().st_mode & 0o777 == 0o644

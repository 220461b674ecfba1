"""run, evaluate, attack and doctor as a user meets them: streams, exit codes and files."""

import json
import sys
from pathlib import Path

import pytest
from cli.running import sandscore
from kernel_comparison import no_kernel

from sandscore.containers import host_checks
from sandscore.containers.annotation_run import FinishedRun
from sandscore.containers.engines.docker import docker_checks
from sandscore.records.run_record import Outcome, RunLimits, RunRecord

ROOT = Path(__file__).resolve().parents[2]
NOTES = ROOT / "gold" / "example" / "notes.json"
GOLD = ROOT / "gold" / "example" / "date.json"
SERVER = f"{sys.executable} {ROOT / 'submissions' / 'template' / 'server.py'}"


def test_run_a_command(tmp_path: Path) -> None:
    ran = sandscore("run", "date", "--command", SERVER, "--notes", NOTES, "-o", tmp_path / "r", "--format", "json")
    assert ran.code == 0
    assert "this run was not isolated" in ran.err
    record = RunRecord.model_validate_json(ran.out)
    assert (record.outcome, record.notes, record.kind) == (Outcome.FINISHED, 72, "command")
    predictions = json.loads((tmp_path / "r" / "predictions.json").read_bytes())
    assert len(predictions) == 72
    checked = sandscore("validate", "date", tmp_path / "r" / "predictions.json", "--notes", NOTES, "--complete")
    assert checked.code == 0, checked.out


def test_an_answer_that_is_refused_is_kept(tmp_path: Path) -> None:
    """The reason quotes nothing, so the participant's own bytes are kept in a file that validate explains."""
    server = tmp_path / "server.py"
    for name in ("server.py", "tool.json"):
        (tmp_path / name).write_bytes((ROOT / "submissions" / "template" / name).read_bytes())
    wrong = "def annotate(text):\n    return [{'start': 0, 'length': 3, 'text': text[:2]}]\n"
    (tmp_path / "annotate.py").write_text(wrong, encoding="utf-8")
    folder = tmp_path / "r"
    folder.mkdir()
    for earlier in ("predictions.json", ".predictions.json.1.a0.part"):
        (folder / earlier).write_text("of an earlier run", encoding="utf-8")
    ran = sandscore("run", "date", "--command", f"{sys.executable} {server}", "--notes", NOTES, "-o", folder)
    assert ran.code == 65
    assert "outcome       invalid_output" in ran.out
    assert "text-mismatch" in ran.err
    assert sorted(p.name for p in folder.iterdir()) == ["log.txt", "refused.json", "run.json"]
    explained = sandscore("validate", "date", folder / "refused.json")
    assert explained.code == 65
    assert "text-mismatch" in explained.out
    judged = sandscore("validate", "date", folder / "refused.json", "--notes", NOTES, "--format", "json")
    note = json.loads((folder / "run.json").read_text())["note"]
    found = json.loads(judged.out)
    assert {one["note"] for one in found["problems"]} == {note.rpartition("/")[2]}
    assert found["counts"] == {"text-mismatch": 1}


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        pytest.param(["--image", "x", "--url", "http://h"], 2, "exactly one of", id="two annotators"),
        pytest.param([], 2, "exactly one of", id="no annotator"),
        pytest.param(["--url", "ftp://h"], 2, "not a server's address", id="not a URL"),
        pytest.param(["--url", "http://h:port"], 2, "not a server's address", id="a port that is none"),
        pytest.param(["--command", "'"], 2, "cannot be started", id="a quote left open"),
        pytest.param(["--command", "/no/such/program"], 2, "cannot be started", id="no such program"),
        pytest.param(["--command", "x", "--protocol", "batch"], 2, "needs --image", id="batch without an image"),
        pytest.param(["--command", "x", "--memory", "lots"], 2, "512m or 2g", id="not an amount"),
        pytest.param(["--command", "x", "--gpus", "0"], 2, "write all, 1, 2", id="no graphics processor"),
        pytest.param(["--command", "x", "--gpus", "2"], 2, "only an image is handed", id="no image to hand them to"),
        pytest.param(["--command", "x", "--memory", "1k"], 2, "at least 6m", id="too little memory"),
        pytest.param(["--command", "x", "--notes", "/no/notes"], 66, "no such file", id="no notes"),
    ],
)
def test_run_refuses(tmp_path: Path, words: list[str], code: int, why: str) -> None:
    notes = [] if "--notes" in words else ["--notes", NOTES]
    ran = sandscore("run", "date", *words, *notes, "-o", tmp_path / "r")
    assert (ran.code, ran.out) == (code, "")
    assert why in ran.err
    assert not (tmp_path / "r" / "run.json").exists()


def test_the_limits_of_a_challenge_are_taken_and_changed(tmp_path: Path) -> None:
    """The organiser's own, as run.json says them; what is asked for otherwise goes before."""
    limits = "time_limit = 700\nready_time = 60\nnote_time = 9\nimage_size = '20g'\nconcurrency = 2\nmemory = '1g'"
    challenge = tmp_path / "challenge.toml"
    challenge.write_text(f"challenge = 'x'\n[limits]\n{limits}\n", encoding="utf-8")
    words = ["run", "date", "--command", SERVER, "--notes", NOTES, "-o", tmp_path / "r", "--format", "json"]
    ran = sandscore(*words, "--challenge", challenge, "--note-time", "30", "--hardening", "compat")
    assert ran.code == 0, ran.err
    record = RunRecord.model_validate_json(ran.out)
    told = record.limits
    assert (told.total_seconds, told.ready_seconds, told.note_seconds, record.concurrency) == (700, 60, 30, 2)
    assert (told.memory_bytes, told.image_bytes, told.gpus) == (1 << 30, 20 << 30, None)
    assert (told.hardening, told.user, told.capabilities) == ("compat", None, ("SETUID", "SETGID"))
    assert record.limits_in_force is False, "a command has the rights of whoever started it"
    challenge.write_text("challenge = 'x'\n[limits]\nbatch = true\n", encoding="utf-8")
    assert "needs --image" in sandscore(*words, "--challenge", challenge).err


@pytest.mark.engine
def test_graphics_processors_that_are_not_there_are_refused(python_image: object, tmp_path: Path) -> None:
    image = python_image("no-gpu", "")  # type: ignore[operator]
    ran = sandscore("run", "date", "--image", image, "--notes", NOTES, "-o", tmp_path / "r", "--gpus", "all")
    assert ran.code == 78
    assert "has no such graphics processors to hand on: could not select device driver" in ran.err


def test_a_folder_that_cannot_be_written_is_said_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    began = tmp_path / "began"
    ran = sandscore("run", "date", "--command", f"touch {began}", "--notes", NOTES, "-o", tmp_path / "file" / "r")
    assert ran.code == 2
    assert "cannot be written" in ran.err
    assert not began.exists()


def test_no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    ran = sandscore("run", "date", "--image", "x", "--notes", NOTES, "-o", tmp_path / "r")
    assert ran.code == 75
    assert "no Docker engine answers" in ran.err
    examined = sandscore("doctor", "--engine", "docker", "--format", "json")
    assert examined.code == 75
    levels = {finding["name"]: finding["level"] for finding in json.loads(examined.out)}
    assert (levels["engine"], levels["reading"]) == ("fault", "ok")


def test_doctor_says_when_nothing_is_compiled() -> None:
    with no_kernel():
        (reading,) = [finding for finding in host_checks.examine() if finding.name == "reading"]
    assert (reading.level, reading.found) == ("note", "by Python alone: slower, with the same results")


@pytest.mark.engine
def test_missing_image(client: object, tmp_path: Path) -> None:
    words = ["run", "date", "--image", "sha256:" + "0" * 64, "--notes", NOTES, "-o", tmp_path / "r"]
    ran = sandscore(*words)
    assert ran.code == 65
    assert "image_missing" in ran.out
    assert RunRecord.model_validate_json((tmp_path / "r" / "run.json").read_bytes()).outcome is Outcome.IMAGE_MISSING


@pytest.mark.engine
def test_doctor_finds_limits_in_force(client: object) -> None:
    examined = sandscore("doctor")
    assert examined.code == 0, examined.out
    assert "no rights, our system call filter" in examined.out
    assert "2147483648 bytes in the container's cgroup" in examined.out


@pytest.mark.engine
def test_doctor_sees_limits_that_are_not(client: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docker_checks, "unenforced", lambda _: ["MemoryLimit"])
    examined = sandscore("doctor")
    assert examined.code == 75
    assert "ignores MemoryLimit" in examined.out


@pytest.mark.engine
def test_an_engine_that_ignores_limits_scores_nothing(
    client: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignoring = {"MemoryLimit": True, "SwapLimit": False, "PidsLimit": True, "CpuCfsQuota": True}
    monkeypatch.setattr("sandscore.containers.engines.docker.docker_row.facts", lambda _: ignoring)
    ran = sandscore("run", "date", "--image", "x", "--notes", NOTES, "-o", tmp_path / "r")
    assert ran.code == 78
    assert "ignores limits (SwapLimit)" in ran.err


@pytest.mark.engine
def test_attack_prints_a_table(client: object) -> None:
    ran = sandscore("attack", "--only", "redirect", "--only", "link-out", "--memory", "64m")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line.split()[:3] for line in lines[:-1]] == [
        ["pass", "redirect", "invalid_output"],
        ["pass", "link-out", "invalid_output"],
    ]
    assert lines[-1] == "2 of 2 contained"
    assert sandscore("attack", "--only", "rain").code == 2


@pytest.mark.engine
def test_attack_takes_the_limits_of_a_challenge(client: object, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[RunLimits] = []

    def attacked(limits: RunLimits, **_: object) -> list[object]:
        given.append(limits)
        return []

    monkeypatch.setattr("sandscore.containers.hostile.firing_range.attack", attacked)
    challenge = ROOT / "gold" / "example" / "challenge.toml"
    assert sandscore("attack", "--challenge", challenge).code == 0
    assert given == [RunLimits(total_seconds=600)]
    assert sandscore("attack", "--challenge", challenge, "--memory", "1g").code == 2
    assert sandscore("attack", "--challenge", "/no/challenge.toml").code == 66


@pytest.mark.engine
def test_an_attack_that_is_not_contained_is_said(client: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def deceived(_job: object) -> FinishedRun:
        limits = RunLimits()
        record = RunRecord(
            sandscore="0", task="date", protocol="service", kind="image", isolation="", limits=limits, concurrency=1,
            notes=1, notes_sha256="0", outcome=Outcome.TIMED_OUT, reason="because",
        )  # fmt: skip
        return FinishedRun(record, None, "ESCAPED: out of the box\n")

    monkeypatch.setattr("sandscore.containers.hostile.firing_range.run", deceived)
    ran = sandscore("attack", "--only", "redirect", "--format", "json")
    assert ran.code == 78
    [verdict] = json.loads(ran.out)
    assert verdict["passed"] is False
    assert verdict["complaints"] == [
        "ended as timed_out instead of invalid_output: because",
        "out of the box",
    ]


@pytest.mark.engine
def test_evaluate(python_image: object, tmp_path: Path) -> None:
    standin = (Path(__file__).parent / "standins" / "service.py").read_text(encoding="utf-8")
    image = python_image("plain", standin)  # type: ignore[operator]
    ran = sandscore(
        "evaluate", "date", "--image", image, "--notes", NOTES, "--gold", GOLD, "-o", tmp_path / "e", "--format", "json"
    )
    assert ran.code == 0, ran.err
    assert sorted(p.name for p in (tmp_path / "e").iterdir()) == [
        "card.json",
        "log.txt",
        "predictions.json",
        "run.json",
    ]
    card = json.loads((tmp_path / "e" / "card.json").read_bytes())
    assert card["run"]["outcome"] == "finished"
    assert card["image"] == card["run"]["image"]["id"]
    assert card["measures"]["instance_strict"]["tp"] > 0
    assert card["measures"]["instance_strict"]["fp"] == 0, "whole dates with slashes are never wrong"


@pytest.mark.slow
def test_evaluate_says_what_passed_and_takes_what_run_and_score_take(tmp_path: Path) -> None:
    """The numbers are those of ``score`` on the same predictions."""
    words = ["--measure", "iou(threshold=0.5)", "--html", tmp_path / "r.html", "--gold", GOLD, "-o", tmp_path / "e"]
    challenge = ROOT / "gold" / "example" / "challenge.toml"
    ran = sandscore("evaluate", "date", "--command", SERVER, "--challenge", challenge, "--notes", NOTES, *words)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("ran          72 notes answered, ")
    assert "\nvalid        every answer has the task's form and stands in its note\n" in ran.out
    predictions = tmp_path / "e" / "predictions.json"
    scored = sandscore("score", "date", "--gold", GOLD, "--notes", NOTES, "--predictions", predictions, *words[:2])
    assert ran.out.endswith(scored.out)
    assert RunRecord.model_validate_json((tmp_path / "e" / "run.json").read_bytes()).limits.total_seconds == 600
    assert "<html" in (tmp_path / "r.html").read_text(encoding="utf-8")
    other = ["--profile", "i2b2", "--gold", GOLD, "-o", tmp_path / "i"]
    ran = sandscore("evaluate", "date", "--command", SERVER, "--notes", NOTES, *other)
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "i" / "card.json").read_bytes())["profile"] == "i2b2"


@pytest.mark.parametrize(
    ("content", "code"), [pytest.param(None, 66, id="missing"), pytest.param("{}", 78, id="not a record")]
)
def test_a_card_takes_only_records_of_runs(tmp_path: Path, content: str | None, code: int) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content, encoding="utf-8")
    ran = sandscore("score", "date", "--gold", GOLD, "--predictions", GOLD, "--run", tmp_path / "run.json")
    assert (ran.code, ran.out) == (code, "")

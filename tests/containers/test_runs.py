"""Whole runs of well-behaved annotators: as image, server and command, strict and compat, service and batch."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandscore.containers.annotation_run import FinishedRun, RunJob, predictions, run, write_run
from sandscore.containers.local_process import local_process
from sandscore.containers.run_context import Annotator, Isolated, Kind, preset
from sandscore.containers.sent_notes import SentNote
from sandscore.records.run_record import MIB, Outcome, RunLimits, RunRecord
from sandscore.task_table.task import find_task

if TYPE_CHECKING:
    from python_images import PythonImages

STANDINS = Path(__file__).parent / "standins"
DATE = find_task("date")
PLAIN = (STANDINS / "service.py").read_text(encoding="utf-8")
BATCH = """
import json, re
records = []
for note in json.load(open("/input/notes.json")):
    name = note.get("note_name", note["identifier"])
    found = re.finditer("[0-9]{2}/[0-9]{2}/[0-9]{4}", note["text"])
    spans = [{"start": m.start(), "length": 10, "text": m[0]} for m in found]
    records.append({"annotationSource": {"resourceSource": {"name": name}}, "textDateAnnotations": spans})
json.dump(records[::-1], open("/output/predictions.json", "w"))
print("no newline at the end", end="")
"""


def go(kind: Kind, reference: str, notes: Sequence[SentNote], limits: RunLimits, **how: Any) -> FinishedRun:
    annotator = Annotator(kind, reference, how.pop("protocol", "service"), how.pop("isolation", "best"))
    return run(RunJob(DATE, annotator, notes, "0" * 64, limits, **how))


@pytest.fixture
def plain(python_image: "PythonImages") -> str:
    return python_image("plain", PLAIN)


@pytest.mark.engine
def test_image_server_and_command_give_the_same_bytes(plain: str, small: RunLimits, notes: list[SentNote]) -> None:
    command = f"{sys.executable} {STANDINS / 'service.py'}"
    image = go("image", plain, notes, small)
    local = go("command", command, notes, small)
    with local_process(command, small) as process:
        served = go("url", f"http://{process.door.host}", notes, small)
    written = [b"".join(predictions(DATE, notes, r.answers)) for r in (image, local, served) if r.answers is not None]
    assert len(written) == 3
    assert len(set(written)) == 1
    spans = [len(record["textDateAnnotations"]) for record in json.loads(written[0])]
    assert spans == [1, 0, 2]
    names = [record["annotationSource"]["resourceSource"]["name"] for record in json.loads(written[0])]
    assert names == ["n-1", "data/Note/n-2", "n-3"]
    assert image.record.isolation.startswith("no network")
    assert all(r.record.isolation.startswith("none") for r in (local, served))


@pytest.mark.engine
def test_the_record_of_an_image(plain: str, small: RunLimits, notes: list[SentNote], tmp_path: Path) -> None:
    done = go("image", plain, notes, small, check_determinism=True, check_robustness=True)
    write_run(tmp_path / "run", DATE, notes, done)
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == ["log.txt", "predictions.json", "run.json"]
    record = RunRecord.model_validate_json((tmp_path / "run" / "run.json").read_bytes())
    assert record == done.record
    assert record.outcome is Outcome.FINISHED
    assert record.limits == small
    assert record.image is not None
    assert record.image.id.startswith("sha256:")
    assert record.tool is not None
    assert record.tool["type"] == "nlpsandbox:date-annotator"
    assert record.determinism is not None
    assert record.determinism.passed
    assert record.robustness is not None
    assert record.robustness.passed
    assert record.latency is not None
    assert 0 < record.latency.p50 <= record.latency.p99 <= record.latency.most
    assert record.cpu_seconds is not None
    assert 0 < record.cpu_seconds < 60
    assert record.peak_memory_bytes is not None
    assert MIB < record.peak_memory_bytes <= small.memory_bytes
    assert record.exit_code is None, "it was ended by us"


@pytest.mark.engine
@pytest.mark.parametrize("isolation", ["best", "own network"])
def test_the_real_annotators_habits_under_compat(
    python_image: "PythonImages", small: RunLimits, notes: list[SentNote], isolation: Isolated
) -> None:
    image = python_image("sandbox-like", (STANDINS / "sandbox_like.py").read_text(encoding="utf-8"))
    compat = preset("compat")
    limits = small.model_copy(update={k: getattr(compat, k) for k in ("hardening", "user", "capabilities")})
    done = go("image", image, notes, limits, concurrency=1, isolation=isolation)
    assert done.record.outcome is Outcome.FINISHED, done.record.reason
    assert done.record.retried_notes == 1, "the third connection was closed without a word"
    assert done.record.seconds.ready is not None
    assert done.record.seconds.ready > 0.3, "the port was open before it was ready"
    assert done.answers is not None
    found = [a["text"] for a in json.loads(done.answers[2])]
    assert found == ["03/04/2021", "01/02/2021", "01/02", "03/04"], "unsorted and overlapping, as given"


@pytest.mark.engine
def test_a_server_may_ask_for_its_own_name(
    python_image: "PythonImages", small: RunLimits, notes: list[SentNote]
) -> None:
    """Some frameworks look up the host's own name before they serve; without a network nobody else would know it."""
    asking = "import socket\nassert socket.gethostbyname(socket.gethostname()) == '127.0.0.1'\n"
    done = go("image", python_image("own-name", asking + PLAIN), notes, small)
    assert done.record.outcome is Outcome.FINISHED, done.log


@pytest.mark.engine
def test_an_image_that_switches_its_user_cannot_under_strict(
    python_image: "PythonImages", small: RunLimits, notes: list[SentNote]
) -> None:
    image = python_image("sandbox-like", (STANDINS / "sandbox_like.py").read_text(encoding="utf-8"))
    done = go("image", image, notes, small)
    assert done.record.outcome is Outcome.CRASHED
    assert done.record.exit_code == 1
    assert "Operation not permitted" in done.log


@pytest.mark.engine
def test_an_engine_whose_name_spaces_are_not_ours(
    plain: str, small: RunLimits, notes: list[SentNote], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for a harness in a container of its own: it falls back to a network for the submission alone."""
    monkeypatch.setattr("sandscore.containers.engines.docker.network_isolation.open_namespace", lambda _: None)
    done = go("image", plain, notes, small)
    assert done.record.outcome is Outcome.FINISHED, done.record.reason
    assert done.record.isolation == "own internal network, host cut off"


@pytest.mark.engine
def test_a_batch_submission(python_image: "PythonImages", small: RunLimits, notes: list[SentNote]) -> None:
    image = python_image("batch", BATCH)
    done = go("image", image, notes, small, protocol="batch", check_determinism=True, check_robustness=True)
    assert done.record.outcome is Outcome.FINISHED, done.record.reason
    assert done.answers is not None
    assert [len(json.loads(answer)) for answer in done.answers] == [1, 0, 2]
    assert done.record.exit_code == 0
    assert done.record.determinism is not None
    assert done.record.determinism.passed
    assert done.record.robustness is not None
    assert done.record.robustness.passed
    assert done.log == "no newline at the end"


@pytest.mark.engine
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        pytest.param(
            'print("[]", end="", file=out)', "no entry for 3 of 3 notes, the first is n-1", id="notes missing"
        ),
        pytest.param('print("[", end="", file=out)', "predictions.json: line 1", id="not JSON"),
        pytest.param(
            'print(\'[{"annotationSource": {"resourceSource": {"name": "x"}}}]\', file=out)',
            "/0 is about a note that was not given",
            id="another note",
        ),
        pytest.param("out.truncate(2 << 20)", "2,097,152 bytes, more than the 1,048,", id="too long"),
    ],
)
def test_batch_results_that_are_refused(
    python_image: "PythonImages", small: RunLimits, notes: list[SentNote], program: str, reason: str
) -> None:
    name = f"batch-{abs(hash(program))}"
    image = python_image(name, f"out = open('/output/predictions.json', 'w')\n{program}\n")
    done = go("image", image, notes, small.model_copy(update={"output_bytes": MIB}), protocol="batch")
    assert done.record.outcome is Outcome.INVALID_OUTPUT
    assert reason in str(done.record.reason)
    assert done.answers is None


@pytest.mark.engine
@pytest.mark.parametrize(
    ("lines", "outcome", "reason"),
    [
        pytest.param(('ENTRYPOINT ["/nothing"]',), Outcome.CRASHED, "exit code 127", id="no such program"),
        pytest.param(("VOLUME relative",), Outcome.CRASHED, "VOLUME 'relative'", id="a volume no memory covers"),
        pytest.param(("WORKDIR /a", "VOLUME /etc/x", "USER nobody:nogroup"), Outcome.FINISHED, None, id="own user"),
    ],
)
def test_what_an_image_says_of_itself(
    python_image: "PythonImages",
    small: RunLimits,
    notes: list[SentNote],
    lines: tuple[str, ...],
    outcome: Outcome,
    reason: str | None,
) -> None:
    done = go("image", python_image(f"says-{abs(hash(lines))}", PLAIN, *lines), notes, small)
    assert done.record.outcome is outcome
    assert (done.record.reason or "").find(reason or "") >= 0


def test_a_server_for_another_task_is_refused(small: RunLimits, notes: list[SentNote]) -> None:
    names = find_task("person-name")
    command = f"{sys.executable} {STANDINS / 'service.py'}"
    done = run(RunJob(names, Annotator("command", command), notes, "0" * 64, small))
    assert done.record.outcome is Outcome.INVALID_OUTPUT
    assert done.record.reason == "the tool says it is for the task date, not for person-name"


def test_the_total_time_ends_a_run(small: RunLimits, notes: list[SentNote]) -> None:
    sleeper = f"{sys.executable} -c 'import time; time.sleep(60)'"
    done = go("command", sleeper, notes, small.model_copy(update={"total_seconds": 0.5}))
    assert done.record.outcome is Outcome.NEVER_READY
    assert done.record.seconds.total is not None
    assert done.record.seconds.total < 20


def test_a_command_ends_with_its_whole_group(small: RunLimits, notes: list[SentNote], tmp_path: Path) -> None:
    script = f"sleep 300 & echo $! >{tmp_path}/child; exec {sys.executable} {STANDINS / 'service.py'}"
    done = go("command", f"sh -c '{script}'", notes, small)
    assert done.record.outcome is Outcome.FINISHED
    child = (tmp_path / "child").read_text(encoding="ascii").strip()
    listed = subprocess.run(["ps", "-o", "stat=", "-p", child], capture_output=True, text=True, check=False)
    assert listed.stdout.strip()[:1] in ("", "Z")


def test_a_command_that_ends_too_soon(small: RunLimits, notes: list[SentNote]) -> None:
    done = go("command", f"{sys.executable} -c 'print(\"sorry\"); raise SystemExit(3)'", notes, small)
    assert done.record.outcome is Outcome.CRASHED
    assert done.record.reason == "the command ended by itself with exit code 3"
    assert done.record.exit_code == 3
    assert done.log == "sorry\n"

"""The wire to child processes: every message comes out as it went in, and what is no message is a fault of ours."""

import asyncio
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from released_samples import packed

from sandscore.base.errors import InfrastructureFault
from sandscore.queue.children import child_messages
from sandscore.queue.children.child_messages import (
    BATCH_ANSWERS,
    BATCH_REQUESTS,
    BOARDS_ANSWERS,
    BOARDS_REQUESTS,
    RUNNER_ANSWERS,
    RUNNER_REQUESTS,
    BatchAnswer,
    BatchRequest,
    Blame,
    BoardsAnswer,
    BoardsRequest,
    FaultAnswer,
    GoldAnswer,
    GoldChange,
    GoldRequest,
    RecountAnswer,
    RecountRequest,
    RunAnswer,
    ScoreAnswer,
    ScoredSubmission,
    SubmissionRunRequest,
    SubmissionScoreRequest,
    SweepAnswer,
    SweepRequest,
    as_line,
)
from sandscore.queue.children.child_process import Child, runner_environment
from sandscore.records.run_record import Outcome, RunLimits

SCORE = SubmissionScoreRequest("date", "final", "s1", "Team", None, "2026-01-01T00:00:00Z", 2, "/a")
GOLD = GoldRequest("date", None, "0" * 12, {"s1": "/a"})
SCORED = ScoreAnswer({"instance_strict": 0.5, "token": None}, "v1|x", packed({"measures": {"token": {"f1": 0.25}}}))
COMPARED = GoldAnswer((GoldChange("added", "n1", 0, 4, None),), {"s1": (0,)})
FAULT = FaultAnswer(Blame.ORGANISER, "gold not valid")
ON_A_BOARD = ScoredSubmission("s1", "Team", "date", None, 1, "2026-01-01T00:00:00Z", 0.5, True, "/card.json")

MESSAGES: list[tuple[Any, "msgspec.json.Decoder[Any]"]] = [
    (SubmissionRunRequest("date", "sha256:0", "/n", "/a", "batch", 2, RunLimits(cpus=2.0), (0, 7)), RUNNER_REQUESTS),
    (SweepRequest(), RUNNER_REQUESTS),
    (BatchRequest((SCORE, GOLD)), BATCH_REQUESTS),
    (BoardsRequest((ON_A_BOARD,)), BOARDS_REQUESTS),
    (RunAnswer(Outcome.TIMED_OUT, "it took too long"), RUNNER_ANSWERS),
    (SweepAnswer(3), RUNNER_ANSWERS),
    (BatchAnswer((SCORED, COMPARED, FAULT)), BATCH_ANSWERS),
    (BoardsAnswer(("/b.json",), {"s1": packed({"rank": 1})}, ("w",)), BOARDS_ANSWERS),
    (FAULT, RUNNER_ANSWERS),
    (FAULT, BATCH_ANSWERS),
    (FAULT, BOARDS_ANSWERS),
]


@pytest.mark.parametrize(("message", "decoder"), MESSAGES, ids=lambda value: type(value).__name__)
def test_a_message_comes_out_as_it_went_in(message: Any, decoder: "msgspec.json.Decoder[Any]") -> None:
    line = as_line(message)
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert decoder.decode(line) == message


def test_every_kind_of_message_was_sent() -> None:
    kinds = {kind for _, kind in inspect.getmembers(child_messages, inspect.isclass) if _tag(kind)}
    assert kinds == {type(message) for message, _ in MESSAGES} | {
        SubmissionScoreRequest,
        GoldRequest,
        ScoreAnswer,
        GoldAnswer,
        RecountRequest,
        RecountAnswer,
    }
    assert len({_tag(kind) for kind in kinds}) == len(kinds)


def _tag(kind: type) -> object:
    return getattr(getattr(kind, "__struct_config__", None), "tag", None)


BABBLE = [
    pytest.param(b"no JSON", id="no JSON"),
    pytest.param(b"{}", id="no tag"),
    pytest.param(b'{"type":"scored","scores":{},"signature":""}', id="another child's answer"),
    pytest.param(b'{"type":"ran"}', id="a field is missing"),
    pytest.param(b'{"type":"ran","outcome":"splendid"}', id="no outcome of ours"),
    pytest.param(b'{"type":"swept","removed":1,"and":2}', id="a field too many"),
    pytest.param(b"", id="nothing"),
    pytest.param(b"\xff\xfe", id="not UTF-8"),
]


@pytest.mark.parametrize("said", BABBLE)
def test_what_is_no_answer_is_a_fault_of_ours(said: bytes) -> None:
    async def asked() -> None:
        child = Child("runner", (), runner_environment(), RUNNER_ANSWERS)
        program = f"import sys; sys.stdin.readline(); sys.stdout.buffer.write({said!r} + b'\\n')"
        child._command = (sys.executable, "-c", program)
        with pytest.raises(InfrastructureFault, match=r"^a child process ended without an answer \(exit code -?\d+\)$"):
            await child.ask(SweepRequest(), 30)

    asyncio.run(asked())


def test_limits_that_cannot_be_are_no_request() -> None:
    line = as_line(MESSAGES[0][0]).replace(b'"cpus":2.0', b'"cpus":-2.0')
    with pytest.raises(ValueError, match="greater than 0"):
        RUNNER_REQUESTS.decode(line)


def test_a_child_whose_parent_is_gone_ends_in_silence() -> None:
    """The reader of its answers died; there is neither a traceback nor a fault."""
    program = (
        "import msgspec\nfrom sandscore.queue.children.child_answers import serve\n"
        "from sandscore.queue.children.child_messages import FaultAnswer, Blame\n"
        "serve(lambda _: FaultAnswer(Blame.INFRASTRUCTURE, 'x'), msgspec.json.Decoder())\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.close()
        child.stdout = None
        _, said = child.communicate(b"1\n2\n", timeout=60)
    assert (child.returncode, said) == (0, b"")


@pytest.mark.parametrize("asked", [b"", b'{"type":"boa'], ids=["nothing", "half a request"])
@pytest.mark.parametrize("module", ["publisher", "runner", "scorer"])
def test_a_child_that_was_never_asked_to_the_end_ends_in_silence(module: str, asked: bytes, tmp_path: Path) -> None:
    """Its parent was killed while it asked."""
    command = [sys.executable, "-m", f"sandscore.queue.children.{module}_process", str(tmp_path)]
    ran = subprocess.run(command, input=asked, capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_a_child_ends_even_if_it_is_asked_to_where_nothing_gets_through() -> None:
    """Its parent goes while it is in a destructor, out of which the interpreter lets no exception."""
    program = (
        "import msgspec, sys, time\nfrom sandscore.queue.children.child_answers import answer_once\n"
        "class Slow:\n"
        "    def __del__(self):\n"
        "        print('in', file=sys.stderr, flush=True)\n"
        "        time.sleep(60)\n"
        "def work(_):\n"
        "    Slow()\n"
        "    time.sleep(60)\n"
        "answer_once(work, msgspec.json.Decoder())\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.write(b"1\n")
        child.stdin.flush()
        assert child.stderr.readline() == b"in\n"
        child.stdin.close()
        assert (child.wait(timeout=30), child.stderr.read()) == (75, b"")

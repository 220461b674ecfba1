"""The harness itself stays under 300 MB, whatever it is answered; measured in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
MOST_MB = 300
HEAD = """
import sys
from sandscore.records.run_record import RunLimits
from sandscore.containers.hostile.firing_range import attack
from sandscore.containers.hostile.hostile_set import choose
from sandscore.containers.sent_notes import SentNote
from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.run_context import Annotator
from sandscore.task_table.task import find_task
"""
TAIL = """
status = open("/proc/self/status").read()
print(int(status.partition("VmHWM:")[2].split()[0]) >> 10)
"""
"""Not getrusage: what a process used before it became another program counts there."""

ANSWERED = """
notes = [SentNote(f"n-{i}", f"n-{i}", "word " * 200_000) for i in range(6)]
command = f"{sys.executable} {sys.argv[1]}"
done = run(RunJob(find_task("date"), Annotator("command", command), notes, "0" * 64, RunLimits(note_seconds=100)))
assert done.record.outcome == "invalid_output", done.record.reason
"""
ATTACKED = """
names = ["endless-answer", "compressed-answer", "huge-answer", "deep-json", "log-flood", "sparse-out", "full-output"]
assert [v.complaints for v in attack(RunLimits(), cases=choose(names))] == [()] * len(names)
"""


def peak_mb(program: str, *words: str, **environment: str) -> int:
    """Peak memory of a fresh interpreter that runs the program."""
    ran = subprocess.run(
        [sys.executable, "-c", HEAD + program + TAIL, *words],
        env=os.environ | {"PYTHONPATH": str(ROOT / "scoring")} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout)


@pytest.mark.parametrize("unit", ["{}", "[[]]", "1", '"a"'])
def test_answers_of_the_longest_kind(unit: str) -> None:
    assert peak_mb(ANSWERED, str(Path(__file__).parent / "standins" / "bloated.py"), UNIT=unit) < MOST_MB


@pytest.mark.engine
def test_attacks_with_the_limits_of_everyday() -> None:
    assert peak_mb(ATTACKED) < MOST_MB

"""An original scorer beside ours: what every ``peers_*.py`` needs.

Originals run as subprocesses in environments of their own, time themselves without starting up, and must agree
with ours before a ratio is taken. Time is CPU time; rounds are interleaved and their medians divided.
"""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple, TypeVar

from sandscore.annotations.record_reader import collector_paused

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Beside:
    """CPU seconds for the same work: the original's and ours."""

    peer: str
    corpus: str
    theirs: float
    ours: float
    required: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


class Round(NamedTuple):
    """Seconds of one round."""

    theirs: float
    ours: float


def measured(peer: str, corpus: str, required: float, rounds: Sequence[Round]) -> Beside:
    """The medians of the rounds."""
    theirs, ours = zip(*rounds, strict=True)
    return Beside(peer, corpus, median(theirs), median(ours), required)


def original(name: str, script: str, request: Any) -> Any:
    """The answer of a script that runs in the environment of that original, which is made first if need be."""
    python = import_module("tools.peer_env").ready(name)
    done = subprocess.run(
        [str(python), "-W", "ignore", str(ROOT / script)],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What it returns, and its CPU seconds, the collector paused as when ``sandscore score`` runs a profile."""
    with collector_paused():
        started = process_time()
        result = work()
        return result, process_time() - started


def must_agree(what: str, theirs: Any, ours: Any) -> None:
    """A ratio between scorers that differ says nothing."""
    if theirs != ours:
        raise SystemExit(f"the two disagree on {what}")


def table(found: Sequence[Beside]) -> str:
    """A line a comparison."""
    lines = [f"{'original':26}{'corpus':38}{'its CPU s':>10}{'our CPU s':>11}{'ratio':>8}{'required':>10}"]
    lines += [f"{b.peer:26}{b.corpus:38}{b.theirs:10.3f}{b.ours:11.4f}{b.ratio:8.1f}{b.required:10.0f}" for b in found]
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    """What the seconds, but hardly the ratios, depend on."""
    facts = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    model = next((line.partition(":")[2].strip() for line in facts.splitlines() if line.startswith("model name")), "")
    return {
        "cpu": model or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def report(found: Sequence[Beside]) -> int:
    """Prints the table; 1 where a ratio is below what is required."""
    print(table(found))
    return int(any(b.ratio < b.required for b in found))

"""Asks an original scorer in an environment of its own, which ``tools/peer_env.py`` makes where it is missing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def answers_of(name: str, script: str, cases: list[Any]) -> list[dict[str, Any]]:
    """The original's answer to each case; ``script`` lies beside this module."""
    python = _succeeding([sys.executable, str(ROOT / "tools" / "peer_env.py"), name], "").strip()
    command = [python, "-W", "ignore", str(Path(__file__).with_name(script))]
    found: list[dict[str, Any]] = json.loads(_succeeding(command, json.dumps({"cases": cases})))
    return found


def _succeeding(command: list[str], given: str) -> str:
    finished = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout

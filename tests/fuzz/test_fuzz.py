"""10,000 hostile inputs, each ending in an exit code of the contract; ``make fuzz`` runs twenty times as many."""

import contextlib
import io
from pathlib import Path

import pytest
from fuzz.hostile import attack

SHARDS, ROUNDS = 16, 625


@pytest.mark.parametrize("seed", range(SHARDS))
def test_hostile_inputs(seed: int, tmp_path: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        attack(tmp_path, seed, ROUNDS)

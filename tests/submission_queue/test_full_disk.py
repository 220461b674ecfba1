"""A disk that is really full, in a mount namespace that goes away with the test."""

import subprocess
import sys
from pathlib import Path

import pytest
import queue_disk

SCRIPT = Path(queue_disk.__file__)


@pytest.fixture(scope="module")
def apart() -> list[str]:
    """How to get a mount namespace: by right, or as the root of a user namespace of our own."""
    for words in (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"]):
        if (
            subprocess.run(
                [*words, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False
            ).returncode
            == 0
        ):
            return words
    raise AssertionError("neither root nor a user namespace is to be had: nothing can be mounted")


@pytest.mark.parametrize("story", queue_disk.STORIES)
def test_a_full_disk(tmp_path: Path, apart: list[str], story: str) -> None:
    done = subprocess.run(
        [*apart, sys.executable, SCRIPT, story, tmp_path], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]

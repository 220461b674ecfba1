"""A Synapse of our own, for tests that only need to talk to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from submission_queue.synapse_standin import Queue, synapse


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with synapse(tmp_path / "synapse") as found:
        yield found

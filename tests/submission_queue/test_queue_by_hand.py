"""Small pieces of the queue with stand-ins for everything around them."""

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ranking_cards import entry

from sandscore.base.errors import InfrastructureFault, OrganiserFault
from sandscore.queue.homes.synapse.synapse_home import SynapseHome
from sandscore.queue.homes.synapse.synapse_routes import routes
from sandscore.queue.rescoring import _ranks
from sandscore.queue.worker.queue_worker import tidy
from sandscore.queue.workspace import SCRATCH
from sandscore.records.challenge import Challenge
from sandscore.records.ranking_rules import BoardRules


def workspace(folder: Path, *tasks: str) -> Any:
    return SimpleNamespace(
        root=folder,
        private=folder,
        boards=folder / "boards",
        attempts=folder,
        challenge=Challenge(challenge="c"),
        tasks=lambda _: list(tasks),
        data=lambda _: folder,
    )


def options(task: str | None) -> Any:
    return SimpleNamespace(task=task, phase=None)


def test_the_task_of_a_queue(tmp_path: Path) -> None:
    assert routes(workspace(tmp_path, "date"), options(None), None).fixed == "date"
    assert routes(workspace(tmp_path, "date", "location"), options("location"), None).fixed == "location"
    with pytest.raises(OrganiserFault, match="there is no gold for the task 'location'"):
        routes(workspace(tmp_path, "date"), options("location"), None)
    with pytest.raises(OrganiserFault, match="there is no gold in"):
        routes(workspace(tmp_path), options(None), None)


def test_a_queue_that_is_not_open_says_so() -> None:
    home = object.__new__(SynapseHome)
    home._parts = None
    with pytest.raises(InfrastructureFault, match="the queue is not open"):
        home._on  # noqa: B018 (reading it is what fails)


def test_half_written_folders_and_files_of_long_ago_go(tmp_path: Path) -> None:
    old_folder, old_file, fresh = (tmp_path / f"{SCRATCH}{name}" for name in ("old", "file", "fresh"))
    for folder in (old_folder, fresh):
        folder.mkdir()
    old_file.touch()
    for path in (old_folder, old_file):
        os.utime(path, (0, 0))
    home: Any = SimpleNamespace(submissions=nothing)
    hands: Any = SimpleNamespace()
    asyncio.run(tidy(home, workspace(tmp_path), hands))
    assert list(tmp_path.glob(f"{SCRATCH}*")) == [fresh]


async def nothing() -> list[Any]:
    return []


def test_ranks_before_and_after() -> None:
    good, poor = entry("good", [(4, 0, 0)] * 5), entry("poor", [(3, 1, 1)] * 5)
    members: Any = [SimpleNamespace(before=good, after=None), SimpleNamespace(before=poor, after=poor)]
    assert _ranks(members, BoardRules(), new=False) == {"good": 1, "poor": 2}
    assert _ranks(members, BoardRules(), new=True) == {"poor": 1}
    assert _ranks([], BoardRules(), new=True) == {}

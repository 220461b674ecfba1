"""Nothing lost, nothing twice, in either home and on a cluster: the short form of benchmarks/queue_crashes.py."""

from pathlib import Path

import pytest
from queue_samples import as_older_versions
from queue_siege import DaskSiege, ImageSiege, Siege
from submission_queue.synapse_standin import synapse
from synapse_siege import SynapseSiege
from year_siege import YearSiege


def test_killed_workers_change_nothing(tmp_path: Path) -> None:
    """Until two have died at once and one over its work: how fast the machine is decides whom a blow meets."""
    siege = Siege(tmp_path, seed=7, submissions=24)
    siege.attack(kills=12)
    while not (siege.band.doubles and siege.lost()):
        siege.attack(kills=siege.band.kills + 3)
    siege.drain()
    ended = siege.check()
    assert ended["SCORED"] > ended["INVALID"] > 0


def test_nor_while_an_older_folder_is_moved(tmp_path: Path) -> None:
    siege = Siege(tmp_path, seed=2, submissions=8)
    as_older_versions(siege.workspace.root)
    siege.attack(kills=5)
    siege.drain()
    assert siege.check()["SCORED"] > 0
    assert {path.name for path in siege.workspace.root.iterdir() if not path.is_symlink()} == {"private", "public"}


def test_nor_images_that_rehearse_and_wait_for_ticks(tmp_path: Path) -> None:
    siege = ImageSiege(tmp_path, seed=11, submissions=4)
    siege.besiege(kills=4)
    siege.drain()
    assert siege.check() == {"SCORED": 4}


def test_nor_on_synapse(tmp_path: Path) -> None:
    with synapse(tmp_path) as queue:
        siege = SynapseSiege(queue, seed=5, submissions=6)
        siege.attack(kills=4)
        siege.drain()
        ended = siege.check()
    assert ended["SCORED"] > 0


def test_nor_on_a_cluster(tmp_path: Path) -> None:
    siege = DaskSiege(tmp_path, seed=3, submissions=12)
    siege.attack(kills=4)
    siege.drain()
    assert siege.check()["SCORED"] > 0


@pytest.mark.slow
def test_nor_over_a_year_of_phases_restores_and_an_upgrade(tmp_path: Path) -> None:
    siege = YearSiege(tmp_path, seed=4, submissions=9)
    siege.besiege(kills=4)
    siege.drain()
    ended = siege.check()
    assert min(siege.edits, siege.moves, siege.refused) > 0
    assert siege.upgrade(kills=1) == ended

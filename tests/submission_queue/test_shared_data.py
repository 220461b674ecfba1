"""Files that phases share, told by content."""

import gzip
import shutil
from pathlib import Path

import pytest

from sandscore.base.errors import OrganiserFault
from sandscore.challenges.challenge_reading import parse_challenge
from sandscore.queue.queue_setup import check_data
from sandscore.queue.settings import QueueSettings
from sandscore.queue.shared_data import policy_in
from sandscore.queue.workspace import Workspace

EXAMPLE = Path(__file__).resolve().parents[2] / "gold" / "example"


def workspace(tmp_path: Path, phases: str, *, same: bool = True) -> Workspace:
    folders = {}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        folders[name] = str(tmp_path / name)
        for file in ("notes.json", "date.json"):
            content = (EXAMPLE / file).read_bytes()
            (tmp_path / name / file).write_bytes(content if same or name == "a" else content + b"\n")
    challenge = parse_challenge(b'challenge = "c"\n' + phases.encode(), "challenge.toml")
    return Workspace(tmp_path, challenge, QueueSettings(data=folders))


@pytest.mark.parametrize("same", [True, False])
def test_an_ended_phase_waits_for_those_with_the_same_files(tmp_path: Path, *, same: bool) -> None:
    made = workspace(tmp_path, '[[phases]]\nname = "a"\nended = true\n[[phases]]\nname = "b"\n', same=same)
    assert policy_in(made, "date", "a").exact is not same


def test_packed_files_are_the_same_as_plain_ones(tmp_path: Path) -> None:
    made = workspace(tmp_path, '[[phases]]\nname = "a"\nended = true\n[[phases]]\nname = "b"\n')
    (tmp_path / "b" / "date.json.gz").write_bytes(gzip.compress((tmp_path / "b" / "date.json").read_bytes()))
    (tmp_path / "b" / "date.json").unlink()
    shutil.copy(EXAMPLE / "notes.json", tmp_path / "b" / "notes.json")
    assert not policy_in(made, "date", "a").exact


def test_two_phases_that_contradict_each_other_about_one_file(tmp_path: Path) -> None:
    made = workspace(tmp_path, '[[phases]]\nname = "a"\ngold = "public"\n[[phases]]\nname = "b"\n')
    with pytest.raises(OrganiserFault, match=r"^the phases 'a' \(gold = 'public'\) and 'b' \(gold = 'hidden'\) use"):
        check_data(made)

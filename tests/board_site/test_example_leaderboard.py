"""The leaderboard in the repository is what its tool makes of the example challenge today, byte for byte."""

from pathlib import Path

import pytest

from sandscore.records.run_record import Outcome, RunRecord
from sandscore.verification.board_verification import verify

ROOT = Path(__file__).resolve().parents[2]
LEADERBOARD = ROOT / "leaderboard"


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_making_it_again_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from tools.make_leaderboard import make

    make(tmp_path)
    there = {name: data for name, data in files(LEADERBOARD).items() if name != "README.md" and "runs/" not in name}
    made = files(tmp_path)
    assert made.keys() == there.keys(), "python -m tools.make_leaderboard makes it anew"
    assert [name for name in made if made[name] != there[name]] == [], "python -m tools.make_leaderboard makes it anew"


@pytest.mark.parametrize("task", ["date", "person-name", "address"])
def test_every_board_is_recomputed_from_its_cards(task: str) -> None:
    assert verify(LEADERBOARD / f"{task}-final" / "board.json").cards == 2


def test_run_records_are_of_runs_that_finished() -> None:
    records = [RunRecord.model_validate_json(path.read_bytes()) for path in sorted(LEADERBOARD.glob("runs/*.json"))]
    assert [record.outcome for record in records] == [Outcome.FINISHED] * 6
    assert {record.kind for record in records} == {"image"}

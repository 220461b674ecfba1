"""Runs of shards, gathered: the bytes of one run of all notes; and everything that is no whole run is refused."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.running import sandscore
from msgspec.structs import replace

from sandscore import api
from sandscore.base.errors import UsageFault
from sandscore.containers.kept_answers import RunIdentity
from sandscore.containers.run_shards import notes_of, shard_of
from sandscore.containers.sent_notes import read_notes
from sandscore.records.run_record import RunRecord, RunShard

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
NOTES = ROOT / "gold" / "example" / "notes.json"
SERVICE = f"{sys.executable} {Path(__file__).parent / 'standins' / 'slow_service.py'}"
Editing = Callable[[Path], object]


def run(folder: Path, *more: str) -> None:
    ran = sandscore("run", *(more or ("date",)), "--command", SERVICE, "--notes", NOTES, "-o", folder)
    assert ran.code == 0, ran.err


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of date one run of all notes and three shards; of two tasks two shards."""
    folder = tmp_path_factory.mktemp("runs")
    run(folder / "all")
    for number in (1, 2, 3):
        run(folder / f"date-{number}", "date", "--shard", f"{number}/3")
    for number in (1, 2):
        run(folder / f"both-{number}", "--tasks", "date,address", "--shard", f"{number}/2")
    return folder


def record(folder: Path) -> RunRecord:
    return RunRecord.model_validate_json((folder / "run.json").read_bytes())


def test_gathered_is_a_run_of_all_notes(runs: Path, tmp_path: Path) -> None:
    """72 notes in three shards of 24 (gold/example); given in any order."""
    shards = [record(runs / f"date-{number}") for number in (1, 2, 3)]
    assert [one.shard for one in shards] == [RunShard(number=number, of=3, notes=72) for number in (1, 2, 3)]
    assert [one.notes for one in shards] == [24, 24, 24]
    done = api.gather([runs / "date-3", runs / "date-1", runs / "date-2"], tmp_path / "run")
    assert (tmp_path / "run" / "predictions.json").read_bytes() == (runs / "all" / "predictions.json").read_bytes()
    assert record(tmp_path / "run") == done.record
    assert (done.record.shard, done.record.shards, done.record.notes) == (None, 3, 72)
    assert done.record.notes_sha256 == record(runs / "all").notes_sha256
    assert done.record.seconds.total == max(one.seconds.total or 0 for one in shards)
    log = (tmp_path / "run" / "log.txt").read_text(encoding="utf-8")
    assert [line for line in log.splitlines() if line.startswith("== shard")] == [
        f"== shard {number} of 3 ==" for number in (1, 2, 3)
    ]


def test_several_tasks_each_have_a_folder(runs: Path, tmp_path: Path) -> None:
    ran = sandscore("gather", runs / "both-1", runs / "both-2", "-o", tmp_path / "run", "--format", "json")
    assert [(one["task"], one["shards"]) for one in json.loads(ran.out)] == [("address", 2), ("date", 2)]
    made = (tmp_path / "run" / "date" / "predictions.json").read_bytes()
    assert made == (runs / "all" / "predictions.json").read_bytes()


@pytest.mark.parametrize(("of", "sizes"), [(1, [72]), (5, [15, 15, 14, 14, 14]), (72, [1] * 72)])
def test_every_note_is_in_one_shard(of: int, sizes: list[int]) -> None:
    notes, _ = read_notes(str(NOTES))
    shards = [notes_of(notes, RunShard(number=number, of=of, notes=72)) for number in range(1, of + 1)]
    assert [len(shard) for shard in shards] == sizes
    assert sorted(note.name for shard in shards for note in shard) == sorted(note.name for note in notes)


@pytest.mark.parametrize("written", ["0/3", "4/3", "3", "1/0", "a/b", "1/3/5", "-1/3", "²/3", ""])
def test_what_is_no_shard(written: str) -> None:
    with pytest.raises(UsageFault, match="is no shard; write 3/10"):
        shard_of(written, 72)


def test_more_shards_than_notes(tmp_path: Path) -> None:
    ran = sandscore("run", "date", "--command", "x", "--notes", NOTES, "--shard", "1/73", "-o", tmp_path / "run")
    assert ran.code == 2
    assert "there are 72 notes, so 73 shards are too many" in ran.err


def edited(**changes: object) -> Editing:
    def edit(folder: Path) -> None:
        path = folder / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")

    return edit


REFUSED: list[tuple[Editing, int, str]] = [
    (shutil.rmtree, 66, "date-2: holds no run.json of a run"),
    (lambda folder: (folder / "predictions.json").unlink(), 66, "predictions.json: there is no such file"),
    (lambda folder: (folder / "predictions.json").write_text("[]"), 65, "has 0 notes, and its run.json says 24"),
    (lambda folder: (folder / "predictions.json").write_text("[{"), 65, "this is no prediction file of a run"),
    (lambda folder: (folder / "run.json").write_text("{"), 65, "is not the record of a run"),
    (edited(outcome="timed_out", reason="too long"), 65, "shard 2 did not finish (timed_out): too long"),
    (edited(outcome="infrastructure", reason="no disk"), 75, "shard 2 did not finish (infrastructure): no disk"),
    (edited(notes_sha256="0" * 64), 2, "are no shards of one run: they differ in notes_sha256"),
    (edited(sandscore="0.0.9"), 2, "they differ in sandscore"),
    (edited(shard=None), 2, "is a run of all notes and no shard"),
    (edited(shard={"number": 2, "of": 4, "notes": 72}), 2, "they differ in number of shards"),
    (edited(shard={"number": 1, "of": 3, "notes": 72}), 2, "are both shard 1"),
    (edited(image={"reference": "x", "id": "sha256:1", "size_bytes": 1}), 2, "they differ in image"),
]


@pytest.mark.parametrize(("edit", "code", "said"), REFUSED, ids=[said for _, _, said in REFUSED])
def test_what_is_no_whole_run_is_refused(runs: Path, tmp_path: Path, edit: Editing, code: int, said: str) -> None:
    for number in (1, 2, 3):
        shutil.copytree(runs / f"date-{number}", tmp_path / f"date-{number}")
    edit(tmp_path / "date-2")
    ran = sandscore("gather", *(tmp_path / f"date-{number}" for number in (1, 2, 3)), "-o", tmp_path / "run")
    assert (ran.code, ran.out) == (code, "")
    assert said in " ".join(ran.err.split())
    assert not (tmp_path / "run").exists()


def test_missing_shards_are_named(runs: Path, tmp_path: Path) -> None:
    ran = sandscore("gather", runs / "date-2", "-o", tmp_path / "run")
    assert ran.code == 66
    assert "of 3 shards of date these are missing: 1, 3" in ran.err


def test_a_shard_is_not_written_over(runs: Path) -> None:
    ran = sandscore("gather", *(runs / f"date-{number}" for number in (1, 2, 3)), "-o", runs / "date-1")
    assert ran.code == 2
    assert (runs / "date-1" / "predictions.json").exists()


def test_the_answers_of_another_shard_are_not_its_own() -> None:
    one = RunIdentity("date", "command", "x", "y", 36, "1/2")
    assert one.difference(replace(one, shard="2/2")) == "another shard, 1/2 and not 2/2"
    assert one.difference(replace(one, shard="")) == "another shard, 1/2 and not all notes"

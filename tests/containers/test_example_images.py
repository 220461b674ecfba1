"""The example submissions as images: isolated, they find what their predictions file in the repository holds."""

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandscore.containers.annotation_run import RunJob, predictions, run
from sandscore.containers.engines.docker.image_store import build_image
from sandscore.containers.participant_template import example
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import read_notes
from sandscore.records.run_record import Outcome, RunLimits
from sandscore.task_table.task import find_task

if TYPE_CHECKING:
    from docker import DockerClient

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted((ROOT / "submissions").glob("*/submission.json"))


@pytest.mark.engine
@pytest.mark.usefixtures("python_image")
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.parent.name)
def test_same_predictions(
    client: "DockerClient", manifest: Path, tmp_path: Path, unpacked_images: Path, apptainer: Path
) -> None:
    told = json.loads(manifest.read_text(encoding="utf-8"))
    task = find_task(told["task"])
    image = f"sandscore-test-{os.getpid()}-{manifest.parent.name}"
    build_image(client, image, example(manifest.parent.name, task), {"BASE": "sandscore-base:bookworm"})
    notes, digest = read_notes(ROOT / "gold" / "example" / "notes.json")
    archive = tmp_path / "image.tar"
    try:
        done = run(RunJob(task, Annotator("image", image), notes, digest, RunLimits()))
        if manifest.parent.name.endswith("good"):  # an archive of each would fill a disk
            with archive.open("wb") as file:
                file.writelines(client.images.get(image).save())
    finally:
        client.images.remove(image, force=True)
    assert done.record.outcome is Outcome.FINISHED, done.record.reason
    assert done.answers is not None
    held = json.loads((manifest.parent / told["predictions"]).read_bytes())
    assert json.loads(b"".join(predictions(task, notes, done.answers))) == held
    if archive.exists():
        assert apptainer.exists()
        for engine in ("bubblewrap", "apptainer") if task.id == "date" else ("bubblewrap",):
            again = run(
                RunJob(task, Annotator("image", f"oci-archive:{archive}"), notes, digest, RunLimits(), engine=engine)
            )
            assert again.answers == done.answers, "the same bytes without a daemon"
            assert again.record.image is not None
            assert done.record.image is not None
            assert again.record.image.id == done.record.image.id
        shutil.rmtree(unpacked_images)
        archive.unlink()


def test_there_are_a_good_and_a_weaker_one_for_each_task_of_the_challenge() -> None:
    names = [path.parent.name for path in MANIFESTS]
    assert names == [f"{task}-{kind}" for task in ("address", "date", "person-name") for kind in ("good", "weak")]

"""The worker tells its runner which registries this team may name, and whether they were asked in vain before."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from queue_samples import queue

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.containers.registries.image_pull import REGISTRY_FAILED
from sandscore.queue.children.child_messages import SubmissionRunRequest
from sandscore.queue.worker.attempt import Attempts
from sandscore.records.challenge import Images
from sandscore.records.submission import Claim, Status, Submission, SubmissionKind

LOCAL = "sha256:" + "0" * 64
OWN, RIVALS = f"registry.example.org/alpha/tool@{LOCAL}", f"registry.example.org/beta/tool@{LOCAL}"
LISTED = ("registry.example.org/{team}",)


def job(folder: Path, image: str, listed: tuple[str, ...] | None, reason: str | None = None) -> SubmissionRunRequest:
    made = queue(folder)
    workspace = replace(made, given=made.challenge.model_copy(update={"images": Images(registries=listed)}))
    one = Submission(
        "s1", "alpha", "date", SubmissionKind.IMAGE, Status.RECEIVED, "2026-01-01T00:00:00Z", image=image, reason=reason
    )
    nobody: Any = SimpleNamespace()
    return Attempts(nobody, workspace, nobody, nobody)._run_job(
        Claim(one, 1, "owner", "nonce", 30.0), folder / "attempt"
    )


@pytest.mark.parametrize(
    ("reason", "failed"),
    [(None, False), ("no engine", False), (f"{REGISTRY_FAILED}it answered with status 500", True)],
)
def test_a_registry_that_failed_is_remembered(tmp_path: Path, reason: str | None, failed: bool) -> None:
    told = job(tmp_path / "q", OWN, LISTED, reason)
    assert (told.registries, told.registry_failed) == (("registry.example.org/alpha",), failed)


def test_without_a_list_nobody_is_asked(tmp_path: Path) -> None:
    assert job(tmp_path / "q", LOCAL, None).registries == ()


@pytest.mark.parametrize(
    ("image", "listed", "fault", "words"),
    [
        (OWN, None, OrganiserFault, r"\[images\] registries"),
        (RIVALS, LISTED, ParticipantFault, "registry.example.org/alpha/…"),
        (LOCAL, LISTED, ParticipantFault, "registry.example.org/alpha/…"),
    ],
)
def test_no_image_is_run_that_may_not_be_named(
    tmp_path: Path, image: str, listed: tuple[str, ...] | None, fault: type[Exception], words: str
) -> None:
    """However it came into the queue: on Synapse nobody looks before the worker."""
    with pytest.raises(fault, match=words):
        job(tmp_path / "q", image, listed)

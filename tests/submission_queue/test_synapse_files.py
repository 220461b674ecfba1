"""Submitted files: only those that Synapse keeps, of a known size, whole, under a name of ours."""

from pathlib import Path
from typing import Any

import pytest
from submission_queue.standin.routing import Request
from submission_queue.standin.world import PARTICIPANT
from submission_queue.synapse_homes import claimed, opened, run
from submission_queue.synapse_standin import LOST, Fault, Queue

from sandscore.base.errors import InfrastructureFault, ParticipantFault
from sandscore.records.submission import SubmissionKind

EXTERNAL = "org.sagebionetworks.repo.model.file.ExternalFileHandle"
STORAGE = r"^/storage/file/"


async def fetched(queue: Queue, target: Path, most: int = 1 << 20) -> None:
    async with opened(queue) as home:
        await home.fetch_predictions(await claimed(home), target, most)


def test_the_submitted_file_arrives_under_our_name_without_our_token(tmp_path: Path) -> None:
    """The stand-in's storage refuses any request that carries a token, as Synapse's does."""

    async def test(queue: Queue) -> None:
        data = b'{"predictions": 1}' * 1000
        queue.submit_file(data)
        await fetched(queue, tmp_path / "predictions.json")
        assert (tmp_path / "predictions.json").read_bytes() == data
        assert queue.standin.count("GET", STORAGE, 200) == 1

    run(tmp_path, test)
    assert [path.name for path in tmp_path.iterdir()] == ["predictions.json"]


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "http://127.0.0.1:1/x", "https://example.org/x", "ftp://x/y", "sftp://x/y"]
)
def test_links_to_other_places_are_refused_before_anything_is_asked_for(tmp_path: Path, address: str) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}", concreteType=EXTERNAL, externalURL=address)
        with pytest.raises(ParticipantFault, match="only files that were uploaded to Synapse"):
            await fetched(queue, tmp_path / "out.json")
        assert queue.standin.count("POST", "fileHandle/batch") == 0
        assert not (tmp_path / "out.json").exists()

    run(tmp_path, test)


def test_a_handle_that_turns_into_a_link_is_refused_as_well(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}")

        def swap(request: Request) -> None:
            if request.path.endswith("/fileHandle/batch"):
                for handle in queue.world.handles.values():
                    handle.update(concreteType=EXTERNAL, externalURL="file:///etc/passwd")

        queue.standin.before = swap
        with pytest.raises(ParticipantFault, match="only files that were uploaded"):
            await fetched(queue, tmp_path / "out.json")

    run(tmp_path, test)


@pytest.mark.parametrize("facts", [{}, {"contentSize": None}, {"contentSize": "10"}], ids=["large", "none", "text"])
def test_size_is_looked_at_before_the_download(tmp_path: Path, facts: dict[str, Any]) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"x" * 100, **facts)
        with pytest.raises(ParticipantFault, match=r"100 bytes; at most 99|size of the submitted file is not known"):
            await fetched(queue, tmp_path / "out.json", 99)
        assert queue.standin.count("GET", STORAGE) == 0

    run(tmp_path, test)


def test_more_bytes_than_announced_are_not_kept(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"x" * 100, contentSize=10)
        with pytest.raises(InfrastructureFault, match="damaged"):
            await fetched(queue, tmp_path / "out.json")
        assert not (tmp_path / "out.json").exists()

    run(tmp_path, test)


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"{}", contentMd5="0" * 32)
        with pytest.raises(InfrastructureFault, match="damaged"):
            await fetched(queue, tmp_path / "out.json")

    run(tmp_path, test)


def test_cut_connections_throttling_and_expired_addresses_are_survived(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_file(b"[1, 2]")
        queue.standin.faults = [
            Fault("GET", STORAGE, LOST),
            Fault("GET", STORAGE, 503),
            Fault("POST", "fileHandle/batch", LOST),
        ]
        queue.world.url_seconds = -1

        def renew(request: Request) -> None:
            if queue.standin.count("GET", STORAGE) == 3:
                queue.world.url_seconds = 30

        queue.standin.before = renew
        await fetched(queue, tmp_path / "out.json")
        assert (tmp_path / "out.json").read_bytes() == b"[1, 2]"
        assert queue.standin.count("GET", STORAGE, 403) == 1

    run(tmp_path, test)


def test_what_is_neither_file_nor_image_is_refused(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        folder = '{"entity": {"concreteType": "org.sagebionetworks.repo.model.Folder"}, "fileHandles": []}'
        queue.world.submissions[key]["entityBundleJSON"] = folder
        with pytest.raises(ParticipantFault, match="neither a file nor a Docker repository"):
            await fetched(queue, tmp_path / "out.json")

    run(tmp_path, test)


@pytest.mark.parametrize("bundle", ["", "{}", "not JSON", "null"])
def test_a_submission_without_its_entity_is_not_the_participants_fault(tmp_path: Path, bundle: str) -> None:
    async def test(queue: Queue) -> None:
        key = queue.submit_file(b"{}")
        queue.world.submissions[key]["entityBundleJSON"] = bundle
        with pytest.raises(InfrastructureFault, match="without its entity"):
            await fetched(queue, tmp_path / "out.json")

    run(tmp_path, test)


def test_images_come_by_digest(tmp_path: Path) -> None:
    async def test(queue: Queue) -> None:
        queue.submit_image("sha256:" + "0f" * 32)
        async with opened(queue) as home:
            (image,) = await home.submissions()
        assert (image.kind, image.submitter) == (SubmissionKind.IMAGE, PARTICIPANT)
        assert image.image == "docker.synapse.org/syn1/dates@sha256:" + "0f" * 32

    run(tmp_path, test)


@pytest.mark.parametrize(
    ("digest", "name"),
    [
        ("sha256:" + "0F" * 32, "docker.synapse.org/syn1/dates"),
        ("sha256:" + "0" * 63, "docker.synapse.org/syn1/dates"),
        ("latest", "docker.synapse.org/syn1/dates"),
        ("sha256:" + "0f" * 32 + "\n", "docker.synapse.org/syn1/dates"),
        ("sha256:" + "0f" * 32, "--privileged"),
        ("sha256:" + "0f" * 32, "a/b;rm -rf /"),
    ],
)
def test_what_is_no_digest_never_reaches_an_engine(tmp_path: Path, digest: str, name: str) -> None:
    """It is a submission without an image, and fetching it says why."""

    async def test(queue: Queue) -> None:
        queue.submit_image(digest, name=name)
        async with opened(queue) as home:
            claim = await claimed(home)
            assert (claim.submission.kind, claim.submission.image) == (SubmissionKind.PREDICTIONS, None)
            with pytest.raises(ParticipantFault, match="no digest"):
                await home.fetch_predictions(claim, tmp_path / "out.json", 10)

    run(tmp_path, test)

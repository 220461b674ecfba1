"""Images: found by tag, id or digest, pulled by digest, refused when missing or too large."""

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from containers.standin_registry import MadeImage, layer_of, standin_registry

from sandscore.base.errors import UsageFault
from sandscore.containers.annotation_run import require_pinned
from sandscore.containers.engines.docker.docker_row import DockerEngine
from sandscore.containers.engines.docker.image_store import find_image
from sandscore.containers.registries.image_pull import PullRules, find_listed, pulled_name
from sandscore.records.run_record import Outcome, RunFault, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient

    from sandscore.containers.hostile.hostile_images import HostileImages

CONFIGURATION = """
version: 0.1
storage: {{filesystem: {{rootdirectory: {folder}}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry of our own on the loopback, which engines trust without TLS."""
    folder = tmp_path_factory.mktemp("registry")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    (folder / "config.yml").write_text(CONFIGURATION.format(folder=folder / "data", port=port), encoding="ascii")
    words = ["docker-registry", "serve", str(folder / "config.yml")]
    with (folder / "log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        deadline = time.monotonic() + 20
        while not _listens(port) and time.monotonic() < deadline:
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
        process.send_signal(signal.SIGKILL)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.engine
def test_pull_by_digest(client: "DockerClient", images: "HostileImages", registry: str) -> None:
    repository = f"{registry}/team/harmless"
    image = client.images.get(images.image("harmless"))
    image.tag(repository, "1")
    client.images.push(repository, tag="1")
    image.reload()
    [digest] = [d.partition("@")[2] for d in image.attrs["RepoDigests"] if d.startswith(repository)]
    client.images.remove(f"{repository}:1")
    pinned = f"{repository}@{digest}"
    require_pinned(pinned)
    facts = find_image(client, pinned, RunLimits())
    assert (facts.reference, facts.digest, facts.id) == (pinned, digest, image.id)
    assert facts.volumes == ("/data",)
    client.images.remove(pinned)


@pytest.mark.engine
def test_an_image_of_a_listed_registry(client: "DockerClient", images: "HostileImages", registry: str) -> None:
    """Taken out by us and given to the engine: the same image, and it runs; in private, since the organiser says so."""
    repository = f"{registry}/alpha/harmless"
    image = client.images.get(images.image("harmless"))
    image.tag(repository, "1")
    client.images.push(repository, tag="1")
    image.reload()
    [digest] = [d.partition("@")[2] for d in image.attrs["RepoDigests"] if d.startswith(repository)]
    client.images.remove(f"{repository}:1")
    pinned, limits = f"{repository}@{digest}", RunLimits()
    engine = DockerEngine(client)
    facts = find_listed(engine, pinned, limits, PullRules((f"{registry}/alpha",)))
    try:
        assert (facts.reference, facts.digest, facts.id) == (pinned, digest, image.id)
        assert facts.volumes == ("/data",)
        assert find_listed(engine, pinned, limits, PullRules((f"{registry}/alpha",))) == facts
        with pytest.raises(RunFault, match="not in a registry that the challenge lists"):
            find_listed(engine, pinned, limits, PullRules((f"{registry}/beta",)))
        client.images.remove(pulled_name(pinned))
        with pytest.raises(RunFault, match=r"bytes or more, more than the 1,000 allowed"):
            find_listed(engine, pinned, RunLimits(image_bytes=1000), PullRules((registry,)))
    finally:
        engine.remove_image(pulled_name(pinned))


@pytest.mark.engine
def test_an_archive_that_breaks_off_leaves_nothing(client: "DockerClient") -> None:
    """The engine is given a layer that lies, and never hears of it."""
    plain = layer_of({"start": b"x" * 100_000})
    with standin_registry(MadeImage((plain, plain.replace(b"xx", b"xy", 1)))) as hostile:
        with pytest.raises(RunFault, match="is not what the image says it is"):
            find_listed(DockerEngine(client), hostile.reference, RunLimits(), PullRules((hostile.host,)))
        assert DockerEngine(client).image_id(pulled_name(hostile.reference)) is None


@pytest.mark.engine
@pytest.mark.parametrize(
    "reference",
    [
        pytest.param("sha256:" + "0" * 64, id="an id nobody has"),
        pytest.param("{registry}/team/nothing@sha256:" + "0" * 64, id="a digest nobody has"),
        pytest.param("{registry}/team/nothing:1", id="a repository nobody has"),
        pytest.param("{registry}/team/nothing@sha256:123", id="a digest cut short"),
        pytest.param("NOT An Image", id="not a name"),
    ],
)
def test_missing(client: "DockerClient", registry: str, reference: str) -> None:
    with pytest.raises(RunFault) as caught:
        find_image(client, reference.format(registry=registry), RunLimits())
    assert caught.value.outcome is Outcome.IMAGE_MISSING


@pytest.mark.engine
def test_a_registry_that_does_not_answer_is_our_problem(client: "DockerClient") -> None:
    with pytest.raises(RunFault) as caught:
        find_image(client, "127.0.0.1:9/team/x@sha256:" + "0" * 64, RunLimits())
    assert caught.value.outcome is Outcome.INFRASTRUCTURE


@pytest.mark.engine
def test_too_large(client: "DockerClient", images: "HostileImages") -> None:
    with pytest.raises(RunFault, match=r"bytes, more than the 1,000 allowed"):
        find_image(client, images.image("harmless"), RunLimits(image_bytes=1000))


@pytest.mark.parametrize("reference", ["x", "x:latest", "x@sha256:123", "sha256:" + "0" * 63, "x@md5:" + "0" * 64])
def test_scored_runs_take_no_tags(reference: str) -> None:
    with pytest.raises(UsageFault, match="may change behind our back"):
        require_pinned(reference)


@pytest.mark.parametrize("reference", ["sha256:" + "0" * 64, "host:5000/a/b@sha256:" + "f" * 64])
def test_scored_runs_take_digests_and_ids(reference: str) -> None:
    require_pinned(reference)

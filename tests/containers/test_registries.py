"""Registries: what may be named, who is asked, and what a hostile one cannot do."""

import gzip
import json
import re
import socket
import tarfile
import time
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path

import pytest
import zstandard
from containers import standin_registry as standin
from containers.standin_registry import MadeImage, layer_of, standin_registry
from pydantic import ValidationError

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.containers.registries.image_pull import PULLED, PullRules, find_listed
from sandscore.containers.registries.registry_list import covered, for_team, require_allowed
from sandscore.records.challenge import Images
from sandscore.records.run_record import ImageFacts, Outcome, RunFault, RunLimits

DIGEST = "sha256:" + "a" * 64
LISTED = ("registry.example.org/{team}", "registry.example.org/shared/base", "10.0.0.7:5000/x/{team}")


class Engine:
    """Takes whole archives only, as an engine does, and keeps them in memory."""

    def __init__(self, login: tuple[str, str] | None = None) -> None:
        self.kept: dict[str, bytes] = {}
        self.loads = 0
        self._login = login

    def find_image(self, reference: str, limits: RunLimits) -> ImageFacts:
        return ImageFacts(reference=reference, id=reference, size_bytes=len(self.kept.get(reference, b"")))

    def image_id(self, name: str) -> str | None:
        return name if name in self.kept else None

    def load_image(self, archive: Iterator[bytes]) -> None:
        self.loads += 1
        whole = b"".join(archive)
        with tarfile.open(fileobj=BytesIO(whole)) as packed:
            listed = packed.extractfile("manifest.json")
            assert listed is not None
            [name] = json.loads(listed.read())[0]["RepoTags"]
        self.kept[name] = whole

    def credentials(self, registry: str) -> tuple[str, str] | None:
        return self._login


@pytest.mark.parametrize(
    ("name", "team", "allowed"),
    [
        ("registry.example.org/alpha/tool", "alpha", True),
        ("registry.example.org/alpha", "alpha", True),
        ("registry.example.org/alpha/deep/tool:v2", "alpha", True),
        ("registry.example.org/shared/base/x", "alpha", True),
        ("10.0.0.7:5000/x/alpha/tool", "alpha", True),
        ("registry.example.org/beta/tool", "alpha", False),
        ("registry.example.org/alphabet/tool", "alpha", False),
        ("registry.example.org/shared/basement", "alpha", False),
        ("registry.example.org:443/alpha/tool", "alpha", False),
        ("10.0.0.7/x/alpha/tool", "alpha", False),
        ("evil.example.org/alpha/tool", "alpha", False),
        ("registry.example.org.evil.org/alpha/tool", "alpha", False),
        ("registry.example.org/alpha/../beta/tool", "alpha", False),
        ("registry.example.org/alpha//tool", "alpha", False),
        ("registry.example.org/{team}/tool", "{team}", False),
        ("registry.example.org/beta/tool", "beta/../alpha", False),
        ("registry.example.org/beta/tool", "Beta", False),
        ("alpha/tool", "alpha", False),
        ("169.254.169.254/alpha/tool", "alpha", False),
    ],
)
def test_a_team_names_what_is_its_own(name: str, team: str, allowed: bool) -> None:
    reference = f"{name}@{DIGEST}"
    assert covered(reference, for_team(LISTED, team)) is allowed
    if allowed:
        require_allowed(reference, LISTED, (), team)
    else:
        with pytest.raises(ParticipantFault, match="not an image that this team may name"):
            require_allowed(reference, LISTED, (), team)


def test_a_challenge_that_says_nothing() -> None:
    """An embedded queue takes what is on the engine, Synapse what is in Synapse's own registry."""
    require_allowed(DIGEST, None, (), "alpha")
    with pytest.raises(OrganiserFault, match=r"\[images\] registries = \[") as told:
        require_allowed(f"registry.example.org/alpha/tool@{DIGEST}", None, (), "alpha")
    assert told.value.exit_code == 78
    require_allowed(f"docker.synapse.org/syn1/tool@{DIGEST}", None, ("docker.synapse.org",), "alpha")
    for other in (f"docker.io/library/busybox@{DIGEST}", DIGEST):
        with pytest.raises(ParticipantFault, match=r"docker\.synapse\.org/…"):
            require_allowed(other, None, ("docker.synapse.org",), "alpha")


def test_a_team_may_be_called_otherwise_in_the_registry() -> None:
    """Nobody gets at it by taking that for a name."""
    images = Images(registries=LISTED, teams={"Tidewater Text Lab": "tidewater"})
    assert [images.team(name) for name in ("Tidewater Text Lab", "alpha", "tidewater")] == ["tidewater", "alpha", ""]
    own = f"registry.example.org/tidewater/tool@{DIGEST}"
    require_allowed(own, LISTED, (), images.team("Tidewater Text Lab"))
    with pytest.raises(ParticipantFault, match=r"may name: registry\.example\.org/shared/base/…"):
        require_allowed(own, LISTED, (), images.team("tidewater"))
    with pytest.raises(ValidationError, match="two teams are 'a' in the registry"):
        Images(teams={"A": "a", "B": "a"})
    with pytest.raises(ValidationError):
        Images(teams={"A": "../b"})


def test_where_a_list_leaves_nothing_to_name() -> None:
    with pytest.raises(ParticipantFault, match="the team's name cannot be part of a repository's"):
        require_allowed(f"registry.example.org/x@{DIGEST}", LISTED[:1], (), "Team Å")
    with pytest.raises(ParticipantFault, match="takes no images"):
        require_allowed(DIGEST, (), ("docker.synapse.org",), "alpha")


def test_an_image_comes_out_once() -> None:
    engine = Engine()
    with standin_registry() as registry:
        rules = PullRules((f"{registry.host}/team",))
        found = find_listed(engine, registry.reference, RunLimits(), rules)
        again = find_listed(engine, registry.reference, RunLimits(), rules)
    assert (found.reference, found.digest) == (registry.reference, registry.image.digest)
    assert again == found
    assert engine.loads == 1
    assert len(registry.asked) == 3, "manifest, description, layer"
    [(name, archive)] = engine.kept.items()
    assert name.startswith(f"{PULLED}:")
    with tarfile.open(fileobj=BytesIO(archive)) as packed:
        assert packed.getnames() == ["config.json", "0.tar", "manifest.json"]
        layer = packed.extractfile("0.tar")
        assert layer is not None
        assert layer.read() == next(iter(registry.image.layers.values()))


def test_what_another_team_has_pulled_is_asked_for_again() -> None:
    """A digest is public on boards: it opens no repository but that in which it is."""
    engine = Engine()
    with standin_registry() as registry:
        find_listed(engine, registry.reference, RunLimits(), PullRules((registry.host,)))
        other = registry.reference.replace("/team/", "/rival/")
        with pytest.raises(RunFault, match="or it is not for us") as told:
            find_listed(engine, other, RunLimits(), PullRules((registry.host,)))
    assert told.value.outcome is Outcome.IMAGE_MISSING


@pytest.mark.parametrize("packing", ["gzip", "two gzip", "zstd", "plain"])
def test_layers_come_in_several_packings(packing: str) -> None:
    """Compressible and long, so that much comes out of the last byte that goes in."""
    plain = layer_of({"zeros": bytes(9_000_000), "start": b"x"})
    half = len(plain) // 2
    packed = {
        "gzip": gzip.compress(plain),
        "two gzip": gzip.compress(plain[:half]) + gzip.compress(plain[half:]),
        "zstd": zstandard.compress(plain),
        "plain": plain,
    }[packing]
    engine = Engine()
    with standin_registry(MadeImage((plain, packed), (plain, packed))) as registry:
        find_listed(engine, registry.reference, RunLimits(), PullRules((registry.host,)))
    assert engine.loads == 1


def refused(registry: standin.StandinRegistry, limits: RunLimits | None = None, **rules: bool) -> RunFault:
    engine = Engine()
    with pytest.raises(RunFault) as told:
        find_listed(engine, registry.reference, limits or RunLimits(), PullRules((registry.host,), **rules))
    assert engine.kept == {}
    return told.value


HOSTILE = {
    "drips": (standin.drips, "did not give the image in the time allowed"),
    "silent": (standin.silent, "did not give the image in the time allowed"),
    "endless": (standin.endless, "longer than the"),
    "broken": (standin.broken, "status 500"),
    "other layer": (standin.other_layer, "something else than what the manifest names"),
    "short layer": (standin.short_layer, "something else than what the manifest names"),
    "in circles": (standin.in_circles, "redirects more than 5 times"),
    "to metadata": (standin.redirecting("http://169.254.169.254"), "does not list"),
    "to loopback": (standin.redirecting("http://127.0.0.1:1"), "does not list"),
    "to another port": (standin.redirecting("https://registry.example.org:2375"), "does not list"),
    "to a file": (standin.redirecting("file:///etc/passwd"), "does not list"),
    "token from metadata": (standin.asks_for_a_token("http://169.254.169.254/token"), "does not list"),
    "to nonsense": (standin.redirecting("http://[::1"), "an address that is none"),
}


@pytest.mark.parametrize("way", HOSTILE)
def test_a_hostile_registry(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours the first time, the team's the second; in time; and nobody else is contacted."""
    script, words = HOSTILE[way]
    limits = RunLimits(pull_seconds=0.4 if way in ("drips", "silent") else 20.0)
    contacted: set[object] = set()
    create = socket.create_connection

    def connect(at: tuple[str, int], timeout: float) -> socket.socket:
        contacted.add(at)
        return create(at, timeout)

    monkeypatch.setattr(socket, "create_connection", connect)
    begun = time.monotonic()
    with standin_registry(script=script) as registry:
        first, second = refused(registry, limits), refused(registry, limits, failed_before=True)
        assert contacted == {registry.server.server_address}
    assert time.monotonic() - begun < 20
    assert (first.outcome, second.outcome) == (Outcome.INFRASTRUCTURE, Outcome.IMAGE_MISSING)
    assert words in first.reason
    assert first.reason.startswith("its registry failed: ")
    assert second.reason.startswith("its registry failed twice: ")


def test_a_registry_that_is_not_there() -> None:
    with standin_registry() as registry:
        pass
    assert "does not answer" in refused(registry).reason


def test_a_handshake_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """TLS has no clock of its own: a byte a second would keep it busy for hours."""
    monkeypatch.setattr("sandscore.containers.registries.registry_client.on_this_machine", lambda _: False)
    with standin_registry(script=standin.silent) as registry:
        begun = time.monotonic()
        fault = refused(registry, RunLimits(pull_seconds=0.3))
    assert time.monotonic() - begun < 10
    assert fault.outcome is Outcome.INFRASTRUCTURE


def test_the_size_is_known_before_the_first_layer() -> None:
    image = standin.usual_image()
    image.document["layers"][0]["size"] = 11 << 30
    with standin_registry(image) as registry:
        fault = refused(registry)
    assert fault.outcome is Outcome.IMAGE_MISSING
    assert re.search(
        r"the image has 11,811,1\d\d,\d{3} bytes or more, more than the 10,737,418,240 allowed", fault.reason
    )
    assert len(registry.asked) == 1


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_bomb_is_counted_on_the_way(packing: str) -> None:
    """What unpacks to more than is allowed is left at that: 64 MB out of some kilobytes."""
    plain = bytes(64 << 20)
    packed = zlib.compress(plain, wbits=31) if packing == "gzip" else zstandard.compress(plain)
    with standin_registry(MadeImage((plain, packed))) as registry:
        fault = refused(registry, RunLimits(image_bytes=1 << 20))
    assert fault.outcome is Outcome.IMAGE_MISSING
    assert "more than the 1,048,576 allowed" in fault.reason


PLAIN = layer_of({"start": b"x"})
BAD_IMAGES = {
    "a layer that is another": (MadeImage((PLAIN, gzip.compress(b"other"))), "not what the image says"),
    "a layer in pieces": (MadeImage((PLAIN, gzip.compress(PLAIN)[:-20])), "not what the image says"),
    "a layer that is no gzip": (MadeImage((PLAIN, b"\x1f\x8b" + bytes(99))), "cannot be unpacked"),
    "a layer that is no zstd": (MadeImage((PLAIN, b"\x28\xb5\x2f\xfd" + b"\xff" * 99)), "cannot be unpacked"),
    "another packing": (MadeImage((PLAIN, b"BZh91AY&SY")), "something else than gzip or zstd"),
    "too many layers": (MadeImage(*[(PLAIN, PLAIN)] * 126), "more than 125 layers"),
    "layers it does not describe": (MadeImage(layers=[{"digest": DIGEST, "size": 1}]), "does not say what its layers"),
    "for another machine": (
        MadeImage(manifests=[{"platform": {"os": "windows"}, "digest": DIGEST}]),
        "not made for linux",
    ),
}


@pytest.mark.parametrize("way", BAD_IMAGES)
def test_a_bad_image_is_the_teams(way: str) -> None:
    image, words = BAD_IMAGES[way]
    with standin_registry(image) as registry:
        fault = refused(registry)
    assert fault.outcome is Outcome.IMAGE_MISSING
    assert words in fault.reason


@pytest.mark.parametrize(
    "changed",
    [
        {"layers": 3},
        {"config": None},
        {"config": {"digest": "sha256:../../x", "size": 1}},
        {"layers": [{"digest": DIGEST, "size": -1}]},
        {"layers": [{"digest": DIGEST, "size": True}]},
        {"layers": [{"digest": "md5:" + "a" * 64, "size": 1}]},
    ],
    ids=str,
)
def test_a_manifest_that_is_none(changed: dict[str, object]) -> None:
    with standin_registry(MadeImage(**changed)) as registry:
        assert "its manifest" in refused(registry).reason


def test_a_list_of_images_leads_to_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    image = standin.usual_image()
    of = [("linux", "amd64", DIGEST), ("linux", "arm64", image.digest)]
    entries = [{"platform": {"os": o, "architecture": a}, "digest": d, "size": 1} for o, a, d in of]
    index = json.dumps({"manifests": entries}).encode()

    def script(_: standin.StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
        if not handler.path.endswith(standin.sha256(index)):
            return False
        standin.send(handler, 200, {}, index)
        return True

    engine = Engine()
    with standin_registry(image, script) as registry:
        reference = f"{registry.host}/team/tool@{standin.sha256(index)}"
        found = find_listed(engine, reference, RunLimits(), PullRules((registry.host,)))
    assert found.digest == standin.sha256(index)
    assert engine.loads == 1


def test_who_asks_is_told_to_the_registry_and_its_listed_realm_alone() -> None:
    """The login buys a token for this repository; a redirect to another listed host is not told who asks."""
    with standin_registry() as store:

        def script(registry: standin.StandinRegistry, handler: BaseHTTPRequestHandler) -> bool:
            asks = standin.asks_for_a_token(f"http://{registry.host}/token")
            return asks(registry, handler) or standin.redirecting(f"http://{store.host}")(registry, handler)

        with standin_registry(script=script) as registry:
            rules = PullRules((f"{registry.host}/team", store.host))
            find_listed(Engine(("us", "secret")), registry.reference, RunLimits(), rules)
            assert refused_login(registry, store.host).outcome is Outcome.IMAGE_MISSING
    assert {known for path, known in registry.asked if path.startswith("/token")} == {"Basic dXM6c2VjcmV0", None}
    assert {known for path, known in registry.asked if "/blobs/" in path} == {"Bearer good"}
    assert [known for _, known in store.asked] == [None, None]


def refused_login(registry: standin.StandinRegistry, store: str) -> RunFault:
    with pytest.raises(RunFault, match="it is not for us") as told:
        find_listed(Engine(), registry.reference, RunLimits(), PullRules((registry.host, store)))
    return told.value


def test_the_login_is_the_accounts_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``docker login`` writes it: base64 of us:secret."""
    from sandscore.containers.engines.docker.image_store import credentials

    known = {"auths": {"registry.example.org": {"auth": "dXM6c2VjcmV0"}}}
    (tmp_path / "config.json").write_text(json.dumps(known), encoding="ascii")
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    assert credentials("registry.example.org") == ("us", "secret")
    assert credentials("other.example.org") is None

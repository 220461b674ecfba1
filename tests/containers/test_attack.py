"""Every hostile case against the real engine: contained, its outcome named, nothing left behind."""

from typing import TYPE_CHECKING

import pytest

from sandscore.base.errors import UsageFault
from sandscore.containers.engines.docker import container_limits
from sandscore.containers.engines.docker.docker_row import DockerEngine
from sandscore.containers.hostile.hostile_images import HostileImages
from sandscore.containers.hostile.hostile_set import CASES, Case, attack, choose, fire
from sandscore.records.run_record import RunLimits

if TYPE_CHECKING:
    from docker import DockerClient


@pytest.mark.engine
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_contained(client: "DockerClient", images: HostileImages, small: RunLimits, case: Case) -> None:
    assert fire(DockerEngine(client), images, case, small).complaints == ()


@pytest.mark.engine
def test_the_hunts_find_what_is_open(small: RunLimits, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the controls: opened up on purpose, the same attacks report an escape."""

    def opened(*given: object) -> dict[str, object]:
        return contained(*given) | {  # type: ignore[arg-type]
            "network_mode": given[3] if given[3] != "none" else "bridge",
            "read_only": False,
            "security_opt": ["seccomp=unconfined"],
            "user": "0:0",
            "cap_drop": [],
            "tmpfs": {"/tmp": "exec", "/data": ""},
            "environment": {"SECRET": "sandscore-canary"},
            "volumes": {"/var/run/docker.sock": {"bind": "/var/run/docker.sock", "mode": "ro"}},
        }

    contained = container_limits.container_arguments
    monkeypatch.setattr("sandscore.containers.engines.docker.docker_sandbox.container_arguments", opened)
    names = ("reaches-targets", "docker-socket", "writes-outside", "gold-hunt")
    verdicts = attack(small, cases=choose(names))
    told = {verdict.case.name: " ".join(verdict.complaints) for verdict in verdicts}
    assert "reached" in told["reaches-targets"]
    assert "docker.sock is there" in told["docker-socket"]
    assert "wrote to /etc" in told["writes-outside"]
    assert "made a device" in told["writes-outside"]
    assert "may gain privileges" in told["writes-outside"]
    assert "ran a program of its own" in told["writes-outside"]
    assert "the secret is in the environment" in told["gold-hunt"]


@pytest.mark.engine
def test_own_network_cuts_off_the_host(small: RunLimits) -> None:
    """The fallback where name spaces may not be entered: no host, no neighbour, no way out."""
    names = ("harmless", "reaches-targets", "reaches-metadata")
    assert [v.complaints for v in attack(small, "own network", choose(names))] == [(), (), ()]


def test_an_attack_nobody_knows() -> None:
    with pytest.raises(UsageFault, match="'rain'; there are harmless, fork-bomb"):
        choose(["rain"])


def test_every_case_has_its_script_and_every_script_its_case() -> None:
    from sandscore.containers.hostile.hostile_images import _SCRIPTS

    scripts = {path.name for kind in ("note", "batch") for path in (_SCRIPTS / kind).iterdir()}
    assert scripts == {case.name for case in CASES}
    assert len(scripts) > 30

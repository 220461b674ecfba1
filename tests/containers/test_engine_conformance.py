"""Every promise of an engine, on Docker and Podman; the suite, against an engine told to forget a limit; the table."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandscore.base.errors import UsageFault
from sandscore.conformance.engine_suite import CHECKS, EngineBench
from sandscore.containers.engines.docker import docker_sandbox
from sandscore.containers.engines.docker.container_limits import container_arguments
from sandscore.containers.engines.engine_registry import ENGINES, connected

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "scoring" / "sandscore"


@pytest.fixture
def bench() -> Iterator[EngineBench]:
    with connected("docker") as engine:
        made = EngineBench(engine)
        yield made
        made.close()


@pytest.mark.engine
@pytest.mark.parametrize("check", CHECKS)
def test_an_engine_keeps_its_promises(bench: EngineBench, check: str) -> None:
    CHECKS[check](bench)


@pytest.fixture(scope="module")
def podman_bench() -> Iterator[EngineBench]:
    with connected("podman") as engine:
        made = EngineBench(engine)
        yield made
        made.close()


@pytest.mark.engine
@pytest.mark.parametrize("check", CHECKS)
def test_podman_keeps_its_promises(podman_bench: EngineBench, check: str) -> None:
    CHECKS[check](podman_bench)


FORGOTTEN: list[tuple[dict[str, Any], str]] = [
    ({"network_mode": "bridge"}, "there_is_no_network"),
    ({"read_only": False, "user": "0:0"}, "the_disk_is_read_only_but_for_tmp"),
    ({"tmpfs": {"/tmp": "exec,mode=1777"}}, "tmp_is_limited"),
    ({"pids_limit": -1}, "processes_are_limited"),
    ({"security_opt": ["seccomp=unconfined"]}, "there_are_no_rights"),
    ({"cap_drop": []}, "there_are_no_rights"),
]


@pytest.mark.engine
@pytest.mark.parametrize(("changed", "check"), FORGOTTEN, ids=lambda value: value if isinstance(value, str) else None)
def test_a_limit_that_is_forgotten_is_noticed(
    bench: EngineBench, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], check: str
) -> None:
    def forgetful(*given: Any) -> dict[str, Any]:
        return container_arguments(*given) | changed

    monkeypatch.setattr(docker_sandbox, "container_arguments", forgetful)
    with pytest.raises(AssertionError):
        CHECKS[check](bench)


def test_ours_are_registered_as_a_strangers_are() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert declared["sandscore.engines"] == ENGINES.targets
    assert all(row.name == name and row.description for name, row in zip(ENGINES.names, ENGINES, strict=True))


def test_an_engine_nobody_has() -> None:
    with pytest.raises(UsageFault, match="unknown engine 'dokcer'"):
        connected("dokcer")


def test_only_its_own_room_speaks_to_docker() -> None:
    """And Podman's, which understands most of what is said to Docker."""
    rooms = {SOURCES / "containers" / "engines" / name for name in ("docker", "podman")}
    outside = [path for path in SOURCES.rglob("*.py") if not rooms & {*path.parents}]
    imports = ("import docker", "from docker", "sandscore.containers.engines.docker.")
    table = "own_rows.py"
    speaking = [p.name for p in outside if any(words in p.read_text(encoding="utf-8") for words in imports)]
    assert [name for name in speaking if name != table] == []

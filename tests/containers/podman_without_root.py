"""Podman of an account of few rights, on control groups of version 2 that are handed down to it.

``make guest`` runs this, in a Linux of its own; without one, ``test_podman.py`` shows the refusal on version 1.
"""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hostile_reasons import expected_reasons, without_numbers

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.engine_protocol import Isolation
from sandscore.containers.engines.engine_registry import ENGINES, connected
from sandscore.containers.engines.podman.podman_engine import PodmanEngine
from sandscore.containers.hostile.firing_range import FiringRange, firing_range
from sandscore.containers.hostile.hostile_set import CASES, Case
from sandscore.records.run_record import RunLimits

UNSETTLED = ("root-user", "host-folders", "environment", "child-memory")
"""Named in docs/engines.md: how they end without root is not what Docker shows, and nobody has found out why."""
BATCH = tuple(case for case in CASES if case.protocol == "batch" and case.name not in UNSETTLED)


@pytest.fixture(scope="module")
def firing(small: RunLimits) -> Iterator[FiringRange]:
    """Without a neighbour, which would be a service; batch programs have no network, which nobody enters."""
    alone = Isolation("no network", "none", lambda _: pytest.fail("entered"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sandscore.containers.hostile.firing_range._neighbour", lambda *_: nullcontext())
        patch.setattr(PodmanEngine, "no_network", lambda _: alone)
        with firing_range(small, engine="podman") as ready:
            yield ready


def test_the_doctor_finds_its_limits_in_force() -> None:
    found = {finding.name: finding for finding in ENGINES.find("podman")().examine()}
    assert "without root" in found["engine"].found
    assert "cgroup v2" in found["engine"].found
    assert found["limits known"].level == found["limits in force"].level == "ok", found
    with connected("podman") as engine:
        engine.require_limits()
        assert engine.facts().rootless


def test_services_are_refused() -> None:
    with connected("podman") as engine:
        assert engine.no_network() is None
        with pytest.raises(OrganiserFault, match="it runs batch programs only") as refused:
            engine.own_network({})
    assert refused.value.exit_code == 78


@pytest.mark.parametrize("case", BATCH, ids=lambda case: case.name)
def test_contained_as_on_docker(firing: FiringRange, case: Case) -> None:
    verdict = firing.fire(case)
    assert verdict.complaints == ()
    assert without_numbers(verdict.reason) in expected_reasons(case.name)

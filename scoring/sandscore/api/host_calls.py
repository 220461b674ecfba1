"""The machine that submissions run on: is it fit, does it hold, and which images were built here."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sandscore import api
from sandscore.base.errors import InfrastructureFault, UsageFault
from sandscore.containers import host_checks
from sandscore.containers.host_checks import Finding
from sandscore.containers.hostile import firing_range
from sandscore.containers.hostile.firing_range import AttackVerdict
from sandscore.containers.hostile.hostile_set import choose
from sandscore.records.run_record import Hardening, RunLimits


def examine_host(chosen: Mapping[str, Any] = MappingProxyType({}), engine: str | None = None) -> list[Finding]:
    """Engines, limits, isolation, disk and packages, and what the homes of a queue check with the options chosen."""
    from sandscore.queue.cell.cell_need import cell_finding
    from sandscore.queue.homes.home_registry import our_homes

    found = [finding for row in our_homes() for finding in row.check(chosen)]
    return [*host_checks.examine(engine), cell_finding(), *found]


def attack(
    challenge: Path | None,
    hardening: Hardening | None,
    memory: int | None,
    only: Iterable[str],
    report: Callable[[AttackVerdict], None],
    engine: str | None = None,
) -> list[AttackVerdict]:
    """Fires hostile submissions at an engine of this machine, under a challenge's limits or those that are named."""
    limits, named = _limits(challenge, hardening, memory)
    return firing_range.attack(limits, cases=choose(only), report=report, engine=engine or named)


def named_engine(name: str, *, here: bool = True) -> str:
    """The name again, of an engine that there is; ``here`` it must be on this machine, else a cluster's find out."""
    from sandscore.containers.engines.engine_registry import ENGINES, chosen_engine

    return (chosen_engine(name) if here else ENGINES.find(name)).name


def _limits(challenge: Path | None, hardening: Hardening | None, memory: int | None) -> tuple[RunLimits, str | None]:
    """And the engine that the challenge names."""
    if challenge is None:
        from sandscore.api.running_calls import changed_limits
        from sandscore.containers.run_context import preset

        return changed_limits(preset(hardening or "strict"), {} if memory is None else {"memory_bytes": memory}), None
    if hardening is not None or memory is not None:
        raise UsageFault("--challenge says hardening and memory; leave the other options out")
    from sandscore.queue.challenge_limits import limits_of

    read = api.read_challenge(challenge)
    return limits_of(read.limits), read.images.engine


def built_image(reference: str) -> str:
    """The image's id: what was built here has no registry, so no digest."""
    from sandscore.containers.engines.engine_registry import connected

    with connected() as engine:
        found = engine.image_id(reference)
    if found is None:
        raise InfrastructureFault(f"there is no image {reference}; make images builds it")
    return found

"""Networks that stand between a container and everything else, and the one door left open to us.

Best is a container without any network, entered by us alone. Where this process may not do that, the container
gets an internal network of its own, on which the host refuses connections as far as we may tell it to.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from sandscore.containers.engines.docker.cleanup import BRIDGE
from sandscore.containers.engines.docker.docker_engine import asking
from sandscore.containers.engines.docker.firewall import cut_off, take_back
from sandscore.containers.engines.engine_protocol import RUN, CannotEnter, Isolation
from sandscore.containers.transports import PORT, AddressDoor, Door, NamespaceDoor, open_namespace
from sandscore.records.run_record import Outcome, RunFault

if TYPE_CHECKING:
    from docker import DockerClient

_POOL = IPv4Network("10.231.0.0/16")
_TRIES = 32


def no_network() -> Isolation:
    return Isolation("no network; entered through its name space", "none", _namespace_door)


def _namespace_door(box: Any) -> Door:
    descriptor = open_namespace(box.attributes()["NetworkSettings"]["SandboxKey"])
    if descriptor is None:
        raise CannotEnter
    return NamespaceDoor(descriptor)


@contextmanager
def own_network(client: "DockerClient", marks: dict[str, str]) -> Iterator[Isolation]:
    """An internal network for one container."""
    run_id = marks[RUN]
    bridge = "ss" + hashlib.sha256(run_id.encode()).hexdigest()[:10]
    network = _create(client, f"sandscore-{run_id}", bridge, marks)
    cut = cut_off(bridge)
    try:
        yield Isolation(
            "own internal network" + (", host cut off" if cut else "; the host's own services are not cut off"),
            network.name,
            lambda box: _network_door(box, network.name),
        )
    finally:
        if cut:
            take_back(bridge)
        with suppress(RunFault), asking("removing a network"):  # else found by its label at the next start
            network.remove()


def _network_door(box: Any, network: str) -> Door:
    return AddressDoor(box.attributes()["NetworkSettings"]["Networks"][network]["IPAddress"], PORT)


def _create(client: "DockerClient", name: str, bridge: str, marks: dict[str, str]) -> Any:
    """Small subnets out of a pool of our own: the engine's has room for 31 networks."""
    from docker.errors import APIError
    from docker.types import IPAMConfig, IPAMPool

    first = int.from_bytes(hashlib.sha256(name.encode()).digest()[:2], "big")
    for attempt in range(_TRIES):
        number = (first + attempt * 257) % (1 << (29 - _POOL.prefixlen))
        subnet = IPv4Network((int(_POOL.network_address) + 8 * number, 29))
        try:
            return client.networks.create(
                name,
                driver="bridge",
                internal=True,
                labels=marks,
                options={BRIDGE: bridge},
                ipam=IPAMConfig(pool_configs=[IPAMPool(subnet=str(subnet))]),
            )
        except APIError as fault:
            if "overlap" not in str(fault.explanation).lower():
                with asking("making a network"):
                    raise
    raise RunFault(Outcome.INFRASTRUCTURE, f"no free subnet in {_POOL} after {_TRIES} tries")

"""The removal of containers, networks, volumes and images that a killed run left on the engine."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sandscore.base.process_identity import own_name
from sandscore.containers.engines.docker.docker_engine import asking
from sandscore.containers.engines.docker.firewall import take_back
from sandscore.containers.engines.engine_protocol import OWNER, RUN, abandoned

if TYPE_CHECKING:
    from docker import DockerClient

BRIDGE = "com.docker.network.bridge.name"
_TRIES, _PAUSE_SECONDS = 20, 0.1


def remove_leftovers(client: "DockerClient") -> int:
    """Remove what runs that are no longer alive have left; how many things that were.

    Several tries, since another run may be removing the same things, and volumes go after their containers.
    """
    removed = 0
    for _ in range(_TRIES):
        left = [found for found in _labelled(client) if abandoned(_marks(found))]
        removed += sum(map(_remove, left))
        if not left:
            break
        time.sleep(_PAUSE_SECONDS)
    return removed


def _marks(found: Any) -> dict[str, str]:
    marks: dict[str, str] = found.attrs.get("Labels") or found.attrs.get("Config", {}).get("Labels") or {}
    return marks


def remove_abandoned_images(client: "DockerClient") -> None:
    """Remove images that a process which is no longer alive had built for the moment."""
    from docker.errors import APIError

    with asking("looking for leftover images"):
        for image in client.api.images(filters={"label": RUN}):
            if abandoned(image["Labels"]):
                with suppress(APIError):  # gone already, or others are built on it: they come first next time
                    client.images.remove(image["Id"], force=True)


def remaining(client: "DockerClient") -> list[str]:
    """Names of what this process has made on the engine and not yet removed."""
    return [_name(found) for found in _labelled(client, f"{OWNER}={own_name()}")]


def _name(found: Any) -> str:
    names: list[str] = found.attrs.get("Names") or [found.attrs["Name"]]
    return names[0].lstrip("/")


def _labelled(client: "DockerClient", label: str = RUN) -> list[Any]:
    """Containers as the list has them: one that another run removes just now cannot be asked about any more."""
    chosen = {"filters": {"label": label}}
    with asking("looking for leftovers"):
        containers = client.containers.list(all=True, sparse=True, **chosen)
        return [*containers, *client.networks.list(**chosen), *client.volumes.list(**chosen)]


def _remove(found: Any) -> int:
    from docker.errors import APIError, NotFound
    from docker.models.containers import Container
    from docker.models.networks import Network

    try:
        if isinstance(found, Container):
            found.remove(force=True, v=True)
        elif isinstance(found, Network):
            take_back(str((found.attrs.get("Options") or {}).get(BRIDGE)))
            found.remove()
        else:
            found.remove()
    except NotFound:
        return 0
    except APIError:
        return 0  # another run is removing the same thing just now, or a volume is still in use
    return 1

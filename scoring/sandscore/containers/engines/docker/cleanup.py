"""Labels that say who made a container, network or volume, and the removal of what a killed run left."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sandscore.base.process_identity import fate, own_name
from sandscore.containers.engines.docker.docker_engine import asking
from sandscore.containers.engines.docker.firewall import take_back

if TYPE_CHECKING:
    from docker import DockerClient

RUN, OWNER, EXPIRES = "sandscore.run", "sandscore.owner", "sandscore.expires"
BRIDGE = "com.docker.network.bridge.name"
_MARGIN_SECONDS = 600
_TRIES, _PAUSE_SECONDS = 20, 0.1


def labels(run_id: str, total_seconds: float) -> dict[str, str]:
    """For everything a run makes on the engine."""
    expires = int(time.time() + total_seconds + _MARGIN_SECONDS)
    return {RUN: run_id, OWNER: own_name(), EXPIRES: str(expires)}


def remove_leftovers(client: "DockerClient") -> int:
    """Remove what runs that are no longer alive have left; how many things that were.

    Several tries, since another run may be removing the same things, and volumes go after their containers.
    """
    removed = 0
    for _ in range(_TRIES):
        abandoned = [found for found in _labelled(client) if _abandoned(_marks(found))]
        removed += sum(map(_remove, abandoned))
        if not abandoned:
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
            if _abandoned(image["Labels"]):
                with suppress(APIError):  # gone already, or others are built on it: they come first next time
                    client.images.remove(image["Id"], force=True)


def remaining(client: "DockerClient") -> list[str]:
    """Names of what this process has made on the engine and not yet removed."""
    return [found.name for found in _labelled(client, f"{OWNER}={own_name()}")]


def _labelled(client: "DockerClient", label: str = RUN) -> list[Any]:
    chosen = {"filters": {"label": label}}
    with asking("looking for leftovers"):
        containers = client.containers.list(all=True, ignore_removed=True, **chosen)
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


def _abandoned(marks: dict[str, str]) -> bool:
    """Its maker is gone; on another machine, which cannot be asked, its time is up."""
    there = fate(marks.get(OWNER, ""))
    if there is not None:
        return not there
    expires = marks.get(EXPIRES, "0")
    return not expires.isdigit() or int(expires) < time.time()

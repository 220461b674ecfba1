"""A submission's container on Podman: its specification in Podman's own words, and what differs from Docker's.

Podman's form of Docker's requests leaves /run and /var/tmp open for writing and knows no bound on the files in a tmpfs.
Hence containers are asked for in its own words, and scratch space is made of volumes in memory, mounted by the kernel
with the options we give.
"""

import datetime
import json
import resource
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandscore.base.errors import OrganiserFault
from sandscore.containers.engines.docker.container_limits import scratch_folders
from sandscore.containers.engines.docker.docker_engine import asking
from sandscore.containers.engines.docker.docker_sandbox import DockerSandbox
from sandscore.containers.engines.engine_protocol import RUN, Mounts
from sandscore.containers.log_watch import LogWatch
from sandscore.records.run_record import ImageFacts, RunFault, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient

PodmanJson = dict[str, Any]
"""In Podman's own words, whose form is libpod's."""
_NAME = "sandbox"
_CONTAINERS = "/v4.0.0/libpod/containers"
_PERIOD = 100_000
_PROCESSES_OF_USER = 32_768
"""Of one user on the whole host, whatever container they are in; each container's own bound is its control group's."""
_LATE_NANOSECONDS = 300_000_000
"""How long after a container's end something may still be written down that has to do with it."""
SECCOMP = Path(__file__).parents[2] / "seccomp.json"


def specification(
    image: ImageFacts, limits: RunLimits, marks: dict[str, str], network: str, mounts: Mounts
) -> PodmanJson:
    """For Podman's ``containers/create``: nothing the image says can loosen it."""
    spec: PodmanJson = {
        "image": image.id,
        "init": True,
        "hostname": _NAME,
        "hostadd": [f"{_NAME}:127.0.0.1"],
        "cap_drop": ["ALL"],
        "cap_add": list(limits.capabilities),
        "no_new_privileges": True,
        "seccomp_profile_path": str(SECCOMP),
        "read_only_filesystem": True,
        "manage_password": False,
        "unsetenv": ["TERM"],
        "image_volume_mode": "ignore",
        "volumes": [_volume_mount(name, mount) for name, mount in mounts.items()],
        "shm_size": limits.shared_memory_bytes,
        "resource_limits": {
            "memory": {"limit": limits.memory_bytes, "swap": limits.memory_bytes},
            "cpu": {"quota": int(limits.cpus * _PERIOD), "period": _PERIOD},
            "pids": {"limit": limits.processes},
        },
        "oom_score_adj": 500,
        "r_limits": resource_limits(limits.open_files),
        "log_configuration": {"driver": "k8s-file", "size": 1 << 20},
        "healthconfig": {"Test": ["NONE"]},
        "stop_signal": 9,
        "restart_policy": "no",
        "ipcns": {"nsmode": "private"},
        "pidns": {"nsmode": "private"},
        "utsns": {"nsmode": "private"},
        "userns": {"nsmode": "host"},
        "dns_server": ["127.0.0.1"],
        "dns_option": ["timeout:1", "attempts:1"],
        "env": {"HOME": "/tmp", "TMPDIR": "/tmp"},  # noqa: S108 (the container's own)
        "labels": marks,
    }
    if network == "none":
        spec["netns"] = {"nsmode": "none"}
    else:
        spec |= {"netns": {"nsmode": "bridge"}, "networks": {network: {}}}
    if limits.user is not None:
        spec["user"] = limits.user
    if limits.gpus is not None:
        spec["devices"] = [{"path": f"nvidia.com/gpu={which}"} for which in _processors(limits.gpus)]
    return spec


def resource_limits(open_files: int) -> list[PodmanJson]:
    """Said one by one: Podman raises what it is not told, which a service of few rights may not."""
    most = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    processes = _PROCESSES_OF_USER if most == resource.RLIM_INFINITY else min(most, _PROCESSES_OF_USER)
    bounds = {"NOFILE": open_files, "NPROC": processes, "CORE": 0, "MSGQUEUE": 0}
    return [{"type": name, "soft": bound, "hard": bound} for name, bound in bounds.items()]


def _volume_mount(name: str, mount: Mapping[str, str]) -> PodmanJson:
    return {"Name": name, "Dest": mount["bind"], "Options": mount["mode"].split(",")}


def _processors(gpus: int | str) -> list[str]:
    """By the names of the Container Device Interface, which NVIDIA's toolkit writes down."""
    if not any(folder.is_dir() and any(folder.iterdir()) for folder in (Path("/etc/cdi"), Path("/var/run/cdi"))):
        raise OrganiserFault("Podman knows no graphics processors to hand on: nvidia-ctk cdi generate tells it")
    return ["all"] if gpus == "all" else [str(number) for number in range(int(gpus))]


def created(client: "DockerClient", spec: PodmanJson, theirs: str | None = None) -> Any:
    """A container of that specification."""
    from docker.errors import create_api_error_from_http_exception
    from requests.exceptions import HTTPError

    with asking("making a container", theirs=theirs):
        response = client.api.post(f"{client.api.base_url}{_CONTAINERS}/create", json=spec, timeout=client.api.timeout)
        try:
            response.raise_for_status()
        except HTTPError as fault:
            create_api_error_from_http_exception(fault)
        return client.containers.get(response.json()["Id"])


def memory_volume(client: "DockerClient", name: str, size: int, options: str, marks: dict[str, str]) -> Any:
    """A folder in memory. Its size is in pages: Podman takes ``size`` for a quota of the disk."""
    pages = -(-size // resource.getpagesize())
    settings = {"type": "tmpfs", "device": "tmpfs", "o": f"nr_blocks={pages},{options},nosuid,nodev"}
    with asking("making a folder in memory"):
        return client.volumes.create(name, driver="local", driver_opts=settings, labels=marks)


class PodmanSandbox(DockerSandbox):
    """A container of Podman's."""

    def _attach(self) -> None:
        """Makes its processes too; they wait for the start."""
        super()._attach()
        self.hear_of_kills()

    def kill(self) -> None:
        """In Podman's own words; asked in Docker's, it looks for the end every quarter of a second.

        Nor is the end waited for here: Podman would tell of it after another process of its own has cleaned up.
        """
        api, name = self.container.client.api, self.container.id
        with suppress(RunFault), asking("killing the container"):  # refused where it has ended, or is gone
            api.post(f"{api.base_url}{_CONTAINERS}/{name}/kill", params={"signal": "KILL"}, timeout=api.timeout)

    def ended_by_itself(self) -> bool:
        """Whether nobody killed or stopped it, by what Podman has written down until shortly after its end."""
        ended = self.container.attrs["State"]["FinishedAt"]
        chosen = {"container": [self.container.id], "type": ["container"]}
        told = {"since": "0", "stream": "false", "filters": json.dumps(chosen)}
        api = self.container.client.api
        with asking("telling how the container ended"):
            response = api.get(f"{api.base_url}/v1.41/events", params=told, timeout=api.timeout)
            response.raise_for_status()
            events = [json.loads(line) for line in response.text.splitlines()]
        latest = nanoseconds(ended) + _LATE_NANOSECONDS
        seen = {str(event["Action"]) for event in events if event["timeNano"] <= latest}
        return "die" in seen and not seen & {"kill", "stop"}


def nanoseconds(moment: str) -> int:
    """Of a moment such as 2026-11-19T09:00:06.666638939Z, since 1970; none is now."""
    whole = datetime.datetime.fromisoformat(moment)
    return int(whole.timestamp() * 1e9) if whole.year > 1 else time.time_ns()


@contextmanager
def sandbox(
    client: "DockerClient",
    image: ImageFacts,
    limits: RunLimits,
    marks: dict[str, str],
    network: str,
    mounts: Mounts,
    log: LogWatch,
) -> Iterator[PodmanSandbox]:
    """A container of the image, started; gone afterwards, whatever happens."""
    with ExitStack() as stack:
        volumes = {**mounts, **_scratch(client, stack, image, limits, marks, mounts)}
        spec = specification(image, limits, marks, network, volumes)
        container = created(client, spec, theirs="no container can be made of the image")
        stack.callback(_remove, container, v=True)
        box = PodmanSandbox(container, limits, log)
        stack.callback(box.close)
        stack.callback(box.kill)
        box.start()
        yield box


def _scratch(
    client: "DockerClient",
    stack: ExitStack,
    image: ImageFacts,
    limits: RunLimits,
    marks: dict[str, str],
    mounts: Mounts,
) -> dict[str, dict[str, str]]:
    run = "exec" if limits.tmp_executable else "noexec"
    places = scratch_folders(image, {mount["bind"] for mount in mounts.values()})
    found = {}
    for place in places:
        name = f"sandscore-{marks[RUN]}-{secrets.token_hex(4)}"
        options = f"nr_inodes={limits.tmp_files},mode=1777,{run}"
        stack.callback(_remove, memory_volume(client, name, limits.tmp_bytes, options, marks))
        found[name] = {"bind": place, "mode": f"rw,{run},nosuid,nodev"}
    return found


def _remove(thing: Any, **how: bool) -> None:
    with suppress(RunFault), asking("removing what a run made"):  # else found by its label at the next start
        thing.remove(force=True, **how)

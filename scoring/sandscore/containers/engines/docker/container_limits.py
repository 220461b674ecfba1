"""Limits to the arguments that make a Docker engine keep them."""

from collections.abc import Collection, Mapping
from posixpath import normpath
from typing import Any

from sandscore.containers.engines.engine_protocol import seccomp_profile
from sandscore.records.run_record import ImageFacts, RunLimits

_NAME = "sandbox"


def container_arguments(
    image: ImageFacts, limits: RunLimits, marks: dict[str, str], network: str, mounts: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """For ``containers.create``: nothing the image says can loosen them."""
    from docker.types import DeviceRequest, LogConfig, Ulimit

    arguments: dict[str, Any] = {
        "image": image.id,
        "init": True,
        "hostname": _NAME,
        "extra_hosts": {_NAME: "127.0.0.1"},
        "network_mode": network,
        "cap_drop": ["ALL"],
        "cap_add": list(limits.capabilities),
        "security_opt": ["no-new-privileges:true", f"seccomp={seccomp_profile()}"],
        "read_only": True,
        "tmpfs": _tmpfs(image, limits, mounts),
        "volumes": mounts,
        "shm_size": limits.shared_memory_bytes,
        "mem_limit": limits.memory_bytes,
        "memswap_limit": limits.memory_bytes,
        "nano_cpus": int(limits.cpus * 1e9),
        "pids_limit": limits.processes,
        "oom_score_adj": 500,
        "ulimits": [
            Ulimit(name="nofile", soft=limits.open_files, hard=limits.open_files),
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="msgqueue", soft=0, hard=0),
        ],
        "log_config": LogConfig(type="json-file", config={"max-size": "1m", "max-file": "2"}),
        "healthcheck": {"test": ["NONE"]},
        "stop_signal": "SIGKILL",
        "restart_policy": {"Name": "no"},
        "ipc_mode": "private",
        "dns": ["127.0.0.1"],
        "dns_opt": ["timeout:1", "attempts:1"],
        "environment": {"HOME": "/tmp", "TMPDIR": "/tmp"},  # noqa: S108 (the container's own)
        "labels": marks,
    }
    if limits.user is not None:
        arguments["user"] = limits.user
    if limits.gpus is not None:
        count = -1 if limits.gpus == "all" else limits.gpus
        arguments["device_requests"] = [DeviceRequest(count=count, capabilities=[["gpu"]])]
    return arguments


def _tmpfs(image: ImageFacts, limits: RunLimits, mounts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Scratch space at /tmp and over each VOLUME, which a read-only root would leave open to the host's disk."""
    run = "exec" if limits.tmp_executable else "noexec"
    options = f"rw,{run},nosuid,nodev,size={limits.tmp_bytes},nr_inodes={limits.tmp_files},mode=1777"
    return dict.fromkeys(scratch_folders(image, {mount["bind"] for mount in mounts.values()}), options)


def scratch_folders(image: ImageFacts, taken: Collection[str]) -> list[str]:
    """Where a container may write, but for what is ``taken`` by other mounts."""
    places = {"/tmp", *(_plain(v) for v in image.volumes)}  # noqa: S108 (the container's own)
    return sorted(places.difference(taken))


def _plain(path: str) -> str:
    """As the engine cleans the paths of volumes."""
    return normpath("/" + path).replace("//", "/")

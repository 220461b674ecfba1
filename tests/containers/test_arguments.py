"""Limits to engine arguments: nothing an image says of itself can loosen them."""

import gc
import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from sandscore.containers.engines.docker.container_limits import container_arguments
from sandscore.containers.engines.docker.docker_engine import close_refused_connections
from sandscore.containers.engines.engine_protocol import seccomp_profile
from sandscore.containers.run_context import preset
from sandscore.records.run_record import Hardening, ImageFacts, RunLimits


def arguments(limits: RunLimits, *volumes: str) -> dict[str, object]:
    facts = ImageFacts(reference="x", id="sha256:0", size_bytes=1, volumes=volumes)
    return container_arguments(facts, limits, {"sandscore.run": "r"}, "none", {"v": {"bind": "/output", "mode": "rw"}})


def test_strict() -> None:
    given = arguments(preset("strict"))
    assert given["user"] == "20001:20001"
    assert given["cap_drop"] == ["ALL"]
    assert given["cap_add"] == []
    assert given["read_only"] is True
    assert given["network_mode"] == "none"
    assert given["mem_limit"] == given["memswap_limit"] == 2 << 30
    assert given["nano_cpus"] == 10**9
    assert given["pids_limit"] == 256
    assert given["healthcheck"] == {"test": ["NONE"]}
    assert given["stop_signal"] == "SIGKILL"


def test_compat_lets_the_image_switch_its_user_and_nothing_else() -> None:
    strict, compat = arguments(preset("strict")), arguments(preset("compat"))
    assert "user" not in compat
    assert compat["cap_add"] == ["SETUID", "SETGID"]
    different = {key for key in strict if strict[key] != compat.get(key)}
    assert different == {"user", "cap_add"}


@pytest.mark.parametrize("hardening", ["strict", "compat"])
def test_every_volume_of_the_image_is_memory(hardening: Hardening) -> None:
    given = arguments(preset(hardening), "/data", "/var//lib/x/", "/output/")
    assert isinstance(given["tmpfs"], dict)
    assert set(given["tmpfs"]) == {"/tmp", "/data", "/var/lib/x"}
    assert all("noexec,nosuid,nodev,size=268435456" in options for options in given["tmpfs"].values())


def test_the_filter_of_system_calls() -> None:
    """What it must not let through; the list of what it lets through is the profile itself."""
    profile = json.loads(seccomp_profile())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed = {name for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
    closed = (
        "io_uring_setup io_uring_enter bpf mount umount2 pivot_root setns unshare ptrace keyctl add_key kexec_load "
        "init_module perf_event_open userfaultfd process_vm_readv open_by_handle_at chroot reboot swapon clone3 syslog"
    )
    assert not allowed & set(closed.split())
    families = {r["args"][0]["value"] for r in profile["syscalls"] if r["names"] == ["socket"]}
    assert families == {1, 2, 10, 16}, "UNIX, INET, INET6, NETLINK: no VSOCK (40), no PACKET (17)"


@pytest.mark.parametrize(
    ("characters", "seconds", "reply"),
    [
        pytest.param(0, 10.0, 262144, id="empty note"),
        pytest.param(1000, 10.1, 326144, id="a short note"),
        pytest.param(1_000_000, 110.0, 4194304, id="a note of a million characters"),
    ],
)
def test_limits_of_a_note_grow_with_it(characters: int, seconds: float, reply: int) -> None:
    """By hand: 10 s + 0.1 s a 1000 characters; 256 KiB + 64 bytes a character, at most 4 MiB."""
    assert RunLimits().note_time(characters) == pytest.approx(seconds)
    assert RunLimits().reply_size(characters) == reply


def test_graphics_processors_are_asked_for_by_number_or_all_of_them() -> None:
    """As Docker's own ``--gpus`` does: a device request with the capability ``gpu``, -1 for all."""
    assert "device_requests" not in arguments(preset("strict"))
    for said, count in (("all", -1), (2, 2)):
        given: Any = arguments(preset("strict").model_copy(update={"gpus": said}))["device_requests"]
        assert [(asked["Count"], asked["Capabilities"]) for asked in given] == [(count, [["gpu"]])]


def test_a_refused_connection_is_closed(tmp_path: Path) -> None:
    """Once and again; else the interpreter complains of an open socket when it finds it."""
    from docker.transport import unixconn

    close_refused_connections()
    close_refused_connections()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(FileNotFoundError):
            unixconn.UnixHTTPConnection("http://localhost", str(tmp_path / "nobody"), 1).connect()
        gc.collect()
    assert [one for one in seen if "unclosed" in str(one.message)] == []

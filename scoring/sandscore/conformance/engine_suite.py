"""The conformance suite of engines: limits in force, no network, outcomes by name, results as data, no leftovers.

A check takes an engine that is connected and raises AssertionError where it breaks a promise of ``Engine``. What is run
is the image of the hostile set: a static busybox and scripts, built by the engine without a network.
"""

import hashlib
import io
import json
import os
import platform
import re
import secrets
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from sandscore.containers.batch_protocol import wait_for_end
from sandscore.containers.engines.engine_protocol import INPUT, OUTPUT, Engine, labels
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.hostile.hostile_images import BUSYBOX_IMAGE, busybox
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.run_context import preset
from sandscore.containers.service_protocol import Clock
from sandscore.records.run_record import MIB, ImageFacts, Outcome, RunFault, RunLimits

Check = Callable[["EngineBench"], None]
LIMITS: RunLimits = preset("strict").model_copy(
    update={"memory_bytes": 48 * MIB, "tmp_bytes": 4 * MIB, "log_bytes": 64 << 10, "processes": 24, "total_seconds": 60}
)


class EngineBench:
    """Runs shell scripts in containers of one engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._prefix = f"sandscore-conformance-{os.getpid()}-{secrets.token_hex(3)}"
        self._built: list[str] = []
        self.marks = labels(self._prefix, 600)

    def image(self, script: str, *lines: str) -> ImageFacts:
        """An image whose program is that script."""
        name = f"{self._prefix}-{len(self._built)}"
        files: dict[str, str | bytes] = {"bin/busybox": busybox(), "start": f"#!/bin/sh\n{script}\n"}
        dockerfile = "\n".join([BUSYBOX_IMAGE, "COPY start /start", *lines, 'CMD ["/start"]', ""])
        self.engine.build_image(name, files | {"Dockerfile": dockerfile}, self.marks)
        self._built.append(name)
        return self.engine.find_image(name, LIMITS)

    @contextmanager
    def running(self, script: str, limits: RunLimits = LIMITS, *lines: str) -> Iterator[Sandbox]:
        """The script in a container without any network."""
        log = LogWatch(limits.log_kept_bytes)
        with self.engine.sandbox(self.image(script, *lines), limits, self.marks, "none", {}, log) as box:
            yield box

    def said(self, script: str, *lines: str) -> str:
        """What a script that ends well has written."""
        with self.running(script, LIMITS, *lines) as box:
            assert wait_for_end(box, Clock(60)) == 0
        return box.log.tail.decode(errors="replace")

    def fault(self, script: str, limits: RunLimits = LIMITS, *lines: str) -> RunFault:
        """How a script ends that must not end well."""
        try:
            with self.running(script, limits, *lines) as box:
                try:
                    wait_for_end(box, Clock(limits.total_seconds))
                    box.require_moderate()
                except RunFault as fault:
                    raise box.explain(fault) from None
        except RunFault as fault:
            return fault
        raise AssertionError(f"the script ended well:\n{script}")

    def close(self) -> None:
        for name in self._built:
            self.engine.remove_image(name)
        self._built.clear()


def it_keeps_limits_or_refuses(bench: EngineBench) -> None:
    """A refusal is an OrganiserFault, before anything is run; then nothing below can be tried here."""
    bench.engine.require_limits()


def a_container_starts_and_its_output_is_kept(bench: EngineBench) -> None:
    assert sorted(bench.said("echo out; echo err >&2").split()) == ["err", "out"]


def a_crash_is_called_so(bench: EngineBench) -> None:
    fault = bench.fault("exit 3")
    assert fault.outcome is Outcome.CRASHED
    assert fault.reason == "the container ended by itself with exit code 3"


def what_cannot_be_started_is_the_participants_fault(bench: EngineBench) -> None:
    """Whether the engine notices, or whatever is started in its place."""
    assert bench.fault("exit 0", LIMITS, 'ENTRYPOINT ["/no/such/program"]').outcome is Outcome.CRASHED


def memory_is_limited(bench: EngineBench) -> None:
    fault = bench.fault("sleep 0.3; cat /dev/zero | tail")
    assert fault.outcome is Outcome.OUT_OF_MEMORY


def processes_are_limited(bench: EngineBench) -> None:
    """A shell that may not fork any more ends; it is counted without forking."""
    children = "(i=0; while [ $i -lt 80 ]; do (echo x >> /tmp/n; sleep 5) & i=$((i+1)); done) 2>/dev/null"
    spin = "k=0; while [ $k -lt 100000 ]; do k=$((k+1)); done"
    found = bench.said(f"{children}; {spin}; n=0; while read x; do n=$((n+1)); done < /tmp/n; echo $n; exit 0")
    assert 0 < int(found.split()[-1]) <= LIMITS.processes


def the_disk_is_read_only_but_for_tmp(bench: EngineBench) -> None:
    tried = "for place in / /bin /etc /dev/shm/../..; do echo x > $place/written 2>/dev/null && echo wrote $place; done"
    assert "wrote" not in bench.said(f"{tried}; echo x > /tmp/x && echo tmp; exit 0")


def tmp_is_limited(bench: EngineBench) -> None:
    found = bench.said("dd if=/dev/zero of=/tmp/large bs=1M count=16 2>/dev/null; wc -c < /tmp/large; exit 0")
    assert int(found.split()[-1]) <= LIMITS.tmp_bytes


def there_is_no_network(bench: EngineBench) -> None:
    found = bench.said("sed -n 's/^ *\\([^ ]*\\):.*/\\1/p' /proc/net/dev; cat /proc/net/route | wc -l; exit 0").split()
    assert [name for name in found if not name.isdigit() and name not in _IDLE] == ["lo"]
    assert int(found[-1]) <= 1, "there is a route"


def there_are_no_rights(bench: EngineBench) -> None:
    found = dict(re.findall(r"^(\w+):\s*(\S+)", bench.said("cat /proc/self/status"), re.MULTILINE))
    wanted = {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    assert {key: found.get(key) for key in wanted} == wanted
    assert found["Uid"] != "0"


def a_flooded_log_ends_the_run(bench: EngineBench) -> None:
    fault = bench.fault("while true; do echo flood flood flood flood; done")
    assert fault.outcome is Outcome.INVALID_OUTPUT
    assert "written to the log" in fault.reason


def the_log_keeps_its_end(bench: EngineBench) -> None:
    limits = LIMITS.model_copy(update={"log_kept_bytes": 100})
    with bench.running("n=0; while [ $n -lt 200 ]; do echo line $n; n=$((n+1)); done", limits) as box:
        wait_for_end(box, Clock(30))
    assert len(box.log.tail) <= 100
    assert box.log.tail.endswith(b"line 199\n")


def a_result_comes_out_as_data(bench: EngineBench) -> None:
    script = (
        f"cat {INPUT}/notes.json > {OUTPUT}/predictions.json; ln -s /etc/passwd {OUTPUT}/link; mkdir {OUTPUT}/folder"
    )
    image = bench.image(f"{script}; mkfifo {OUTPUT}/fifo; echo x >> {INPUT}/notes.json; exit 0")
    with bench.engine.folders(b"the notes", MIB, LIMITS, bench.marks) as both:
        with bench.engine.sandbox(image, LIMITS, bench.marks, "none", both.mounts, LogWatch(1000)) as box:
            assert wait_for_end(box, Clock(30)) == 0
        assert both.take("predictions.json", MIB) == b"the notes"
        for name, most in (("link", MIB), ("folder", MIB), ("fifo", MIB), ("nothing", MIB), ("predictions.json", 3)):
            with pytest.raises(RunFault) as told:
                both.take(name, most)
            assert told.value.outcome is Outcome.INVALID_OUTPUT, name


def a_missing_image_is_called_so(bench: EngineBench) -> None:
    with pytest.raises(RunFault) as told:
        bench.engine.find_image("sha256:" + "0" * 64, LIMITS)
    assert told.value.outcome is Outcome.IMAGE_MISSING
    assert bench.engine.image_id("sandscore-conformance/no-such-image") is None


def an_archive_is_taken_in_whole_or_not_at_all(bench: EngineBench) -> None:
    """As images come out of a registry: what is found wrong on the way ends the archive before its end."""
    name = f"{bench.engine.name}-conformance-{secrets.token_hex(6)}:1"
    archive = _saved(name)

    def breaking_off() -> Iterator[bytes]:
        yield archive[: len(archive) // 2]
        raise RunFault(Outcome.IMAGE_MISSING, "a layer is not what it should be")

    with pytest.raises(RunFault, match="a layer is not what it should be"):
        bench.engine.load_image(breaking_off())
    assert bench.engine.image_id(name) is None
    bench.engine.load_image(iter([archive[:700], archive[700:]]))
    try:
        assert bench.engine.find_image(name, LIMITS).size_bytes >= 0
    finally:
        bench.engine.remove_image(name)
    assert bench.engine.image_id(name) is None


def _saved(name: str) -> bytes:
    """An image of one file, as ``docker save`` writes it."""
    layer = _packed({"hello": secrets.token_bytes(100_000)})
    told = {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]}
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    config = {"architecture": architecture, "os": "linux", "rootfs": told, "config": {"Cmd": ["/hello"]}}
    parts = [{"Config": "config.json", "RepoTags": [name], "Layers": ["0.tar"]}]
    written = {"config.json": json.dumps(config).encode(), "0.tar": layer, "manifest.json": json.dumps(parts).encode()}
    return _packed(written)


def _packed(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def nothing_is_left_behind(bench: EngineBench) -> None:
    before = sorted(bench.engine.remaining())
    with bench.engine.own_network(bench.marks) as apart, bench.running("sleep 100"):
        assert apart.description
        assert len(bench.engine.remaining()) > len(before)
        bench.engine.remove_leftovers()
        assert len(bench.engine.remaining()) > len(before), "it was in use, and was removed"
    with bench.engine.folders(b"", MIB, LIMITS, bench.marks):
        assert len(bench.engine.remaining()) > len(before)
    assert sorted(bench.engine.remaining()) == before


_IDLE = ("tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0")
"""Interfaces that a kernel shows in every name space, down and without an address."""

CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        it_keeps_limits_or_refuses,
        a_container_starts_and_its_output_is_kept,
        a_crash_is_called_so,
        what_cannot_be_started_is_the_participants_fault,
        memory_is_limited,
        processes_are_limited,
        the_disk_is_read_only_but_for_tmp,
        tmp_is_limited,
        there_is_no_network,
        there_are_no_rights,
        a_flooded_log_ends_the_run,
        the_log_keeps_its_end,
        a_result_comes_out_as_data,
        a_missing_image_is_called_so,
        an_archive_is_taken_in_whole_or_not_at_all,
        nothing_is_left_behind,
    )
}

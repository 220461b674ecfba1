"""The batch protocol: notes in a read-only folder, predictions out of a small one, nothing else in or out.

Both folders are memory-backed volumes held open by a tiny container of ours, so that notes never touch a disk,
a full folder hurts nobody, and the result can be taken out through the engine without following any link.
"""

import io
import json
import secrets
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandscore.records.run import Limits, Outcome, RunFault
from sandscore.running.arguments import seccomp_profile
from sandscore.running.container import Sandbox
from sandscore.running.engine import asking
from sandscore.running.holder import holder_image
from sandscore.running.leftovers import RUN
from sandscore.running.notes import Note
from sandscore.running.service import Clock

if TYPE_CHECKING:
    from docker import DockerClient

INPUT, OUTPUT = "/input", "/output"
NOTES, PREDICTIONS = "notes.json", "predictions.json"
_POLL_SECONDS = 0.1
_SPARE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Folders:
    """What a batch submission sees, and the holder through which we fill and empty it."""

    holder: Any
    mounts: dict[str, dict[str, str]]


@contextmanager
def folders(client: "DockerClient", notes: Sequence[Note], limits: Limits, marks: dict[str, str]) -> Iterator[Folders]:
    """The two folders, the notes in place."""
    content = json.dumps([note.record() for note in notes], ensure_ascii=False).encode("utf-8", "surrogatepass")
    owner = "mode=0777" if limits.user is None else "mode=0700,uid={},gid={}".format(*limits.user.split(":"))
    name = f"sandscore-{marks[RUN]}-{secrets.token_hex(4)}"
    with ExitStack() as stack:
        inside = _volume(client, f"{name}-in", f"size={len(content) + _SPARE_BYTES},nr_inodes=16,mode=0755", marks)
        stack.callback(_remove, inside)
        size = limits.output_size(sum(len(note.text) for note in notes)) + _SPARE_BYTES
        outside = _volume(client, f"{name}-out", f"size={size},nr_inodes=200,{owner}", marks)
        stack.callback(_remove, outside)
        holder = _holder(client, inside.name, outside.name, marks)
        stack.callback(_remove, holder, force=True, v=True)
        with asking("handing over the notes"):
            holder.start()
            holder.put_archive(INPUT, _tar(NOTES, content))
        mounts = {
            inside.name: {"bind": INPUT, "mode": "ro"},
            outside.name: {"bind": OUTPUT, "mode": "rw"},
        }
        yield Folders(holder, mounts)


def _volume(client: "DockerClient", name: str, options: str, marks: dict[str, str]) -> Any:
    settings = {"type": "tmpfs", "device": "tmpfs", "o": f"{options},nosuid,nodev,noexec"}
    with asking("making a folder in memory"):
        return client.volumes.create(name, driver="local", driver_opts=settings, labels=marks)


def _holder(client: "DockerClient", inside: str, outside: str, marks: dict[str, str]) -> Any:
    with asking("making the holder of the folders"):
        return client.containers.create(
            holder_image(client),
            network_mode="none",
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true", f"seccomp={seccomp_profile()}"],
            user="65534:65534",
            read_only=True,
            mem_limit="8m",
            memswap_limit="8m",
            pids_limit=4,
            volumes={inside: {"bind": INPUT, "mode": "rw"}, outside: {"bind": OUTPUT, "mode": "ro"}},
            labels=marks,
        )


def _remove(thing: Any, **how: bool) -> None:
    with suppress(RunFault), asking("removing a folder in memory"):  # else found by its label at the next start
        thing.remove(**how)


def _tar(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = len(content), 0o444
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def wait_for_end(box: Sandbox, clock: Clock) -> int:
    """Until the container has ended: its exit code, or the reason why it had to."""
    while (state := box.state()).running:
        if box.log.flooded:
            break
        box.measure()
        time.sleep(min(_POLL_SECONDS, clock.left()))
    if state.exit_code == 0 and not state.out_of_memory and not box.log.flooded:
        return 0
    raise box.verdict(state) or RunFault(Outcome.CRASHED, "the container ended by itself")

"""The two folders of a batch submission on a Docker engine: notes read-only in, predictions out.

Both are memory-backed volumes held open by a tiny container of ours, so that notes never touch a disk, a full folder
hurts nobody, and the result can be taken out through the engine without following any link.

One regular file comes out, as data: no link followed, nothing unpacked, no byte beyond the limit.
"""

import io
import secrets
import stat
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sandscore.containers.engines.docker.docker_engine import asking, started
from sandscore.containers.engines.docker.tmpfs_image import holder_image
from sandscore.containers.engines.engine_protocol import INPUT, NOTES, OUTPUT, RUN, kind_of, seccomp_profile
from sandscore.records.run_record import Outcome, RunFault, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient

_BLOCK = 512
_HEADER_BYTES = 16 << 10
_GO_MODES = {1 << 31: stat.S_IFDIR, 1 << 27: stat.S_IFLNK, 1 << 26: stat.S_IFBLK, 1 << 25: stat.S_IFIFO}
_GO_SOCKET = 1 << 24


def take_file(container: Any, path: str, most_bytes: int) -> bytes:
    """The content of a regular file of at most so many bytes; what else is there ends the run."""
    from docker.errors import NotFound

    with asking("taking out the result"):
        try:
            stream, facts = container.get_archive(path)
        except NotFound:
            raise RunFault(Outcome.INVALID_OUTPUT, f"there is no {path}") from None
        try:
            _check(path, facts, most_bytes)
            return _content(path, _first_entry(stream, most_bytes + _HEADER_BYTES), most_bytes)
        finally:
            stream.close()


def _check(path: str, facts: dict[str, Any], most_bytes: int) -> None:
    """The engine's own look at the file, before a byte of it is read."""
    mode = int(facts["mode"])
    kind = next((unix for go, unix in _GO_MODES.items() if mode & go), None)
    if kind is None and mode & _GO_SOCKET:
        kind = stat.S_IFSOCK
    if kind is not None:
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} is {kind_of(kind)}, not a regular file")
    if int(facts["size"]) > most_bytes:
        raise RunFault(
            Outcome.INVALID_OUTPUT, f"{path} has {int(facts['size']):,} bytes, more than the {most_bytes:,} allowed"
        )


def _first_entry(stream: Iterator[bytes], most_bytes: int) -> bytes:
    taken = bytearray()
    for piece in stream:
        taken += piece
        if len(taken) > most_bytes + _BLOCK:
            break
    return bytes(taken)


def _content(path: str, packed: bytes, most_bytes: int) -> bytes:
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as archive:
            entry = archive.next()
            if entry is None or not entry.isreg() or entry.issparse() or entry.size > most_bytes:
                raise RunFault(Outcome.INVALID_OUTPUT, f"{path} is not a regular file")
            inside = archive.extractfile(entry)
            content = inside.read(most_bytes) if inside is not None else b""
    except tarfile.TarError:
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} could not be taken out") from None
    if len(content) != entry.size:
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} could not be taken out whole")
    return content


_SPARE_BYTES = 1 << 20


class DockerFolders(Struct, frozen=True):
    """What a batch submission sees, and the holder through which we fill and empty it."""

    holder: Any
    mounts: dict[str, dict[str, str]]

    def take(self, name: str, most_bytes: int) -> bytes:
        return take_file(self.holder, f"{OUTPUT}/{name}", most_bytes)


@contextmanager
def folders(
    client: "DockerClient",
    content: bytes,
    output_bytes: int,
    limits: RunLimits,
    marks: dict[str, str],
    made: "FolderMaker | None" = None,
) -> Iterator[DockerFolders]:
    """The two folders, the notes in place; ``made`` says how volumes and holder are made, if not as on Docker."""
    maker = made or FolderMaker(client, marks)
    owner = "mode=0777" if limits.user is None else "mode=0700,uid={},gid={}".format(*limits.user.split(":"))
    name = f"sandscore-{marks[RUN]}-{secrets.token_hex(4)}"
    with ExitStack() as stack:
        inside = maker.volume(f"{name}-in", len(content) + _SPARE_BYTES, "nr_inodes=16,mode=0755")
        stack.callback(_remove, inside)
        outside = maker.volume(f"{name}-out", output_bytes + _SPARE_BYTES, f"nr_inodes=200,{owner}")
        stack.callback(_remove, outside)
        holder = maker.holder(inside.name, outside.name)
        stack.callback(_remove, holder, force=True, v=True)
        with asking("handing over the notes"):
            started(holder, attach=lambda: None)
            holder.put_archive(INPUT, _tar(NOTES, content))
        mounts = {
            inside.name: {"bind": INPUT, "mode": "ro"},
            outside.name: {"bind": OUTPUT, "mode": "rw"},
        }
        yield DockerFolders(holder, mounts)


class FolderMaker:
    """Makes the two volumes and their holder on a Docker engine."""

    def __init__(self, client: "DockerClient", marks: dict[str, str]) -> None:
        self.client, self.marks = client, marks

    def volume(self, name: str, size: int, options: str) -> Any:
        settings = {"type": "tmpfs", "device": "tmpfs", "o": f"size={size},{options},nosuid,nodev,noexec"}
        with asking("making a folder in memory"):
            return self.client.volumes.create(name, driver="local", driver_opts=settings, labels=self.marks)

    def holder(self, inside: str, outside: str) -> Any:
        with asking("making the holder of the folders"):
            return self.client.containers.create(
                holder_image(self.client),
                network_mode="none",
                cap_drop=["ALL"],
                security_opt=["no-new-privileges:true", f"seccomp={seccomp_profile()}"],
                user="65534:65534",
                read_only=True,
                mem_limit="8m",
                memswap_limit="8m",
                pids_limit=32,
                volumes={inside: {"bind": INPUT, "mode": "rw"}, outside: {"bind": OUTPUT, "mode": "ro"}},
                labels=self.marks,
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

"""The batch protocol: notes in a read-only folder, predictions out of a small one, nothing else in or out.

Both folders are memory-backed volumes held open by a tiny container of ours, so that notes never touch a disk,
a full folder hurts nobody, and the result can be taken out through the engine without following any link.

One regular file out of a container, as data: no link followed, nothing unpacked, no byte beyond the limit.

The predictions file of a batch submission: every note answered once, each answer judged as a service's would be.
"""

import io
import json
import secrets
import stat
import tarfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sandscore.annotations.decoder import Decoder, record_type
from sandscore.annotations.json_blocks import JsonBlock, WholeJson
from sandscore.annotations.record_reader import walk
from sandscore.base.strict_json import JsonFault, loads
from sandscore.containers.answers import Answers, parts_in, place_of
from sandscore.containers.engines.docker.cleanup import RUN
from sandscore.containers.engines.docker.container_limits import seccomp_profile
from sandscore.containers.engines.docker.docker_engine import asking
from sandscore.containers.engines.docker.tmpfs_image import holder_image
from sandscore.containers.engines.sandbox import Sandbox
from sandscore.containers.sent_notes import SentNote
from sandscore.containers.service_protocol import Clock
from sandscore.records.run_record import Outcome, RunFault, RunLimits

if TYPE_CHECKING:
    from docker import DockerClient

_BLOCK = 512
_HEADER_BYTES = 16 << 10
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFDIR: "a folder",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
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
        raise RunFault(Outcome.INVALID_OUTPUT, f"{path} is {_KINDS[kind]}, not a regular file")
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


_PIECES_PER_PART = 10


def answers_in(data: bytes, notes: Sequence[SentNote], answers: Answers) -> list[bytes]:
    """Each note's annotations as compact JSON, in the order of the notes."""
    _require_moderate(data, notes, answers.limits)
    taker = _Taker(notes, answers)
    task = answers.task
    try:
        walk(memoryview(bytearray(data)), Decoder(lambda: record_type(task)), ("annotationSource", task.array), taker)
    except JsonFault as fault:
        raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json: {place_of(fault)}") from None
    missing = [note for note in notes if note.name not in taker.found]
    if missing:
        raise RunFault(
            Outcome.INVALID_OUTPUT,
            f"predictions.json has no entry for {len(missing)} of {len(notes)} notes, the first is {missing[0].name}",
        )
    return [taker.found[note.name] for note in notes]


def _require_moderate(data: bytes, notes: Sequence[SentNote], limits: RunLimits) -> None:
    """Refuse what would take memory out of proportion once it is cut into pieces."""
    most = _PIECES_PER_PART * sum(limits.reply_part_count(len(note.text)) for note in notes)
    pieces = sum(data.count(mark) for mark in (b",", b"\n", b"{", b"["))
    if pieces > most:
        raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json holds {pieces:,} values, more than {most:,}")


class _Taker:
    """Takes a file's records one by one; whole names and last segments are both understood."""

    def __init__(self, notes: Sequence[SentNote], answers: Answers) -> None:
        self._answers, self._notes = answers, notes
        self._by_name = {note.name.rpartition("/")[2]: note for note in notes} | {note.name: note for note in notes}
        self.found: dict[str, bytes] = {}
        longest = max(len(note.text) for note in notes)
        self._size = answers.limits.reply_size(longest)
        self._parts = answers.limits.reply_part_count(longest)

    def accept(self, records: list[Any], data: memoryview, number: int) -> bool:
        return False

    def explain(self, item: JsonBlock, whole: WholeJson, number: int) -> None:
        body = bytes(item.data)
        self._require_moderate(body, number)
        value = loads(body)
        note = self._note(value, number)
        if note.name in self.found:
            raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json: /{number} is a second entry for {note.name}")
        self.found[note.name] = self._answers.annotations(note, value, body)

    def _require_moderate(self, body: bytes, number: int) -> None:
        """One entry has the limits of one answer to the longest note."""
        if len(body) > self._size or parts_in(body) > self._parts:
            raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json: /{number} is longer than any answer may be")

    def _note(self, value: Any, number: int) -> SentNote:
        try:
            name = value["annotationSource"]["resourceSource"]["name"]
        except (KeyError, TypeError):
            if len(self._notes) == 1 and isinstance(value, dict) and "annotationSource" not in value:
                return self._notes[0]
            name = None
        if not isinstance(name, str):
            raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json: /{number} does not name its note")
        note = self._by_name.get(name) or self._by_name.get(name.rpartition("/")[2])
        if note is None:
            raise RunFault(Outcome.INVALID_OUTPUT, f"predictions.json: /{number} is about a note that was not given")
        return note


INPUT, OUTPUT = "/input", "/output"
NOTES, PREDICTIONS = "notes.json", "predictions.json"
_POLL_SECONDS = 0.1
_SPARE_BYTES = 1 << 20


class BatchFolders(Struct, frozen=True):
    """What a batch submission sees, and the holder through which we fill and empty it."""

    holder: Any
    mounts: dict[str, dict[str, str]]


@contextmanager
def folders(
    client: "DockerClient", notes: Sequence[SentNote], limits: RunLimits, marks: dict[str, str]
) -> Iterator[BatchFolders]:
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
        yield BatchFolders(holder, mounts)


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

"""A submission's container made by bubblewrap: under limits before its program runs, and gone with whoever made it.

The launcher mounts and starts ``bwrap``, which makes the name spaces and then waits. Its first process is put into the
control groups, and only then let go. Whoever of us dies takes all of it along: the kernel ends a process with its
parent, and all others with the first of their name space.
"""

import array
import json
import os
import secrets
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from sandscore.containers.engines.bubblewrap import sandbox_launcher
from sandscore.containers.engines.bubblewrap.compiled_seccomp import compiled_filter
from sandscore.containers.engines.bubblewrap.container_words import (
    BatchNotes,
    MemoryFolder,
    command,
    container_words,
    memory_folders,
    owner,
)
from sandscore.containers.engines.bubblewrap.image_roots import UnpackedImage
from sandscore.containers.engines.control_groups import ControlGroup
from sandscore.containers.engines.sandbox import Sandbox, State
from sandscore.containers.log_watch import LogWatch
from sandscore.containers.process_view import ProcessView
from sandscore.containers.transports import BASE_PATH, PORT
from sandscore.records.run_record import Outcome, RunFault, RunLimits

_OPENER = Path(__file__).with_name("socket_opener.py")
_PATIENCE, _FILTER_SECONDS = 60.0, 2.0
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group of who sent something, as they are called here."""
_NO_PROGRAM = b"bwrap: execvp "
_NO_PROGRAM_CODE = 127


class Launch(Struct, frozen=True):
    """All that one container is made of."""

    bubblewrap: str
    image: UnpackedImage
    root: Path
    limits: RunLimits
    profile: str
    batch: BatchNotes | None = None


class Special(Struct, frozen=True):
    """Of the launcher: the user it becomes, variables, files beside the image's, and a /proc of its own."""

    user: tuple[int, int] | None = None
    environment: dict[str, str] = {}
    texts: dict[str, str] = {}
    processes: bool = False


class BubblewrapSandbox(Sandbox):
    """A container of this machine's kernel, made by us."""

    def __init__(self, launch: Launch, group: ControlGroup, log: LogWatch) -> None:
        super().__init__(launch.limits, log)
        self._launch, self._group = launch, group
        self._process: subprocess.Popen[bytes] | None = None
        self._bubblewrap = 0
        self._first: int | None = None
        self._handle: int | None = None
        self._told = bytearray()
        self._told_all = threading.Event()
        self._killed = False
        self.output: int | None = None
        """A descriptor of the folder for results."""

    def start(self) -> None:
        begun = time.monotonic()
        folders = memory_folders(self._launch.image, self.limits, self._launch.batch)
        words = container_words(self._launch.image, self.limits, folders, self._group.shown)
        with ExitStack() as stack:
            fds = StartDescriptors(stack)
            status, release = fds.pipe(inherited="write"), fds.pipe(inherited="read")
            given = fds.memory(b"".join(word.encode() + b"\0" for word in words))
            filtered = fds.memory(compiled_filter(self._launch.profile))
            output = fds.pipe(inherited="write")
            ours, theirs = fds.pair()
            keep = [status[1], release[0], given, filtered]
            options = ["--json-status-fd", keep[0], "--block-fd", keep[1], "--args", keep[2], "--seccomp", keep[3]]
            arguments = ["bwrap", *map(str, options), "--", *command(self._launch.image)]
            self._process = self._started(keep, theirs, output[1])
            for descriptor in (*keep, output[1]):
                fds.close(descriptor)
            theirs.close()
            self.log.follow(ContainerOutput(fds.keep(output[0])), self.limits.log_bytes, self.kill)
            self._hand_over(ours, folders, arguments, keep)
            self._follow_status(fds.keep(status[0]))
            self._limit()
            os.write(release[1], b"!")
        self._await_filter()
        self.start_seconds = time.monotonic() - begun

    def _started(self, keep: list[int], line: socket.socket, output: int) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(sandbox_launcher.__file__)],
            stdin=line.fileno(),
            stdout=output,
            stderr=output,
            pass_fds=keep,
            env={},
            cwd="/",
            start_new_session=True,
        )

    def _hand_over(
        self, line: socket.socket, folders: list[MemoryFolder], arguments: list[str], keep: list[int]
    ) -> None:
        """The launcher is told everything; it hands back the folder for results."""
        special = self.special()
        notes = self._launch.batch.notes if self._launch.batch else b""
        told = {
            "root": str(self._launch.root),
            "folders": [[folder.name, folder.options, folder.programs] for folder in folders],
            "notes": len(notes),
            "batch": self._launch.batch is not None,
            "user": special.user,
            "parent": os.getpid(),
            "files": self.limits.open_files,
            "program": self._launch.bubblewrap,
            "arguments": arguments,
            "keep": keep,
            "environment": special.environment,
            "texts": special.texts,
            "processes": special.processes,
        }
        line.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        line.settimeout(_PATIENCE)
        try:
            line.sendall(json.dumps(told).encode() + b"\n" + notes)
            answer, beside, _, _ = line.recvmsg(1000, socket.CMSG_SPACE(4) + socket.CMSG_SPACE(_CREDENTIALS.size))
        except OSError as fault:
            answer, beside = str(fault).encode(), []
        told_beside = {kind: content for _, kind, content in beside}
        if answer != b"!" or socket.SCM_RIGHTS not in told_beside:
            raise not_made(answer.decode(errors="replace") or "its launcher ended")
        self.output = array.array("i", told_beside[socket.SCM_RIGHTS])[0]
        self._bubblewrap = _CREDENTIALS.unpack_from(told_beside[socket.SCM_CREDENTIALS])[0]
        weakref.finalize(self, os.close, self.output)

    def special(self) -> "Special":
        return Special(user=owner(self.limits) if os.geteuid() == 0 else None)

    def _follow_status(self, descriptor: int) -> None:
        """What bubblewrap tells: the number of its first process, and in the end the exit code."""

        def follow() -> None:
            for piece in _pieces(descriptor):
                self._told.extend(piece)
            self._told_all.set()

        threading.Thread(target=follow, daemon=True).start()
        deadline = time.monotonic() + _PATIENCE
        while self._fact("child-pid") is None:
            if self._told_all.is_set() or time.monotonic() > deadline:
                raise not_made(self._last_words())
            time.sleep(0.001)
        self._first = _child_of(self._bubblewrap)

    def _limit(self) -> None:
        """Before anything of the image runs."""
        if self._first is None:
            return
        try:
            self._handle = os.pidfd_open(self._first)
            self._group.limit(self.limits)
            self._group.add(self._first)
        except OSError as fault:
            raise not_made(f"{fault.strerror}; {self._last_words()}") from None

    def _await_filter(self) -> None:
        """The first process takes the filter last of all; then whoever looks at it sees it as it stays."""
        deadline = time.monotonic() + _FILTER_SECONDS
        with suppress(OSError, KeyError):
            while ProcessView(self._first or 0).status["Seccomp"] != "2" and time.monotonic() < deadline:
                time.sleep(0.001)

    def _fact(self, name: str) -> int | None:
        for line in bytes(self._told).splitlines():
            with suppress(ValueError):
                told: dict[str, Any] = json.loads(line)
                if name in told:
                    return int(told[name])
        return None

    def _last_words(self) -> str:
        if self._process is not None and self._first is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)
        said = self.log.tail.decode(errors="replace").split("\n")
        return " ".join(" ".join(said).split())[-300:] or "it said nothing"

    def state(self) -> State:
        """Bubblewrap tells an exit code only where the program was started."""
        if self._process is None:
            return State(False, False, None)
        ended = self._process.poll()
        if ended is None:
            self.exit_code = None
            return State(True, self._group.killed_for_memory, None)
        self._told_all.wait(timeout=1.0)
        code = self._fact("exit-code")
        if code is None:
            self.log.settle()
            code = _NO_PROGRAM_CODE if self.log.tail.startswith(_NO_PROGRAM) else ended
        self.exit_code = code
        return State(False, self._group.killed_for_memory, code)

    def process(self) -> int | None:
        """The first one, which nobody but bubblewrap's own program is."""
        self.require_well()
        return self._first

    def measure(self) -> None:
        self.usage |= self._group.usage

    def kill(self) -> None:
        """The first process, and with it all others of its name space."""
        if self._process is None or self._process.poll() is not None:
            return
        self._killed = True
        if self._handle is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=2)
        self._process.kill()

    def close(self) -> None:
        """Wait for the end of it."""
        self.kill()
        if self._process is not None:
            self._process.wait()
        self._group.kill()
        self.log.close()
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def ended_by_itself(self) -> bool:
        """It is not by itself that bubblewrap is killed, or fails before the program runs."""
        if self._killed or self._process is None or (self._process.returncode or 0) < 0:
            return False
        return self._fact("exit-code") is not None or self.log.tail.startswith(_NO_PROGRAM)

    def door(self) -> "SocketDoor":
        """The way in, through sockets that are made inside."""
        self.require_well()
        try:
            network = os.open(f"/proc/{self._first}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as fault:
            raise RunFault(Outcome.INFRASTRUCTURE, f"the container cannot be entered: {fault.strerror}") from None
        ours, theirs = socket.socketpair()
        with theirs:
            program = [sys.executable, "-I", "-S", str(_OPENER), str(network)]
            opener = subprocess.Popen(program, stdin=theirs.fileno(), pass_fds=[network], env={}, cwd="/")
        os.close(network)
        return SocketDoor(ours, opener)


class SocketDoor:
    """The loopback of a container, through sockets that a process inside hands out."""

    base = BASE_PATH
    host = f"127.0.0.1:{PORT}"

    def __init__(self, line: socket.socket, opener: "subprocess.Popen[bytes]") -> None:
        self._line, self._asking = line, threading.Lock()
        line.settimeout(_PATIENCE)
        weakref.finalize(self, _let_go, line, opener)

    def enter(self) -> None:
        """Nothing to enter."""

    def connect(self, seconds: float) -> socket.socket:
        with self._asking:
            self._line.sendall(b"?")
            _, rights, _, _ = self._line.recvmsg(1, socket.CMSG_SPACE(4))
        if not rights:
            raise ConnectionResetError("the container's network is gone")
        made = socket.socket(fileno=array.array("i", rights[0][2])[0])
        try:
            made.settimeout(seconds)
            made.connect(("127.0.0.1", PORT))
        except BaseException:
            made.close()
            raise
        return made


def _let_go(line: socket.socket, opener: "subprocess.Popen[bytes]") -> None:
    line.close()
    opener.wait()


def _child_of(process: int) -> int:
    """The one that bubblewrap has made; it tells its number in a name space of its own."""
    try:
        return int(Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()[0])
    except (OSError, IndexError):
        raise not_made("its first process has gone") from None


class StartDescriptors:
    """Descriptors of one start, closed when it is done unless they are kept."""

    def __init__(self, stack: ExitStack) -> None:
        self._open: set[int] = set()
        self._stack = stack
        stack.callback(self._close_all)

    def pipe(self, inherited: str) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        os.set_inheritable(ends[inherited == "write"], True)
        return ends

    def memory(self, content: bytes) -> int:
        made = os.memfd_create("sandscore", 0)
        self._open.add(made)
        os.write(made, content)
        os.lseek(made, 0, os.SEEK_SET)
        return made

    def pair(self) -> tuple[socket.socket, socket.socket]:
        ours, theirs = socket.socketpair()
        self._stack.callback(ours.close)
        self._stack.callback(theirs.close)
        return ours, theirs

    def keep(self, descriptor: int) -> int:
        self._open.discard(descriptor)
        return descriptor

    def close(self, descriptor: int) -> None:
        if descriptor in self._open:
            self._open.remove(descriptor)
            os.close(descriptor)

    def _close_all(self) -> None:
        for descriptor in list(self._open):
            self.close(descriptor)


def _pieces(descriptor: int) -> Iterator[bytes]:
    """What comes out of a pipe, to its end."""
    try:
        while piece := os.read(descriptor, 1 << 16):
            yield piece
    finally:
        os.close(descriptor)


class ContainerOutput:
    """What comes out of a pipe, to its end or until somebody has heard enough."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._enough = descriptor, os.eventfd(0, os.EFD_CLOEXEC)
        weakref.finalize(self, os.close, self._enough)

    def __iter__(self) -> Iterator[bytes]:
        both = select.poll()
        for descriptor in (self._descriptor, self._enough):
            both.register(descriptor, select.POLLIN)
        try:
            while self._enough not in dict(both.poll()) and (piece := os.read(self._descriptor, 1 << 16)):
                yield piece
        finally:
            os.close(self._descriptor)

    def close(self) -> None:
        os.eventfd_write(self._enough, 1)


def not_made(why: str, engine: str = "bubblewrap") -> RunFault:
    return RunFault(Outcome.INFRASTRUCTURE, f"{engine} could not make the container: {why}")


_Box = TypeVar("_Box", bound=BubblewrapSandbox)


@contextmanager
def running(box: _Box, group: ControlGroup) -> Iterator[_Box]:
    """A container, started; gone afterwards, whatever happens, and its groups with it."""
    try:
        box.start()
        yield box
    finally:
        box.close()
        group.remove()


def new_token() -> str:
    return secrets.token_hex(6)

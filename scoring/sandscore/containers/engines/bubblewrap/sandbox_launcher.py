"""The process that starts bubblewrap, or Apptainer: it mounts what a container may write to, and waits for the end.

Started by path, with the standard library alone. A socket is its standard input: a line of JSON that says everything,
then the notes; it answers with one byte and a descriptor of the folder for results. All it mounts is in a name space of
its own, so that nothing is left when the last process in it has gone. Its child gives up all rights and becomes
bubblewrap, as the first process of a name space, so that the end of one is the end of all.
"""

import array
import contextlib
import ctypes
import json
import os
import resource
import select
import socket
import stat
import sys

_NEW_MOUNTS, _NEW_USERS, _NEW_PROCESSES = 0x20000, 0x10000000, 0x20000000
_MOST_FILES = 256
_NO_SETUID, _NO_DEVICES, _NO_PROGRAMS, _BIND, _PRIVATE = 2, 4, 8, 4096, 1 << 18 | 16384
_DIE_WITH_PARENT, _KILL = 1, 9
_BASE = b"/tmp"
_MESSAGES = 12
"""RLIMIT_MSGQUEUE, for which Python has no name."""
_UNPLEASANT = 500
"""Among all processes of a machine without memory, those of a container are killed first."""

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, doing: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), doing)


def own_name_space() -> None:
    """One of mounts; where this is not root, first one of users in which it may mount."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        checked(libc.unshare(_NEW_MOUNTS), "making a name space of mounts")
    else:
        checked(libc.unshare(_NEW_USERS | _NEW_MOUNTS), "making a name space of users")
        for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123 (in a process that starts fast)
                file.write(line)
    checked(libc.mount(None, b"/", None, _PRIVATE, None), "keeping mounts to ourselves")


def in_memory(place: bytes, options: str, *, programs: bool = False) -> None:
    flags = _NO_SETUID | _NO_DEVICES | (0 if programs else _NO_PROGRAMS)
    checked(libc.mount(b"tmpfs", place, b"tmpfs", flags, options.encode()), f"making a folder in memory ({options})")


def made(name: str) -> bytes:
    place = _BASE + b"/" + name.encode()
    os.mkdir(place, 0o755)  # noqa: PTH102 (in a process that starts fast)
    return place


def written(name: str, content: bytes) -> bytes:
    place = _BASE + b"/" + name.encode()
    with open(place, "xb") as file:  # noqa: PTH123 (in a process that starts fast)
        file.write(content)
        os.fchmod(file.fileno(), 0o444)
    return place


def received(line: socket.socket) -> tuple[dict, bytes]:  # type: ignore[type-arg]
    taken = bytearray()
    while b"\n" not in taken and (piece := line.recv(1 << 16)):
        taken += piece
    head, _, notes = bytes(taken).partition(b"\n")
    told = json.loads(head)
    rest = bytearray(notes)
    while len(rest) < told["notes"] and (piece := line.recv(1 << 20)):
        rest += piece
    return told, bytes(rest)


def main() -> None:
    tied_to_parent()
    line = socket.socket(fileno=os.dup(0))
    told, notes = received(line)
    if os.getppid() != told["parent"]:
        sys.exit(1)
    try:
        opened = launch(told, notes)
    except OSError as fault:
        line.sendall(f"{fault.filename or fault.strerror}: {os.strerror(fault.errno or 0)}".encode())
        return
    alive, held = os.pipe()
    if child := os.fork():
        os.closerange(0, held)
        os.closerange(held + 1, _MOST_FILES)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if ended < 0:
            os.kill(os.getpid(), -ended)
        os._exit(ended)
    os.close(held)
    become(told, line, opened, alive)


def become(told: dict, line: socket.socket, opened: int, alive: int) -> None:  # type: ignore[type-arg]
    """The first process of a name space: whatever ends it ends all that it starts, at whatever moment."""
    if told["user"] is not None:
        user, group = told["user"]
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    if told["processes"]:
        flags = _NO_SETUID | _NO_DEVICES | _NO_PROGRAMS
        checked(libc.mount(b"proc", b"/proc", b"proc", flags, None), "showing processes by their own numbers")
    tied_to_parent()
    if select.select([alive], [], [], 0)[0]:
        sys.exit(1)
    rights = array.array("i", [opened])
    line.sendmsg([b"!"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    line.close()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for descriptor in range(3, _MOST_FILES):
        if descriptor not in told["keep"]:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    if told["processes"] and (child := os.fork()):
        wait_for(child)
    os.execve(told["program"], told["arguments"], told["environment"])  # noqa: S606 (no shell is what we want)


def wait_for(child: int) -> None:
    """Who changes its user is no longer tied to its parent: then this one stays the first process, and ends with it."""
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def tied_to_parent() -> None:
    """Forgotten by the kernel whenever rights are given up."""
    checked(libc.prctl(_DIE_WITH_PARENT, _KILL), "tying it to us")


def launch(told: dict, notes: bytes) -> int:  # type: ignore[type-arg]
    """Everything mounted and limited; the folder for results."""
    own_name_space()
    image = os.open(told["root"], os.O_PATH)
    in_memory(_BASE, "mode=0755,size=1m,nr_inodes=256")
    root = made("root") if stat.S_ISDIR(os.fstat(image).st_mode) else written("root", b"")
    source = f"/proc/self/fd/{image}".encode()
    checked(libc.mount(source, root, None, _BIND, None), "mounting the image")
    for name, options, programs in told["folders"]:
        in_memory(made(name), options, programs=programs)
    for name, content in told["texts"].items():
        written(name, content.encode())
    if told["batch"]:
        written("input/notes.json", notes)
    for kind, most in ((resource.RLIMIT_NOFILE, told["files"]), (resource.RLIMIT_CORE, 0), (_MESSAGES, 0)):
        resource.setrlimit(kind, (most, most))
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123 (in a process that starts fast)
        file.write(str(_UNPLEASANT))
    opened = os.open(_BASE + (b"/output" if told["batch"] else b""), os.O_RDONLY | os.O_DIRECTORY)
    checked(libc.unshare(_NEW_PROCESSES), "making a name space of processes")
    return opened


if __name__ == "__main__":
    main()

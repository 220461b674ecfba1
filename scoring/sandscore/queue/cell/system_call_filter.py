"""A filter of system calls for this process: what it may still do is use memory, read and write what it holds, and end.

Written for Linux on x86_64 and aarch64, whose calls have numbers of their own. Whatever is not in the list is refused,
not punished: a library that asks for something it can do without goes on. No call that makes a descriptor is in it.
"""

import ctypes
import errno
import os
import resource
import struct
from collections.abc import Mapping
from functools import cache

_ALLOWED: Mapping[str, Mapping[str, int]] = {
    "x86_64": {
        "read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8, "munmap": 11, "brk": 12, "rt_sigaction": 13,
        "rt_sigprocmask": 14, "rt_sigreturn": 15, "pread64": 17, "pwrite64": 18, "writev": 20, "sched_yield": 24,
        "mremap": 25, "madvise": 28, "getpid": 39, "exit": 60, "gettimeofday": 96, "getrusage": 98, "sigaltstack": 131,
        "gettid": 186, "futex": 202, "restart_syscall": 219, "clock_gettime": 228, "exit_group": 231, "getrandom": 318,
    },
    "aarch64": {
        "read": 63, "write": 64, "close": 57, "fstat": 80, "lseek": 62, "munmap": 215, "brk": 214, "rt_sigaction": 134,
        "rt_sigprocmask": 135, "rt_sigreturn": 139, "pread64": 67, "pwrite64": 68, "writev": 66, "sched_yield": 124,
        "mremap": 216, "madvise": 233, "getpid": 172, "exit": 93, "gettimeofday": 169, "getrusage": 165,
        "sigaltstack": 132, "gettid": 178, "futex": 98, "restart_syscall": 128, "clock_gettime": 113,
        "exit_group": 94, "getrandom": 278,
    },
}  # fmt: skip
_NOT_TO_BE_RUN: Mapping[str, Mapping[str, int]] = {
    "x86_64": {"mmap": 9, "mprotect": 10},
    "aarch64": {"mmap": 222, "mprotect": 226},
}
"""Allowed for memory that nothing in it can be run of: the third argument says."""
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_CALL, _ARCHITECTURE, _THIRD_ARGUMENT = 0, 4, 32
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_EXECUTABLE = 4
_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_SECCOMP, _SET_NO_NEW_PRIVILEGES = 1, 4, 22, 38
_FILTER_MODE = 2
_NEW_USER, _NEW_IPC, _NEW_NET = 0x10000000, 0x08000000, 0x40000000
_SIGKILL = 9
INSTRUCTION = 8
"""Bytes of one."""


class _Program(ctypes.Structure):
    _fields_ = (("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def program(machine: str) -> bytes:
    """The filter in the kernel's own language (classic BPF): eight bytes an instruction."""
    plain, checked = _ALLOWED[machine].values(), _NOT_TO_BE_RUN[machine].values()
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _AUDIT[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _CALL),
    ]
    refuse = len(plain) + len(checked)
    allow, look = refuse + 1, refuse + 2
    for at, call in enumerate(plain):
        lines.append((_EQUAL, allow - at - 1, 0, call))
    for at, call in enumerate(checked, len(plain)):
        lines.append((_EQUAL, look - at - 1, 0, call))
    lines += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    lines += [
        (_LOAD, 0, 0, _THIRD_ARGUMENT),
        (_ANY_BIT, 0, 1, _EXECUTABLE),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


def confine() -> bool:
    """Put this process behind the filter, for good; False where the platform has none."""
    told = _told_to_the_kernel()
    return told is not None and _prctl(_SET_NO_NEW_PRIVILEGES, 1) and _prctl(_SET_SECCOMP, _FILTER_MODE, told)


def own_program() -> bytes | None:
    """The filter of this machine; None where there is none."""
    system, *_, machine = os.uname()
    if system != "Linux" or machine not in _ALLOWED or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    return program(machine)


@cache
def _told_to_the_kernel() -> int | None:
    """Where the filter stands, written once."""
    if (written := own_program()) is None:
        return None
    _held.append(_Program(len(written) // INSTRUCTION, written))
    return ctypes.addressof(_held[-1])


_held: list[_Program] = []


def fork_bare() -> int:
    """``os.fork`` without what libraries do after one (new random numbers, locks): for a process of one thread whose
    child needs none of that. Each page that is touched there is a page copied.
    """
    _told_to_the_kernel()
    child: int = _calls().fork()
    if child < 0:
        raise OSError(ctypes.get_errno(), "no process to read in")
    return child


def die_with_parent() -> None:
    """End when the process that made this one does; what is in memory here is nobody else's to look at."""
    _prctl(_SET_DEATH_SIGNAL, _SIGKILL)
    _prctl(_SET_DUMPABLE, 0)


def leave_namespaces() -> bool:
    """No network and nobody's shared memory, where a process without privileges can have that."""
    unshare = getattr(_calls(), "unshare", None)
    return unshare is not None and unshare(_NEW_USER | _NEW_NET | _NEW_IPC) == 0


def close_all_but(*kept: int) -> None:
    """Standard input and output too: whoever waits for their end must not wait for this process."""
    first = 0
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


@cache
def filter_in_force() -> bool:
    """Whether a process that was put behind the filter cannot open a file any more: tried in one that ends at once."""
    child = os.fork()
    if not child:
        kept = False
        try:
            kept = confine() and not _opens("/dev/null")
        finally:
            os._exit(0 if kept else 1)
    return os.waitpid(child, 0)[1] == 0


def _opens(path: str) -> bool:
    try:
        os.open(path, os.O_RDONLY)
    except PermissionError:
        return False
    return True


def _prctl(option: int, first: int, second: int = 0) -> bool:
    call = getattr(_calls(), "prctl", None)
    return call is not None and call(option, _long(first), _long(second), _long(0), _long(0)) == 0


_long = ctypes.c_ulong


@cache
def _calls() -> ctypes.CDLL:
    """The C library, called without letting go of Python's lock: a fork must not lose it."""
    return ctypes.PyDLL(None, use_errno=True)

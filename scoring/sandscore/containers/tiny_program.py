"""Tiny static executables, made of machine code: one that waits for ever, and some that make a single system call."""

import platform
import struct

_AMD64, _ARM64 = 62, 183
_MACHINES = {"amd64": _AMD64, "x86_64": _AMD64, "arm64": _ARM64, "aarch64": _ARM64}
_WAITING = {
    _AMD64: bytes.fromhex("b822000000 0f05 ebf7"),
    _ARM64: bytes.fromhex("000080d2 010080d2 020080d2 030080d2 280980d2 010000d4 faffff17"),
}
"""A loop around the system call that waits for a signal: pause, or ppoll of nothing."""
_ADDRESS = 0x400000
_HEADERS = 64 + 56
_NEW_USER = 0x10000000
FORBIDDEN_CALLS: dict[str, tuple[int, int, int]] = {
    "unshare": (272, 97, _NEW_USER),
    "ptrace": (101, 117, 0),
    "io_uring_setup": (425, 425, 0),
    "userfaultfd": (323, 282, 1),
    "keyctl": (250, 219, 0),
    "perf_event_open": (298, 241, 0),
    "process_vm_readv": (310, 270, 0),
    "open_by_handle_at": (304, 265, 0),
}
"""Calls that no filter of ours lets through: their numbers on both machines, and a first argument that could work."""


def waiting_program(architecture: str) -> bytes:
    """Does nothing until it is killed."""
    machine = _MACHINES.get(architecture, _AMD64)
    return _executable(machine, _WAITING[machine])


def calling_program(call: str, architecture: str = "") -> bytes:
    """Makes one of the calls and ends with its error number; with 0 where it succeeded."""
    machine = _MACHINES.get(architecture or platform.machine(), _AMD64)
    on_amd64, on_arm64, argument = FORBIDDEN_CALLS[call]
    if machine == _AMD64:
        code = b"\xb8" + struct.pack("<I", on_amd64) + b"\xbf" + struct.pack("<I", argument)
        code += bytes.fromhex("31f6 31d2 0f05 f7d8 89c7 83ff00 7d02 31ff b83c000000 0f05")
    else:
        words = [_move(8, on_arm64), _move(0, argument & 0xFFFF), _move(0, argument >> 16, high=True)]
        words += [_move(1, 0), _move(2, 0), 0xD4000001, 0xCB0003E0, 0xF100001F, 0x9A9FA000, _move(8, 93), 0xD4000001]
        code = struct.pack(f"<{len(words)}I", *words)
    return _executable(machine, code)


def _move(register: int, value: int, *, high: bool = False) -> int:
    """MOVZ, or MOVK of the second half-word."""
    return (0xF2A00000 if high else 0xD2800000) | value << 5 | register


def _executable(machine: int, code: bytes) -> bytes:
    """ELF header, one loadable segment, the code."""
    size = _HEADERS + len(code)
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    entry = _ADDRESS + _HEADERS
    header = identity + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, _ADDRESS, _ADDRESS, size, size, 0x1000)
    return header + segment + code

"""Our filter of system calls as the kernel takes it, put together by libseccomp, as Docker's runtime does."""

import ctypes
import json
import os
from functools import cache
from typing import Any

from sandscore.base.errors import InfrastructureFault

_LIBRARY = "libseccomp.so.2"
_ALLOW, _ERRNO, _EPERM = 0x7FFF0000, 0x00050000, 1
_ACTIONS = {"SCMP_ACT_ALLOW": _ALLOW, "SCMP_ACT_ERRNO": _ERRNO}
_COMPARISONS = {
    "SCMP_CMP_NE": 1,
    "SCMP_CMP_LT": 2,
    "SCMP_CMP_LE": 3,
    "SCMP_CMP_EQ": 4,
    "SCMP_CMP_GE": 5,
    "SCMP_CMP_GT": 6,
    "SCMP_CMP_MASKED_EQ": 7,
}
_UNKNOWN = -1


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


@cache
def compiled_filter(profile: str) -> bytes:
    """The instructions for this kind of machine; calls that the library does not know are refused, as all others."""
    library = filter_library()
    told = json.loads(profile)
    context = ctypes.c_void_p(library.seccomp_init(_action(told["defaultAction"], None)))
    try:
        for rule in told["syscalls"]:
            comparisons = [_comparison(one) for one in rule.get("args", ())]
            for name in rule["names"]:
                number = library.seccomp_syscall_resolve_name(name.encode())
                if number == _UNKNOWN:
                    continue
                given = (_Comparison * len(comparisons))(*comparisons)
                action = _action(rule["action"], rule.get("errnoRet"))
                if done := library.seccomp_rule_add_array(context, action, number, len(comparisons), given):
                    raise InfrastructureFault(f"libseccomp does not take the rule of {name}: {os.strerror(-done)}")
        return _exported(library, context)
    finally:
        library.seccomp_release(context)


@cache
def filter_library() -> Any:
    """libseccomp, which apt and systemd bring."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        raise InfrastructureFault(f"bubblewrap needs {_LIBRARY}: apt-get install libseccomp2") from None
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_void_p,
    ]
    return library


def _action(name: str, number: int | None) -> int:
    action = _ACTIONS[name]
    return action | (number or _EPERM) if action == _ERRNO else action


def _comparison(told: dict[str, Any]) -> _Comparison:
    return _Comparison(told["index"], _COMPARISONS[told["op"]], told["value"], told.get("valueTwo", 0))


def _exported(library: Any, context: ctypes.c_void_p) -> bytes:
    descriptor = os.memfd_create("filter", os.MFD_CLOEXEC)
    try:
        if done := library.seccomp_export_bpf(context, descriptor):
            raise InfrastructureFault(f"libseccomp does not give the filter: {os.strerror(-done)}")
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    finally:
        os.close(descriptor)

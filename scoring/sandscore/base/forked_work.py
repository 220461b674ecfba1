"""Work in a second process that begins with all this one knows and hands back one value."""

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sandscore.base.errors import InfrastructureFault

Result = TypeVar("Result")


@contextmanager
def beside(work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Do work while the body goes on; call the value for the result, or for the exception the work ended in."""
    from signal import SIGKILL

    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _work_and_leave(work, reader, writer)
    os.close(writer)
    try:
        with open(reader, "rb") as told:  # noqa: PTH123 (a descriptor, not a path)
            yield lambda: _result(told.read())
    finally:
        os.kill(child, SIGKILL)
        os.waitpid(child, 0)


def _work_and_leave(work: Callable[[], Any], reader: int, writer: int) -> None:
    try:
        os.close(reader)
        with open(writer, "wb") as out:
            out.write(_outcome(work))
    finally:
        os._exit(0)


def _outcome(work: Callable[[], Any]) -> bytes:
    """The value, or the exception for the other process to raise."""
    try:
        return pickle.dumps((work(), None), protocol=5)
    except Exception as fault:
        return pickle.dumps((None, fault), protocol=5)


def _result(told: bytes) -> Any:
    if not told:
        raise InfrastructureFault("a second process was killed before it was done; try again, or without --jobs")
    value, fault = pickle.loads(told)  # noqa: S301 (from our own child)
    if fault is not None:
        raise fault
    return value

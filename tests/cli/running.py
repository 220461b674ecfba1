"""Run the command line in this process, as a user would see it."""

import io
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from sandscore.cli.main import run


@dataclass(frozen=True)
class Ran:
    """Exit code and both streams."""

    code: int
    out: str
    err: str


def sandscore(*arguments: Any, stdin: bytes | None = None) -> Ran:
    """Run one command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), _piped(stdin):
        code = run([str(a) for a in arguments])
    return Ran(code, out.getvalue(), err.getvalue())


@contextmanager
def _piped(data: bytes | None) -> Iterator[None]:
    """Standard input with a file descriptor of its own."""
    saved = sys.stdin
    with tempfile.TemporaryFile() as file:
        file.write(data or b"")
        file.seek(0)
        sys.stdin = io.TextIOWrapper(file)
        try:
            yield
        finally:
            sys.stdin.detach()
            sys.stdin = saved

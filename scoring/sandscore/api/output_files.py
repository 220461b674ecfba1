"""Files that a command names with ``-o``: written whole or not at all."""

import os
from collections.abc import Iterable
from pathlib import Path

from sandscore.base.errors import UsageFault


def write(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write a whole file or none."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.writelines(pieces)
        part.replace(target)
    except OSError as fault:
        part.unlink(missing_ok=True)
        raise UsageFault(f"cannot write {path}: {fault.strerror}") from None

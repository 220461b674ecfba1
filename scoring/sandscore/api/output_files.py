"""Files that a command names with ``-o``: written whole or not at all."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import told, write_file


def write(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write a whole file or none; a place that cannot be written to was named wrongly."""
    with told(path, "cannot write {where}: {why}", fault=UsageFault):
        write_file(Path(path), pieces)


def save_json(path: str | Path, value: Mapping[str, Any]) -> None:
    """Write plain values, indented."""
    import json

    write(path, [(json.dumps(value, indent=2) + "\n").encode()])

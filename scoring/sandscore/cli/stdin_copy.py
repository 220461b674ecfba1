"""Standard input for those who must read it twice."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandscore.annotations.input_files import Inputs
from sandscore.base.byte_sources import opened
from sandscore.base.whole_files import write_file


@contextmanager
def kept(inputs: Inputs) -> Iterator[Inputs]:
    """The inputs, with what comes through a pipe kept in a file of its own until the end."""
    role = next((role for role, path in inputs.given.items() if str(path) == "-"), None)
    if role is None:
        yield inputs
        return
    with tempfile.TemporaryDirectory(prefix="sandscore-") as folder:
        file = Path(folder) / "standard-input"
        with opened("-") as source, memoryview(source.data) as content:
            write_file(file, content)
        yield Inputs(**{**inputs.given, role: file})

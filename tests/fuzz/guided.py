"""A coverage-guided search for bytes that make the reader break its promises."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["sandscore.annotations", "sandscore.base.strict_json"]):
    from sandscore.annotations.input_files import Inputs, load_files
    from sandscore.base.errors import SandscoreError
    from sandscore.task_table.task import TASKS

from fuzz.hostile import CASES, seeds

FILE = Path(tempfile.mkdtemp()) / "x.json"


def one(data: bytes) -> None:
    """A file either has findings or can be read; anything else is a bug."""
    FILE.write_bytes(data)
    task = TASKS["address"]
    with contextlib.suppress(SandscoreError), contextlib.redirect_stderr(io.StringIO()):
        load_files(task, Inputs(predictions=FILE, notes=CASES / "notes.json"))


def main() -> None:
    corpus = Path(tempfile.mkdtemp())
    for number, (_, data) in enumerate(seeds()):
        (corpus / str(number)).write_bytes(data)
    arguments = [a for a in sys.argv if not a.startswith("-atheris_runs=")]
    runs = [a.partition("=")[2] for a in sys.argv if a.startswith("-atheris_runs=")]
    atheris.Setup([*arguments, *(f"-runs={r}" for r in runs), "-max_len=4096", str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()

"""A bar for whatever takes longer than two seconds, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 2.0


@contextmanager
def bytes_read(paths: list[str | Path], label: str) -> Iterator[Callable[[int], None]]:
    """A function to be told how many bytes were read."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    sizes = [Path(path).stat().st_size for path in paths if Path(path).is_file()]
    packed = any(str(path).endswith((".gz", ".zst")) for path in paths) or len(sizes) < len(paths)
    total = None if packed else sum(sizes)
    with tqdm(total=total, unit="B", unit_scale=True, desc=label, delay=PATIENCE, leave=False) as bar:
        yield bar.update

"""Progress on stderr, only for people, and only when something takes its time."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(what: str, total: int | None = None) -> Iterator[Callable[[int], object]]:
    """A bar that appears after two seconds on a terminal; the value is called with each step's size."""
    from tqdm import tqdm

    with tqdm(total=total, desc=what, delay=2, disable=not sys.stderr.isatty(), leave=False) as shown:
        yield shown.update

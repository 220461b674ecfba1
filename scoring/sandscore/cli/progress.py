"""Progress on stderr, only for people, and only when something takes its time."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandscore.base.byte_sources import InputFile

PATIENCE = 2.0


@contextmanager
def bar(what: str, total: int | None = None, unit: str = "it") -> Iterator[Callable[[int], object]]:
    """A bar that appears after two seconds on a terminal; the value is called with each step's size."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit=unit, unit_scale=unit == "B", delay=PATIENCE, leave=False) as shown:
        yield shown.update


@contextmanager
def counted_bar(what: str, total: int, unit: str) -> Iterator[Callable[[int, int], object]]:
    """The same, told how many there are and how many of them had been there before: they say nothing of the speed."""
    if not sys.stderr.isatty():
        yield lambda _done, _before: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, unit=unit, delay=PATIENCE, leave=False) as shown:

        def step(done: int, before: int) -> None:
            shown.initial = before
            shown.update(done - shown.n)

        yield step


def bar_over(items: Iterable[Any], total: int, what: str) -> Iterable[Any]:
    """The items, and a bar as they are gone through."""
    from tqdm import tqdm

    shown: Iterable[Any] = tqdm(
        items, total=total, desc=what, delay=PATIENCE, disable=None, leave=False, file=sys.stderr
    )
    return shown


@contextmanager
def bytes_read(paths: "Iterable[InputFile]") -> Iterator[Callable[[int], object]]:
    """A bar over the bytes of the files; without an end where they are packed or piped."""
    files = [Path(str(path)) for path in paths]
    known = all(path.is_file() and path.suffix not in (".gz", ".zst") for path in files)
    with bar("reading", sum(path.stat().st_size for path in files) if known else None, "B") as progress:
        yield progress

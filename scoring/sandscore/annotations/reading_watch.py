"""The watch of whoever follows files as they are read and judged: nothing is printed where nobody asks for it."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext

from msgspec import Struct

from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.annotations.record_reader import Progress, quiet
from sandscore.base.byte_sources import InputFile


def _silently(_paths: Iterable[InputFile]) -> AbstractContextManager[Progress]:
    return nullcontext(quiet)


def _untold(_what: object) -> None:
    """Nobody listens."""


class ReadingWatch(Struct, frozen=True):
    """Told of bytes as they are read, of problems before anything is refused, and of warnings."""

    reading: Callable[[Iterable[InputFile]], AbstractContextManager[Progress]] = _silently
    problems: Callable[[Iterable[ProblemCollector]], object] = _untold
    warning: Callable[[str], object] = _untold


UNWATCHED = ReadingWatch()

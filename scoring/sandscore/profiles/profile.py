"""The interface of a profile: the input it is given and the result it gives back.

Where an original scorer dies of its input, we stop too and say what it dies of.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.measures.measure_syntax import ParameterisedRow, Scalar
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.annotations.input_files import Loaded


class CompanionFile(Struct, frozen=True):
    """A file that a parameter of a profile names: its name, its JSON and its SHA-256."""

    name: str
    value: Any
    sha256: str


class ProfileInput(Struct, frozen=True):
    """Decoded JSON as the original scorer would have loaded it, faults and all.

    ``gold`` and ``predictions`` are lists of many-note records (the one-note form and JSON Lines are
    already turned into that), or what the original's own files hold where it reads them itself; ``notes`` is the
    decoded notes file or None; ``companions`` are the files that parameters name.
    """

    task: Task
    notes: list[dict[str, Any]] | None
    gold: Any
    predictions: Any
    companions: Mapping[str, CompanionFile] = {}


class ProfileResult(Struct, frozen=True):
    """The original's numbers.

    ``measures`` maps a measure's name to its components (``tp``, ``fp``, ``fn`` as integers where it has
    them, ``precision``, ``recall``, ``f1`` as the original computes them; None for what it calls NaN);
    ``per_note`` holds integer counts that add up to them, where they do; ``table`` is what the original
    prints, to the last digit; ``warnings`` says where the original is known to mislead on this very input. Where it
    read its own files, ``documents`` are those that were scored, ``annotations`` how many gold and predictions have.
    """

    measures: dict[str, dict[str, Any]]
    per_note: dict[str, dict[str, tuple[int, int, int]]] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    table: str = ""
    warnings: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    annotations: tuple[int, int] = (0, 0)


Evaluate = Callable[[ProfileInput, Mapping[str, Scalar]], ProfileResult]
"""Input and settled parameters to result."""
EvaluateColumns = Callable[[Task, "Loaded", Mapping[str, Scalar]], ProfileResult | None]
EvaluateWritten = Callable[[memoryview, memoryview, Mapping[str, Scalar]], ProfileResult | None]
"""Gold and predictions as they are written, and settled parameters, to result."""


class OriginalScorer(ParameterisedRow):
    """Another scorer as a row: extend it for a profile of your own."""

    @staticmethod
    def evaluate(given: ProfileInput, settings: Mapping[str, Scalar], /) -> ProfileResult:
        """The original's numbers for these files; where it is known to mislead, warnings say so."""
        raise NotImplementedError

    @staticmethod
    def evaluate_columns(task: Task, loaded: "Loaded", settings: Mapping[str, Scalar], /) -> ProfileResult | None:
        """The same numbers, quicker, of files whose columns and notes say all that was written; None: see the files."""
        return None

    @staticmethod
    def evaluate_written(
        gold: memoryview, predictions: memoryview, settings: Mapping[str, Scalar], /
    ) -> ProfileResult | None:
        """The same numbers, quicker, of the original's own files, which nobody has decoded; None: decode them."""
        return None

    @staticmethod
    def own_files(gold: Any, /) -> bool:
        """Whether decoded gold is in the original's own form, which it reads without our loader."""
        return False

    @staticmethod
    def example_companions(notes: Sequence[Mapping[str, Any]], /) -> dict[str, Any]:
        """For each parameter that must name a file, what that file may hold beside these notes."""
        return {}

    @classmethod
    def fault(cls) -> str | None:
        """A profile has to evaluate."""
        return "it has no evaluate" if cls.evaluate is OriginalScorer.evaluate else None


_DEATHS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@contextmanager
def stopping(whose: str, fault: type[OrganiserFault | ParticipantFault]) -> Iterator[None]:
    """Turns the exception that the original would end with into the fault of whoever wrote the file."""
    try:
        yield
    except _DEATHS as death:
        raise fault(f"the original stops here with {type(death).__name__}: {death} (reading the {whose})") from None

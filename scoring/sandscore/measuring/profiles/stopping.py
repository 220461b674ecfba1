"""Where an original scorer dies of its input, we stop too and say what it dies of."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandscore.records.errors import OrganiserFault, ParticipantFault

_DEATHS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@contextmanager
def stopping(whose: str, fault: type[OrganiserFault | ParticipantFault]) -> Iterator[None]:
    """Turns the exception that the original would end with into the fault of whoever wrote the file."""
    try:
        yield
    except _DEATHS as death:
        raise fault(f"the original stops here with {type(death).__name__}: {death} (reading the {whose})") from None

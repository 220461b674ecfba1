"""Messages on their way to teams, as a home whose messages wait somewhere tells of them."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import asdict


class OutgoingMessage(Struct, frozen=True):
    """A message to a team: what it is about, and what is known of its delivery."""

    made: str
    submission: str
    event: str
    delivery: str
    """waiting, sent, unknown, undelivered; sending and prepared while a worker has it."""
    to: Sequence[str]
    subject: str
    why: str | None = None

    def to_dict(self) -> dict[str, object]:
        """For programs."""
        return asdict(self)


class SentAgain(Struct, frozen=True):
    """How many messages were to be sent again, and how many of them still wait."""

    asked: int
    waiting: int

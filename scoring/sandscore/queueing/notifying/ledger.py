"""Which notices have been sent: written down before they are sent, outside the database.

So a notice is sent at most once, whatever dies between the two, and a database restored from a backup sends nothing
again.
"""

import os
from pathlib import Path

from sandscore.queueing.submission import Event, Notice
from sandscore.records.errors import InfrastructureFault

FOLDER = "notices"


class Ledger:
    """One empty file a notice."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER

    def first(self, notice: Notice) -> bool:
        """True for the first who asks, and for nobody after."""
        try:
            self.folder.mkdir(exist_ok=True)
            os.close(os.open(self.folder / identity(notice), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        except OSError as fault:
            raise InfrastructureFault(f"{self.folder} cannot be written: {fault.strerror}") from None
        return True


def identity(notice: Notice) -> str:
    """A score is news once a version, whichever attempt it came from; everything else once an attempt."""
    one = notice.submission
    which = f"v{one.version}" if notice.event is Event.SCORED else str(notice.attempt)
    return f"{one.id}-{which}-{notice.event.name}"

"""Which notices have been sent: written down before they are sent, outside the database.

So a notice is sent at most once, whatever dies between the two, and a database restored from a backup sends nothing
again.
"""

import os
from pathlib import Path

from sandscore.queueing.submission import Notice
from sandscore.records.errors import InfrastructureFault

FOLDER = "notices"


class Ledger:
    """One empty file a notice."""

    def __init__(self, root: Path) -> None:
        self.folder = root / FOLDER

    def first(self, notice: Notice) -> bool:
        """True for the first who asks, and for nobody after."""
        name = f"{notice.submission.id}-{notice.attempt}-{notice.submission.version}-{notice.event.name}"
        try:
            self.folder.mkdir(exist_ok=True)
            os.close(os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            return False
        except OSError as fault:
            raise InfrastructureFault(f"{self.folder} cannot be written: {fault.strerror}") from None
        return True

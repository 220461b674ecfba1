"""Which notices have been sent: written down before they are sent, outside the database.

So a notice is sent at most once, whatever dies between the two, and a database restored from a backup sends nothing
again.
"""

import errno
import fcntl
import os
from pathlib import Path

from sandscore.queueing.submission import Event, Notice
from sandscore.records.errors import InfrastructureFault

FILE = "notices.sent"
_READ = 1 << 20


class Ledger:
    """A line a notice. Whoever adds one has the file alone, and has read what others have added."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE
        self._known: set[bytes] = set()
        self._read = 0
        self._begun = b""
        """What follows the last whole line: the rest of a line whose writer died, or was out of room."""

    def first(self, notice: Notice) -> bool:
        """True for the first who asks, and for nobody after."""
        line = identity(notice).encode()
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                return self._added(file, line)
            finally:
                os.close(file)
        except OSError as fault:
            raise InfrastructureFault(f"{self.path} cannot be written: {fault.strerror}") from None

    def _added(self, file: int, line: bytes) -> bool:
        size = os.fstat(file).st_size
        if size < self._read:
            self._known, self._read, self._begun = set(), 0, b""
        while size > self._read and (found := os.pread(file, _READ, self._read)):
            self._read += len(found)
            *lines, self._begun = (self._begun + found).split(b"\n")
            self._known.update(lines)
        if line in self._known:
            return False
        written = (b"\n" if self._begun else b"") + line + b"\n"
        if os.write(file, written) < len(written):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return True


def identity(notice: Notice) -> str:
    """A score is news once a version, whichever attempt it came from; everything else once an attempt."""
    one = notice.submission
    which = f"v{one.version}" if notice.event is Event.SCORED else str(notice.attempt)
    return f"{one.id}-{which}-{notice.event.name}"

"""Notices on their way to file, mail and webhook, each sent at most once.

Which have been sent is written down before they are, outside the database: whatever dies between the two, and a
database restored from a backup, sends nothing again. Nothing that a channel is told is secret but the password.
"""

import errno
import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct, to_builtins

from sandscore.base.clock import utc_now, written
from sandscore.base.diagnostics import warn
from sandscore.base.errors import InfrastructureFault
from sandscore.queue.queue_layout import OWNER_FILE, private_path
from sandscore.queue.settings import Notices, Smtp
from sandscore.records.submission import Event, Notice

FILE, LINES = "notices.sent", "notices.jsonl"
_READ = 1 << 20


class NoticeLedger:
    """A line a notice. Whoever adds one has the file alone, and has read what others have added."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: set[bytes] = set()
        self._read = 0
        self._begun = b""
        """What follows the last whole line: the rest of a line whose writer died, or was out of room."""

    @property
    def path(self) -> Path:
        return private_path(self._root, FILE)

    @property
    def lines(self) -> Path:
        """The organisers' own file beside it."""
        return private_path(self._root, LINES)

    def first(self, notice: Notice) -> bool:
        """True for the first who asks, and for nobody after."""
        line = identity(notice).encode()
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, OWNER_FILE)
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


_TIMEOUT_SECONDS = 15.0
_PASSWORD = "SANDSCORE_SMTP_PASSWORD"  # noqa: S105 (the variable's name)


class SentNotice(Struct, frozen=True, omit_defaults=True):
    """A notice for programs: what a team may see of it, and in the organisers' own file what only they may."""

    event: str
    submission: str
    team: str
    task: str
    phase: str | None
    status: str
    attempt: int
    subject: str
    text: str
    sent: str
    detail: str | None = None


def as_record(notice: Notice, detail: str | None = None) -> SentNotice:
    """The notice as it is sent now."""
    one = notice.submission
    return SentNotice(
        event=str(notice.event.name).lower(),
        submission=one.id,
        team=one.team,
        task=one.task,
        phase=one.phase,
        status=str(one.status),
        attempt=notice.attempt,
        subject=notice.words.view.subject,
        text=notice.words.view.text,
        sent=written(utc_now()),
        detail=detail,
    )


def append_line(path: Path, notice: Notice) -> None:
    """The organisers' own file: one JSON object a line; lines of several workers do not mix."""
    with path.open("ab", buffering=0) as file:
        record = to_builtins(as_record(notice, notice.detail))
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def send_mail(settings: Smtp, notice: Notice) -> None:
    """To the submitter where that is an address, and to the organiser where help is wanted."""
    import smtplib
    from email.message import EmailMessage

    to = [address for address in (notice.submission.submitter,) if address and "@" in address]
    if notice.event is Event.NEEDS_ORGANISER:
        to = []
    if settings.organiser and (notice.event & (Event.NEEDS_ORGANISER | Event.FAILED)):
        to.append(settings.organiser)
    if not to:
        return
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.sender, ", ".join(to), notice.words.view.subject
    for_organisers = notice.event is Event.NEEDS_ORGANISER and notice.detail
    message.set_content(f"{notice.words.view.text}\n\n{notice.detail}" if for_organisers else notice.words.view.text)
    with smtplib.SMTP(settings.host, settings.port, timeout=_TIMEOUT_SECONDS) as server:
        if settings.starttls:
            server.starttls()
        if settings.user:
            server.login(settings.user, os.environ.get(_PASSWORD, ""))
        server.send_message(message)


def post(url: str, notice: Notice) -> None:
    """Sent once; whatever is answered, it is not sent again."""
    from urllib.request import Request, urlopen

    if not url.startswith(("https://", "http://")):
        raise ValueError("a webhook is an http or https address")
    body = json.dumps(to_builtins(as_record(notice))).encode()
    request = Request(url, data=body, headers={"Content-Type": "application/json"}, method="POST")  # noqa: S310
    with urlopen(request, timeout=_TIMEOUT_SECONDS):  # noqa: S310 (the scheme was looked at)
        pass


Channel = Callable[[Notice], None]


def send(notice: Notice, settings: Notices, ledger: NoticeLedger, beside: Channel | None = None) -> bool:
    """At most once. ``beside`` is a channel that the home brings with it. False: nobody wants it, or it was sent."""
    if not settings.events & notice.event:
        return False
    channels = [*chosen(settings, ledger), *([beside] if beside else [])]
    if not channels or not ledger.first(notice):
        return False
    from http.client import HTTPException

    for channel in channels:
        try:
            channel(notice)
        except (OSError, ValueError, HTTPException) as fault:
            kind = type(fault).__name__
            warn(f"a notice about {notice.submission.id} was not delivered ({kind})")
    return True


def chosen(settings: Notices, ledger: NoticeLedger) -> list[Channel]:
    """The channels of the settings."""
    found: list[Channel] = []
    if settings.file:
        found.append(lambda notice: append_line(ledger.lines, notice))
    if (smtp := settings.smtp) is not None:
        found.append(lambda notice: send_mail(smtp, notice))
    if (url := settings.webhook) is not None:
        found.append(lambda notice: post(url, notice))
    return found

"""File, mail and webhook. They raise OSError or ValueError; nothing they are told is secret but the password."""

import json
import os
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from sandscore.queueing.settings import Smtp
from sandscore.queueing.submission import Event, Notice
from sandscore.queueing.times import utc_now, written

_TIMEOUT_SECONDS = 15.0
_PASSWORD = "SANDSCORE_SMTP_PASSWORD"  # noqa: S105 (the variable's name)


def as_record(notice: Notice) -> dict[str, Any]:
    """A notice for programs: what a team may see of it."""
    submission = notice.submission
    return {
        "event": str(notice.event.name).lower(),
        "submission": submission.id,
        "team": submission.team,
        "task": submission.task,
        "phase": submission.phase,
        "status": str(submission.status),
        "attempt": notice.attempt,
        "subject": notice.subject,
        "text": notice.text,
        "sent": written(utc_now()),
    }


def append_line(path: Path, notice: Notice) -> None:
    """The organisers' own file: one JSON object a line; lines of several workers do not mix."""
    with path.open("ab", buffering=0) as file:
        record = as_record(notice) | ({} if notice.detail is None else {"detail": notice.detail})
        file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")


def send_mail(settings: Smtp, notice: Notice) -> None:
    """To the submitter where that is an address, and to the organiser where help is wanted."""
    import smtplib

    to = [address for address in (notice.submission.submitter,) if address and "@" in address]
    if notice.event is Event.NEEDS_ORGANISER:
        to = []
    if settings.organiser and (notice.event & (Event.NEEDS_ORGANISER | Event.FAILED)):
        to.append(settings.organiser)
    if not to:
        return
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = settings.sender, ", ".join(to), notice.subject
    for_organisers = notice.event is Event.NEEDS_ORGANISER and notice.detail
    message.set_content(f"{notice.text}\n\n{notice.detail}" if for_organisers else notice.text)
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
    body = json.dumps(as_record(notice)).encode()
    request = Request(url, data=body, headers={"Content-Type": "application/json"}, method="POST")  # noqa: S310
    with urlopen(request, timeout=_TIMEOUT_SECONDS):  # noqa: S310 (the scheme was looked at)
        pass

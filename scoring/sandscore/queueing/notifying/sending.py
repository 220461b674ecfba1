"""A notice on its way through the channels the organiser chose."""

from collections.abc import Callable
from http.client import HTTPException

from sandscore.queueing.notifying.channels import append_line, post, send_mail
from sandscore.queueing.notifying.ledger import Ledger
from sandscore.queueing.settings import Notices
from sandscore.queueing.submission import Notice
from sandscore.queueing.warning import warn

Channel = Callable[[Notice], None]


def send(notice: Notice, settings: Notices, ledger: Ledger, beside: Channel | None = None) -> bool:
    """At most once. ``beside`` is a channel that the home brings with it. False: nobody wants it, or it was sent."""
    if not settings.events & notice.event:
        return False
    channels = [*chosen(settings, ledger), *([beside] if beside else [])]
    if not channels or not ledger.first(notice):
        return False
    for channel in channels:
        try:
            channel(notice)
        except (OSError, ValueError, HTTPException) as fault:
            kind = type(fault).__name__
            warn(f"a notice about {notice.submission.id} was not delivered ({kind})")
    return True


def chosen(settings: Notices, ledger: Ledger) -> list[Channel]:
    """The channels of the settings."""
    found: list[Channel] = []
    if settings.file:
        found.append(lambda notice: append_line(ledger.path.with_suffix(".jsonl"), notice))
    if (smtp := settings.smtp) is not None:
        found.append(lambda notice: send_mail(smtp, notice))
    if (url := settings.webhook) is not None:
        found.append(lambda notice: post(url, notice))
    return found

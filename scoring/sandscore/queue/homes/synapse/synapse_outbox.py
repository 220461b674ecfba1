"""The outbox of a Synapse queue: messages to teams, each in a file whose folder says what became of it.

A verdict's message is prepared before the verdict is committed, so that whoever dies in between leaves a trace; from
then on a message only moves, by renaming its file, which of several workers only one can do. Whatever is asked for is
sent at most once: what may have been sent, and nobody knows, is kept as that and waits for an organiser's word.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.clock import stamped, utc_now
from sandscore.base.process_identity import gone, own_name
from sandscore.base.whole_files import sync_folders, told, write_synced
from sandscore.queue.outgoing_messages import OutgoingMessage
from sandscore.queue.queue_layout import private_path
from sandscore.records.submission import Event

FOLDER = "outbox"
_OWNER, _SLASH = "+", "_"


class Delivery(StrEnum):
    """What became of a message; the names of the folders."""

    PREPARED = "prepared"
    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    UNKNOWN = "unknown"
    """It was asked for, and no answer came."""
    UNDELIVERED = "undelivered"
    """It certainly has not arrived."""


OPEN = (Delivery.PREPARED, Delivery.WAITING, Delivery.SENDING, Delivery.UNKNOWN, Delivery.UNDELIVERED)
_FIRST = (Event.SCORED, Event.INVALID, Event.CANCELLED, Event.NEEDS_ORGANISER, Event.FAILED, Event.STARTED)
"""Verdicts go before everything else."""
_VERDICTS = (Event.SCORED, Event.INVALID, Event.CANCELLED)
_TOLD = (Delivery.WAITING, Delivery.SENDING, Delivery.SENT, Delivery.UNKNOWN, Delivery.UNDELIVERED)
"""Where a verdict lies that came to pass."""


class OutboxMessage(Struct, frozen=True, omit_defaults=True):
    """One message. ``nonce`` is of the claim whose verdict it tells; ``why`` says what is known of its delivery."""

    identity: str
    event: int
    submission: str
    recipients: Sequence[str]
    subject: str
    text: str
    made: str
    nonce: str = ""
    attempt: int = 0
    why: str | None = None

    @property
    def turn(self) -> tuple[int, str, str]:
        return _FIRST.index(Event(self.event)), self.made, self.identity

    @property
    def is_verdict(self) -> bool:
        return bool(self.nonce) and Event(self.event) in _VERDICTS


class Outbox:
    """Of one state; several processes may have it open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def prepare(self, message: OutboxMessage) -> bool:
        """On disk, not to be sent before it is released. False where there is one of that identity already."""
        if self._find(message.identity) is not None:
            return False
        self._write(Delivery.PREPARED, replace(message, made=message.made or stamped(utc_now())), owned=True)
        return True

    def release(self, identity: str) -> bool:
        """What is prepared may be sent from now on."""
        return self._move(identity, Delivery.PREPARED, Delivery.WAITING) is not None

    def drop(self, identity: str) -> None:
        """What is only prepared, or waits, is never sent."""
        for delivery in (Delivery.PREPARED, Delivery.WAITING):
            for path in self._paths(delivery, identity):
                path.unlink(missing_ok=True)

    def known(self, identity: str) -> bool:
        return self._find(identity) is not None

    def take(self) -> list[OutboxMessage]:
        """The next to be sent, ours alone: one verdict, or all beginnings that the same team is to be told of. What a
        verdict has overtaken is no longer true (that it begins, or will be tried again) and is never sent."""
        for one in list(self._in(Delivery.WAITING)):
            if self._overtaken(one):
                self.drop(one.identity)
        waiting = sorted((one for one in self._in(Delivery.WAITING)), key=lambda one: one.turn)
        for first in waiting:
            together = [one for one in waiting if first.event == one.event == Event.STARTED and _same(first, one)]
            taken = [one for one in together or [first] if self._own(one)]
            if taken:
                return taken
        return []

    def give_back(self, messages: Iterable[OutboxMessage]) -> None:
        """Certainly not sent: it waits again."""
        for one in messages:
            self._move(one.identity, Delivery.SENDING, Delivery.WAITING)

    def settle(self, messages: Iterable[OutboxMessage], delivery: Delivery, why: str | None = None) -> None:
        """What became of what was taken."""
        for one in messages:
            path = self._move(one.identity, Delivery.SENDING, delivery)
            if path is not None and why is not None:
                write_synced(path, msgspec.json.encode(replace(one, why=why)))

    def abandoned(self) -> list[OutboxMessage]:
        """What was prepared by processes that are gone. What they were sending may have arrived or not."""
        for path in self._orphans(Delivery.SENDING):
            one = _read(path)
            if one is not None:
                target = self._path(Delivery.UNKNOWN, one.identity)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
                write_synced(target, msgspec.json.encode(replace(one, why="the worker stopped while it was sent")))
        return [one for path in self._orphans(Delivery.PREPARED) if (one := _read(path)) is not None]

    def undeliver(self, message: OutboxMessage, why: str) -> None:
        """What was prepared will not be sent, and that is known."""
        if self._move(message.identity, Delivery.PREPARED, Delivery.UNDELIVERED) is not None:
            write_synced(
                self._path(Delivery.UNDELIVERED, message.identity), msgspec.json.encode(replace(message, why=why))
            )

    def resend(self, submissions: Sequence[str]) -> list[str]:
        """What has not arrived, or nobody knows, waits again; of these submissions, of all where none is named."""
        again = []
        for delivery in (Delivery.UNKNOWN, Delivery.UNDELIVERED):
            for one in self._in(delivery):
                if not submissions or one.submission in submissions:
                    path = self._move(one.identity, delivery, Delivery.WAITING)
                    if path is not None:
                        write_synced(path, msgspec.json.encode(replace(one, why=None)))
                        again.append(one.submission)
        return again

    def listed(self, every: bool = False) -> list[OutgoingMessage]:
        """Oldest first; what was sent only where everything is asked for."""
        found = [_listed(each, one) for each in Delivery if every or each in OPEN for one in self._in(each)]
        return sorted(found, key=lambda one: (one.made, one.submission))

    def waiting(self) -> int:
        return sum(1 for _ in self._paths(Delivery.WAITING))

    def _overtaken(self, one: OutboxMessage) -> bool:
        """Whether a verdict on the same submission came to pass, of that attempt or a later one."""
        if Event(one.event) in _VERDICTS:
            return False
        told = (path for each in _TOLD for path in self._paths(each) if path.name.startswith(f"{one.submission}-"))
        others = (other for path in told if (other := _read(path)) is not None and Event(other.event) in _VERDICTS)
        return any(other.submission == one.submission and other.attempt >= one.attempt for other in others)

    def _own(self, one: OutboxMessage) -> bool:
        return self._move(one.identity, Delivery.WAITING, Delivery.SENDING, owned=True) is not None

    def _move(self, identity: str, old: Delivery, new: Delivery, owned: bool = False) -> Path | None:
        target = self._path(new, identity, owned)
        for path in self._paths(old, identity):
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                path.rename(target)
            except FileNotFoundError:  # somebody was first
                continue
            sync_folders([target.parent, path.parent])
            return target
        return None

    def _write(self, delivery: Delivery, message: OutboxMessage, owned: bool) -> None:
        path = self._path(delivery, message.identity, owned)
        with told(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_synced(path, msgspec.json.encode(message))

    def _path(self, delivery: Delivery, identity: str, owned: bool = False) -> Path:
        owner = _OWNER + own_name().replace("/", _SLASH) if owned else ""
        return self._folder / delivery / f"{identity}{owner}"

    def _paths(self, delivery: Delivery, identity: str | None = None) -> Iterator[Path]:
        folder = self._folder / delivery
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if not path.name.startswith(".") and identity in (None, path.name.partition(_OWNER)[0]):
                yield path

    def _in(self, delivery: Delivery) -> Iterator[OutboxMessage]:
        return filter(None, map(_read, self._paths(delivery)))

    def _find(self, identity: str) -> Path | None:
        return next((path for delivery in Delivery for path in self._paths(delivery, identity)), None)

    def _orphans(self, delivery: Delivery) -> list[Path]:
        return [path for path in self._paths(delivery) if gone(_owner(path))]


def outbox_of(root: Path) -> Outbox:
    """The outbox of the state that lies in a folder."""
    return Outbox(private_path(root, FOLDER))


def _listed(delivery: Delivery, one: OutboxMessage) -> OutgoingMessage:
    event = str(Event(one.event).name).lower()
    return OutgoingMessage(one.made, one.submission, event, str(delivery), one.recipients, one.subject, one.why)


def _owner(path: Path) -> str:
    return path.name.partition(_OWNER)[2].replace(_SLASH, "/")


def _same(one: OutboxMessage, other: OutboxMessage) -> bool:
    return list(one.recipients) == list(other.recipients)


def _read(path: Path) -> OutboxMessage | None:
    """None where it has moved on meanwhile, or is damaged."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=OutboxMessage)
    except (OSError, msgspec.DecodeError):
        return None

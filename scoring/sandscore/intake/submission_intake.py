"""The taking in of a submission over HTTP: looked at before its body, streamed to disk, then into the queue at once.

Whoever is answered 201 has a submission on disk. Whatever fails before leaves nothing behind but a part of a file,
which goes after an hour.
"""

import asyncio
import datetime
import fcntl
import hashlib
import os
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import sync_folders, told
from sandscore.intake.live_queue import LiveQueue, QueueSide, intake_folder
from sandscore.intake.problem_details import Refusal
from sandscore.intake.team_registry import TokenOwner
from sandscore.queue.new_submission import NewSubmission, open_phase, shut
from sandscore.queue.queue_layout import OWNER_FILE, OWNER_FOLDER
from sandscore.queue.workspace import Workspace

PARTS, _LOCKS = "incoming", "locks"
_AROUND = 1 << 16
"""Bytes of a form beside its file, at the most."""
_LONGEST_KEY = 200


class Offer(Struct, frozen=True):
    """What somebody wants to hand in, as the headers say; ``length`` is that of the body."""

    owner: TokenOwner
    task: str
    phase: str | None
    key: str | None
    arrived: datetime.datetime
    image: str | None = None
    length: int = 0


class Admission(Struct, frozen=True):
    """An offer that may come in: its phase, and for its file the most bytes and the folders."""

    offer: Offer
    phase: str | None
    most_bytes: int
    workspace: Workspace
    mail: str | None


async def admit(queue: LiveQueue, offer: Offer) -> Admission:
    """Everything that can be known without the body."""
    if offer.key is not None and not (
        0 < len(offer.key) <= _LONGEST_KEY and offer.key.isascii() and offer.key.isprintable()
    ):
        raise Refusal("bad_request", f"a key has 1 to {_LONGEST_KEY} printable ASCII characters")
    return await queue.read(lambda side: _admitted(side, offer))


def _admitted(side: QueueSide, offer: Offer) -> Admission:
    workspace, team = side.workspace, offer.owner.team
    if offer.key is not None and side.door.knows(team, offer.key):
        phase = offer.phase
    else:
        phase = _phase(workspace, offer)
        if (refused := side.door.slots(workspace, team, phase, offer.arrived).refused) is not None:
            raise refused
    mail = side.registry.mail(team)
    if offer.image is not None:
        _require_own(workspace, offer.image, team)
        return Admission(offer, phase, 0, workspace, mail)
    most = workspace.most_bytes(phase)
    if offer.length > most + _AROUND:
        raise Refusal("too_large", f"a file has at most {most:,} bytes")
    seen = os.statvfs(workspace.private)
    if seen.f_bavail * seen.f_frsize < offer.length + workspace.settings.spare_bytes:
        raise Refusal("unavailable", "there is no room for the file just now", after=300)
    return Admission(offer, phase, most, workspace, mail)


def _phase(workspace: Workspace, offer: Offer) -> str | None:
    try:
        workspace.task(offer.task)
        phase = open_phase(workspace.challenge, offer.phase, offer.arrived)
        if offer.task not in (offered := workspace.tasks(phase)):
            raise Refusal("invalid", f"the challenge has no such task; it has {', '.join(offered)}")
    except UsageFault as fault:
        if offer.phase is None and len(running := open_phases(workspace, offer.arrived)) > 1:
            raise Refusal("invalid", f"name the phase: {', '.join(running)}") from None
        raise Refusal("invalid", str(fault)) from None
    return phase


def open_phases(workspace: Workspace, now: datetime.datetime) -> list[str]:
    """Those that take submissions now."""
    return [phase.name for phase in workspace.challenge.phases if shut(phase, now) is None]


def takes_images(workspace: Workspace, team: str) -> tuple[str, ...]:
    """The prefixes under which a team may name images here: its own alone."""
    from sandscore.containers.registries.registry_list import for_team

    images = workspace.challenge.images
    own = [entry for entry in images.registries or () if "{team}" in entry]
    return for_team(own, images.team(team))


def _require_own(workspace: Workspace, image: str, team: str) -> None:
    from sandscore.containers.registries.registry_list import covered

    prefixes = takes_images(workspace, team)
    if not prefixes:
        raise Refusal("invalid", "this challenge takes no images of the team here")
    if not covered(image, prefixes):
        raise Refusal(
            "invalid", f"an image is named by digest, under the team's own prefix: {', '.join(prefixes)}/…@sha256:…"
        )


async def take_image(queue: LiveQueue, admitted: Admission) -> str:
    """The id of the submission."""
    return await _submit(queue, admitted, None)


async def take_file(queue: LiveQueue, admitted: Admission, chunks: AsyncIterator[bytes]) -> str:
    """The id of the submission, its file whole and synced."""
    folder = intake_folder(admitted.workspace, PARTS)
    part = folder / secrets.token_hex(16)
    with _alone(admitted), told(part, "{where} cannot be written: {why}"):
        try:
            return await _submit(queue, admitted, await _write(part, admitted, chunks))
        finally:
            with suppress(FileNotFoundError):
                part.unlink()


async def _write(part: Path, admitted: Admission, chunks: AsyncIterator[bytes]) -> str:
    taken, size = hashlib.sha256(), 0
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_FILE)
    try:
        async for chunk in chunks:
            size += len(chunk)
            if size > admitted.most_bytes:
                raise Refusal("too_large", f"a file has at most {admitted.most_bytes:,} bytes")
            taken.update(chunk)
            left = memoryview(chunk)
            while left:
                left = left[os.write(file, left) :]
        digest = taken.hexdigest()
        await asyncio.to_thread(_place, file, part, admitted.workspace.files / digest)
    finally:
        os.close(file)
    return digest


def _place(file: int, part: Path, place: Path) -> None:
    """Synced, under the SHA-256 of its bytes; one that is there already is as good as new."""
    os.fsync(file)
    place.parent.mkdir(mode=OWNER_FOLDER, exist_ok=True)
    try:
        os.utime(place)
    except FileNotFoundError:
        part.replace(place)
        sync_folders([place.parent])


async def _submit(queue: LiveQueue, admitted: Admission, kept: str | None) -> str:
    offer = admitted.offer
    entry = NewSubmission(
        offer.task,
        offer.owner.team,
        image=offer.image,
        phase=admitted.phase,
        submitter=admitted.mail,
        kept=kept,
        key=offer.key,
        arrived=offer.arrived,
    )
    return await queue.write(lambda side: side.door.submit(side.workspace, entry))


@contextmanager
def _alone(admitted: Admission) -> Iterator[None]:
    """One upload a team at a time, on whichever server; a killed one lets go."""
    name = hashlib.sha256(admitted.offer.owner.team.encode()).hexdigest()
    lock = os.open(intake_folder(admitted.workspace, _LOCKS) / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_FILE)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refusal("under_way", "one upload a team at a time; another is under way", after=5) from None
        yield
    finally:
        os.close(lock)

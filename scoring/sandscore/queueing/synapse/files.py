"""A submitted file from Synapse's storage to a name of ours, checked for kind, size and content."""

import asyncio
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandscore.queueing.room import full
from sandscore.queueing.synapse.bundles import bundle_of
from sandscore.queueing.synapse.faults import Refused
from sandscore.queueing.synapse.handles import acceptable, submitted_handle
from sandscore.queueing.synapse.routes import Routes
from sandscore.queueing.synapse.session import Session
from sandscore.records.errors import InfrastructureFault

_TRIES, _FIRST_WAIT = 6, 0.25
_TIMEOUT, _SLOWEST = 60.0, 200_000
"""Seconds for any file, and bytes a second of a large one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What has to arrive."""

    submission: str
    handle: Mapping[str, Any]
    most_bytes: int

    @property
    def seconds(self) -> float:
        return _TIMEOUT + int(self.handle["contentSize"]) / _SLOWEST


class _Damaged(InfrastructureFault):
    """Other bytes than were announced: worth one more try, not six."""


class Files:
    """Downloads through the association with the submission: the submitter's project is private."""

    def __init__(self, session: Session, routes: Routes) -> None:
        self._session, self._routes = session, routes

    async def fetch(self, submission_id: str, target: Path, most_bytes: int) -> None:
        """Whole and on disk under ``target``, or an error and nothing there."""
        from synapseclient.models import Submission

        reading = Submission(id=submission_id).get_async(synapse_client=self._session.client)
        submission = await self._session.call(f"reading submission {submission_id}", reading)
        bundle = bundle_of(submission)
        self._routes.refuse_unknown(submission.name, bundle)
        wanted = Wanted(submission_id, submitted_handle(bundle, most_bytes), most_bytes)
        part = target.with_name(f".{target.name}.part")
        try:
            await self._download(wanted, part)
            part.replace(target)
            _sync_folder(target.parent)
        except OSError as fault:
            raise InfrastructureFault(f"{target} cannot be written: {fault.strerror}") from None
        finally:
            part.unlink(missing_ok=True)

    async def _download(self, wanted: Wanted, part: Path) -> None:
        """An address lives for seconds: each try asks for a new one."""
        last, damaged = "nothing was tried", 0
        for attempt in range(_TRIES):
            if attempt:
                await asyncio.sleep(_FIRST_WAIT * 2 ** (attempt - 1))
            address = await self._address(wanted)
            try:
                what = f"downloading the file of {wanted.submission}"
                await self._session.call(what, _stream(address, part, wanted.handle), wanted.seconds)
                return
            except _Damaged as fault:
                last, damaged = str(fault), damaged + 1
            except InfrastructureFault as fault:
                last = str(fault)
            if damaged > 1 or full(part.parent):
                break
        raise InfrastructureFault(last)

    async def _address(self, wanted: Wanted) -> str:
        """Looked at once more: what is served now must be what was submitted."""
        from synapseclient.api import get_file_handle_for_download_async

        key = str(wanted.handle["id"])
        asking = get_file_handle_for_download_async(
            key, wanted.submission, "SubmissionAttachment", synapse_client=self._session.client
        )
        found = await self._session.call(f"asking for the file of {wanted.submission}", asking)
        served = found.get("fileHandle") or {}
        if str(served.get("id", key)) != key:
            raise InfrastructureFault(f"Synapse: another file than that of {wanted.submission} is offered")
        acceptable({**wanted.handle, **served}, wanted.most_bytes)
        address = str(found.get("preSignedURL") or "")
        if not address.startswith("https://") and not (self._session.plain_http and address.startswith("http://")):
            raise InfrastructureFault(f"Synapse: no usable address for the file of {wanted.submission}")
        return address


async def _stream(address: str, part: Path, handle: Mapping[str, Any]) -> None:
    """Without the token, without following redirects, and never more bytes than were announced."""
    import httpx

    size, digest, got = int(handle["contentSize"]), hashlib.md5(usedforsecurity=False), 0
    async with (
        httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False) as client,
        client.stream("GET", address, headers={"Accept-Encoding": "identity"}) as answer,
    ):
        if answer.status_code != 200:
            raise Refused(f"Synapse: the storage answered {answer.status_code}", answer.status_code)
        with part.open("wb") as file:
            async for block in answer.aiter_raw():
                got += len(block)
                if got > size:
                    break
                digest.update(block)
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
    if got != size or (handle.get("contentMd5") and digest.hexdigest() != handle["contentMd5"]):
        raise _Damaged("Synapse: the file arrived damaged")


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

"""A submitted file from Synapse's storage to a name of ours, checked for kind, size and content.

Which file a submission brought, and whether we may touch it: refused here, before any download is begun.
"""

import asyncio
import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore.base.byte_sources import opened_regular
from sandscore.base.errors import InfrastructureFault, ParticipantFault, SandscoreError
from sandscore.base.whole_files import part_of, sync_folders, told, write_file
from sandscore.queue.disk_space import full
from sandscore.queue.homes.synapse.synapse_errors import Refused
from sandscore.queue.homes.synapse.synapse_listing import submitted_work
from sandscore.queue.homes.synapse.synapse_routes import Routes
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.homes.synapse.synapse_submissions import bundle_of

S3 = "org.sagebionetworks.repo.model.file.S3FileHandle"
_FILE = "org.sagebionetworks.repo.model.FileEntity"
_DOCKER = "org.sagebionetworks.repo.model.docker.DockerRepository"


def submitted_handle(bundle: Mapping[str, Any], most_bytes: int) -> Mapping[str, Any]:
    """The file handle of the submitted entity itself, if it is one that Synapse keeps."""
    entity, handles = bundle.get("entity"), bundle.get("fileHandles")
    if entity is None or not isinstance(handles, list):
        raise InfrastructureFault("Synapse: the submission came without its entity")
    if not isinstance(entity, Mapping) or entity.get("concreteType") not in (_FILE, _DOCKER):
        raise ParticipantFault("what was submitted is neither a file nor a Docker repository")
    if entity["concreteType"] == _DOCKER:
        raise ParticipantFault("the submitted image has no digest of the form sha256: and 64 hexadecimal digits")
    wanted = str(entity.get("dataFileHandleId"))
    for handle in handles:
        if isinstance(handle, Mapping) and str(handle.get("id")) == wanted:
            return acceptable(handle, most_bytes)
    raise InfrastructureFault("Synapse: the submission came without its file")


def acceptable(handle: Mapping[str, Any], most_bytes: int) -> Mapping[str, Any]:
    """An outside handle would make us read whatever address its owner wrote there, our own disk among them."""
    if handle.get("concreteType") != S3:
        raise ParticipantFault("only files that were uploaded to Synapse are accepted, not links to other places")
    size = handle.get("contentSize")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise ParticipantFault("the size of the submitted file is not known")
    if size > most_bytes:
        raise ParticipantFault(f"the submitted file has {size} bytes; at most {most_bytes} are accepted")
    return handle


_TRIES, _FIRST_WAIT = 6, 0.25
_TIMEOUT, _SLOWEST = 60.0, 200_000
"""Seconds for any file, and bytes a second of a large one."""


class Wanted(Struct, frozen=True):
    """What has to arrive."""

    submission: str
    handle: Mapping[str, Any]
    most_bytes: int

    @property
    def seconds(self) -> float:
        return _TIMEOUT + int(self.handle["contentSize"]) / _SLOWEST


class _Damaged(InfrastructureFault):
    """Other bytes than were announced: worth one more try, not six."""


class SynapseFiles:
    """Downloads through the association with the submission: the submitter's project is private."""

    def __init__(self, session: Session, routes: Routes) -> None:
        self._session, self._routes = session, routes

    async def fetch(self, submission_id: str, target: Path, most_bytes: int) -> None:
        """Whole and on disk under ``target``, or an error and nothing there."""
        reading = self._session.client.rest_get_async(f"/evaluation/submission/{submission_id}")
        submission = submitted_work(await self._session.call(f"reading submission {submission_id}", reading))
        bundle = bundle_of(submission)
        self._routes.refuse_unknown(submission.name, bundle)
        wanted = Wanted(submission_id, submitted_handle(bundle, most_bytes), most_bytes)
        with told(target):
            with part_of(target) as part:
                await self._download(wanted, part)
                _open_up(part, most_bytes)
            sync_folders([target.parent])

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


_PACKED = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst"}
_ARCHIVES = {
    b"PK\x03\x04": "a zip archive",
    b"PK\x05\x06": "an empty zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
}
_TAR = slice(257, 262)


def _open_up(part: Path, most_bytes: int) -> None:
    """What was compressed is unpacked, as for any queue; an archive is refused as what it is."""
    with part.open("rb") as file:
        head = file.read(_TAR.stop)
    _refuse_archives(head)
    ending = next((ending for magic, ending in _PACKED.items() if head.startswith(magic)), None)
    if ending is None:
        return
    named = part.with_name(part.name + ending)
    part.rename(named)
    try:
        with opened_regular(named, most_bytes) as source:
            content = bytes(source.data)
    except SandscoreError:  # it names a file of ours
        raise ParticipantFault(f"the submitted {ending} file is damaged, or larger than {most_bytes} bytes") from None
    finally:
        named.unlink(missing_ok=True)
    _refuse_archives(content)
    write_file(part, content, sync=True)


def _refuse_archives(head: bytes) -> None:
    found = next((what for magic, what in _ARCHIVES.items() if head.startswith(magic)), None)
    if found is None and head[_TAR] == b"ustar":
        found = "a tar archive"
    if found is not None:
        raise ParticipantFault(f"{found} was submitted: submit the JSON file itself, plain or as .gz or .zst")


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

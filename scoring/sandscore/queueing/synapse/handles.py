"""Which file a submission brought, and whether we may touch it: refused here, before any download is begun."""

from collections.abc import Mapping
from typing import Any

from sandscore.records.errors import InfrastructureFault, ParticipantFault

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

"""The client's cache: of one process alone, because the client breaks another's lock on a shared one after seconds."""

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from sandscore.records.errors import InfrastructureFault
from sandscore.running.processes import gone, own_name

FOLDER = "synapse-cache"
_SLASH, _END = "_", "+"


def new_cache(state: Path) -> Path:
    """A folder named after this process; those of processes that are gone are removed."""
    folder = state / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for other in folder.iterdir():
            if gone(other.name.partition(_END)[0].replace(_SLASH, "/")):
                rmtree(other, ignore_errors=True)
        return Path(mkdtemp(dir=folder, prefix=own_name().replace("/", _SLASH) + _END))
    except OSError as fault:
        raise InfrastructureFault(f"{folder} cannot be written: {fault.strerror}") from None

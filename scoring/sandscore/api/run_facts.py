"""The record of a run, on its way to the score card."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sandscore.base.errors import MissingFile, OrganiserFault
from sandscore.records.run_record import RunRecord


def read_run(path: str) -> dict[str, Any]:
    """What a run.json holds, or the one in a run's folder."""
    file = Path(path) / "run.json" if Path(path).is_dir() else Path(path)
    try:
        record = RunRecord.model_validate_json(file.read_bytes())
    except OSError as fault:
        raise MissingFile(f"{file}: {fault.strerror}") from None
    except ValidationError as fault:
        raise OrganiserFault(f"{file}: is not the record of a run ({fault.error_count()} faults)") from None
    return record.model_dump(mode="json")

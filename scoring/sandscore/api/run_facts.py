"""The record of a run, on its way to the score card."""

from pathlib import Path
from typing import Any

from sandscore.base.errors import OrganiserFault
from sandscore.records.record_reading import file_content, read_record
from sandscore.records.run_record import RunRecord


def read_run(path: str) -> dict[str, Any]:
    """What a run.json holds, or the one in a run's folder."""
    file = Path(path) / "run.json" if Path(path).is_dir() else Path(path)
    record = read_record(RunRecord, file_content(file), file, "the record of a run", OrganiserFault)
    return record.model_dump(mode="json")

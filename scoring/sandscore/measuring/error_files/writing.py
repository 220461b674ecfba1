"""The four error files of a directory, all of them or none."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sandscore.measuring.error_files.aligning import EntityMap, align
from sandscore.measuring.error_files.comparing import compare
from sandscore.measuring.error_files.figure import page
from sandscore.measuring.error_files.presidio_report import presidio_report
from sandscore.measuring.error_files.report import Alignment, ErrorReport, metrics
from sandscore.measuring.error_files.tables import table
from sandscore.measuring.profiles.presidio.preparing import options_of, tagged
from sandscore.measuring.values import Scalar
from sandscore.records.documents import Document
from sandscore.records.errors import InfrastructureFault, UsageFault
from sandscore.tasks import Task

Settings = Mapping[str, Scalar]


def write_error_files(
    directory: Path,
    documents: Sequence[Document],
    task: Task,
    *,
    presidio: Settings | None = None,
    names: EntityMap | None = None,
    created: str | None = None,
) -> ErrorReport:
    """Compares, writes the files and returns what they say.

    ``presidio`` are the settled parameters of that profile; without them spans are compared as the score
    card classifies errors. ``names`` are task labels for foreign types.
    """
    report = error_report(documents, task, presidio=presidio, names=names, created=created)
    write_files(directory, contents(report))
    return report


def error_report(
    documents: Sequence[Document],
    task: Task,
    *,
    presidio: Settings | None = None,
    names: EntityMap | None = None,
    created: str | None = None,
) -> ErrorReport:
    """What the files would say."""
    kept, alignment = align(documents, names) if names is not None else (documents, Alignment())
    if presidio is None:
        return compare(kept, task, alignment, created)
    prepared = tagged(kept, task, str(presidio["tokens"]))
    return presidio_report(prepared, options_of(presidio), presidio, alignment, created)


def contents(report: ErrorReport) -> dict[str, str]:
    """The text of each file by its name."""
    numbers = json.dumps(metrics(report), indent=2, ensure_ascii=False, allow_nan=False)
    return {
        "metrics.json": f"{numbers}\n",
        "false_positives.csv": table(report.false_positives),
        "false_negatives.csv": table(report.false_negatives),
        "confusion_matrix.html": page(report.labels, report.matrix),
    }


def write_files(directory: Path, texts: Mapping[str, str]) -> None:
    """Writes every text beside its final name first, then moves them all; other files stay as they are."""
    encoded = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory, prefix=".writing-") as beside:
            for name, data in encoded.items():
                (Path(beside) / name).write_bytes(data)
            for name in encoded:
                (Path(beside) / name).replace(directory / name)
    except (FileExistsError, NotADirectoryError):
        raise UsageFault(f"{directory}: is not a directory") from None
    except OSError as fault:
        raise InfrastructureFault(f"{directory}: cannot be written ({fault.strerror})") from None

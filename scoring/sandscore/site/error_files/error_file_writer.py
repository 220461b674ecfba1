"""The four error files of a directory, all of them or none: what went wrong where, written for the organiser.

The tables list what the error report of a pipeline around Presidio's span evaluator lists, its slips mended: annotation
and prediction are the right way round. The number of entities is, as there, the number of tokens. A cell that a
spreadsheet would run as a formula is text here; quotes, line breaks and separators are quoted as RFC 4180 has it.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import astuple, fields

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.terminal_text import disarmed
from sandscore.base.whole_files import told, write_files
from sandscore.measures.measure_syntax import Scalar
from sandscore.profiles.presidio.presidio_counting import Kind, SpanError
from sandscore.profiles.presidio.presidio_evaluation import EvaluationOptions, Score, evaluate_tags
from sandscore.profiles.presidio.presidio_input import options_of, tagged
from sandscore.profiles.presidio.presidio_spans import TaggedDocument
from sandscore.profiles.profile import stopping
from sandscore.profiles.profile_registry import Profile
from sandscore.records.document import Document
from sandscore.site.error_files.confusion_page import page
from sandscore.site.error_files.entity_map import EntityMap, align, read_entity_map
from sandscore.site.error_files.error_comparison import compare
from sandscore.site.error_files.error_report import EntityAlignment, ErrorRatios, ErrorReport, ErrorRow, metrics
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.scoring.scoring_flow import Scored

_COMPARING = "presidio"
_NAMED = 100
"""Notes left out that are named one by one; metrics.json names them all."""


class ErrorFiles(Struct, frozen=True):
    """Where to, whose comparison, and task labels for foreign types."""

    directory: Path
    task: Task
    profile: Profile | None
    names: EntityMap | None
    created: str | None

    def write(self, scored: "Scored") -> Iterator[str]:
        """Writes them; the value says, a sentence each, what is not in them."""
        with stopping("files", ParticipantFault):
            report = write_error_files(
                self.directory,
                _documents(scored),
                self.task,
                presidio=self.profile.settings if self.profile else None,
                names=self.names,
                created=self.created,
            )
        return _left_out(report.alignment)


def requested(
    directory: str, entity_map: str | None, task: Task, profile: Profile | None, created: str | None
) -> ErrorFiles:
    """What the options ask for."""
    if profile is not None and profile.value.name != _COMPARING:
        raise UsageFault(f"--errors goes with our own profile and with {_COMPARING}; no other compares types")
    names = read_entity_map(entity_map, task) if entity_map is not None else None
    return ErrorFiles(Path(directory), task, profile, names, created)


def _documents(scored: "Scored") -> "Sequence[Document]":
    from sandscore.documents.note_documents import documents_of
    from sandscore.profiles.profile_documents import documents

    return documents_of(scored.loaded) if scored.given is None else documents(scored.given)


def _left_out(alignment: "EntityAlignment") -> Iterator[str]:
    for one in alignment.discarded[:_NAMED]:
        yield f"note {one.note} is left out of the error files: {one.reason}"
    if alignment.discarded[_NAMED:]:
        yield f"and {len(alignment.discarded) - _NAMED:,} more notes, which metrics.json names"
    for name, times in (alignment.unmapped or {}).items():
        yield f"the entity map does not know the type '{name}' ({times:,} annotations)"


def presidio_report(
    documents: Sequence[TaggedDocument],
    options: EvaluationOptions,
    settings: Mapping[str, Scalar],
    alignment: EntityAlignment,
    created: str | None,
) -> ErrorReport:
    """The report on these tagged notes; ``settings`` are named in it."""
    found = evaluate_tags(documents, options)
    labels, matrix = found.matrix()
    return ErrorReport(
        overall=_ratios(found.pii),
        f_score=found.pii.f_beta,
        per_type={name: _ratios(score) for name, score in found.per_type.items()},
        labels=labels,
        matrix=matrix,
        false_positives=_rows(found.errors, ("FP", "WrongEntity")),
        false_negatives=_rows(found.errors, ("FN", "WrongEntity")),
        samples=len(documents),
        entities=sum(len(document.tokens) for document in documents),
        config={"comparison": "presidio", **settings},
        alignment=alignment,
        created=created,
    )


def _ratios(score: Score) -> ErrorRatios:
    return ErrorRatios(score.precision, score.recall)


def _rows(errors: Iterable[SpanError], kinds: tuple[Kind, ...]) -> list[ErrorRow]:
    """The errors of these kinds, kind after kind."""
    kept = [error for kind in kinds for error in errors if error.kind == kind]
    return [
        ErrorRow(e.kind, e.annotation, e.prediction, e.token, e.full_text, e.note, e.explanation, e.start, e.end)
        for e in kept
    ]


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
    texts = {name: text.encode("utf-8", "backslashreplace") for name, text in contents(report).items()}
    with told(directory, "{where}: cannot be written ({why})", in_the_way=f"{directory}: is not a directory"):
        write_files(directory, texts)
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
    kept, alignment = align(documents, names) if names is not None else (documents, EntityAlignment())
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
        "confusion_matrix.html": page(
            report.labels, report.matrix, "tokens" if report.config["comparison"] == _COMPARING else "annotations"
        ),
    }


COLUMNS = tuple(field.name for field in fields(ErrorRow))


def table(rows: Iterable[ErrorRow]) -> str:
    """A header and one line a row, repeated rows once; kinds are written as Presidio's pipeline writes them."""
    lines = [_line(COLUMNS)]
    for row in dict.fromkeys(rows):
        kind, *others = astuple(row)
        lines.append(_line([f"ErrorType.{kind}", *_cells(others)]))
    return "".join(lines)


def _line(cells: Sequence[str | int]) -> str:
    """The writer quotes a carriage return only where it ends its own lines; ours end in a line feed."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerow(cells)
    return written.getvalue().removesuffix("\r\n") + "\n"


def _cells(values: Sequence[str | int]) -> list[str | int]:
    return [disarmed(value) if isinstance(value, str) else value for value in values]

"""``score --errors``: what went wrong where, written for the organiser; what an entity map left out is told."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore.cli.reports import SHOWN, printable
from sandscore.records.errors import ParticipantFault, UsageFault
from sandscore.tasks import Task

if TYPE_CHECKING:
    from sandscore.measuring.error_files.aligning import EntityMap
    from sandscore.measuring.error_files.report import Alignment
    from sandscore.measuring.profiles.result import ProfileInput
    from sandscore.measuring.profiles.table import Profile
    from sandscore.reading.files import Loaded
    from sandscore.records.documents import Document

_COMPARING = "presidio"


@dataclass(frozen=True, slots=True)
class ErrorFiles:
    """What was asked for: where to, whose comparison, and task labels for foreign types."""

    directory: Path
    task: Task
    profile: "Profile | None"
    names: "EntityMap | None"
    created: str | None

    def write(self, loaded: "Loaded", given: "ProfileInput | None") -> None:
        """Writes them; ``given`` are the files as the profile's original reads them."""
        from sandscore.measuring.error_files import write_error_files
        from sandscore.measuring.profiles.stopping import stopping

        with stopping("files", ParticipantFault):
            report = write_error_files(
                self.directory,
                _documents(loaded, given),
                self.task,
                presidio=self.profile.settings if self.profile else None,
                names=self.names,
                created=self.created,
            )
        for sentence in _left_out(report.alignment):
            click.echo(f"warning: {printable(sentence)}", err=True)


def error_files(
    directory: str | None, entity_map: str | None, task: Task, profile: "Profile | None", created: str | None
) -> ErrorFiles | None:
    """What the options ask for, if anything."""
    if directory is None:
        if entity_map is not None:
            raise UsageFault("--entity-map goes with --errors: it names the types in the error files")
        return None
    from sandscore.measuring.error_files.aligning import read_entity_map

    if profile is not None and profile.value.name != _COMPARING:
        raise UsageFault(f"--errors goes with our own profile and with {_COMPARING}; no other compares types")
    names = read_entity_map(entity_map, task) if entity_map is not None else None
    return ErrorFiles(Path(directory), task, profile, names, created)


def _documents(loaded: "Loaded", given: "ProfileInput | None") -> "Sequence[Document]":
    from sandscore.measuring.documents import documents_of
    from sandscore.measuring.profiles.inputs import documents

    return documents_of(loaded) if given is None else documents(given)


def _left_out(alignment: "Alignment") -> Iterator[str]:
    for one in alignment.discarded[:SHOWN]:
        yield f"note {one.note} is left out of the error files: {one.reason}"
    if alignment.discarded[SHOWN:]:
        yield f"and {len(alignment.discarded) - SHOWN:,} more notes, which metrics.json names"
    for name, times in (alignment.unmapped or {}).items():
        yield f"the entity map does not know the type '{name}' ({times:,} annotations)"

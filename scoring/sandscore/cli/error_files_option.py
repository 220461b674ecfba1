"""``score --errors``: what went wrong where, written for the organiser; what an entity map left out is told."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.base.terminal_text import printable
from sandscore.cli.problem_text import SHOWN
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.annotations.input_files import Loaded
    from sandscore.profiles.profile import ProfileInput
    from sandscore.profiles.profile_registry import Profile
    from sandscore.records.document import Document
    from sandscore.site.error_files.entity_map import EntityMap
    from sandscore.site.error_files.error_report import EntityAlignment

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
        from sandscore.profiles.profile import stopping
        from sandscore.site.error_files.error_file_writer import write_error_files

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
    from sandscore.site.error_files.entity_map import read_entity_map

    if profile is not None and profile.value.name != _COMPARING:
        raise UsageFault(f"--errors goes with our own profile and with {_COMPARING}; no other compares types")
    names = read_entity_map(entity_map, task) if entity_map is not None else None
    return ErrorFiles(Path(directory), task, profile, names, created)


def _documents(loaded: "Loaded", given: "ProfileInput | None") -> "Sequence[Document]":
    from sandscore.measures.note_documents import documents_of
    from sandscore.profiles.profile_documents import documents

    return documents_of(loaded) if given is None else documents(given)


def _left_out(alignment: "EntityAlignment") -> Iterator[str]:
    for one in alignment.discarded[:SHOWN]:
        yield f"note {one.note} is left out of the error files: {one.reason}"
    if alignment.discarded[SHOWN:]:
        yield f"and {len(alignment.discarded) - SHOWN:,} more notes, which metrics.json names"
    for name, times in (alignment.unmapped or {}).items():
        yield f"the entity map does not know the type '{name}' ({times:,} annotations)"

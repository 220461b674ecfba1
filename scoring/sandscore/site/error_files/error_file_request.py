"""A request for error files: what went wrong where, written for the organiser; what an entity map left out is told."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.profiles.profile import stopping
from sandscore.profiles.profile_registry import Profile
from sandscore.site.error_files.entity_map import EntityMap, read_entity_map
from sandscore.site.error_files.error_file_writer import write_error_files
from sandscore.task_table.task import Task

if TYPE_CHECKING:
    from sandscore.records.document import Document
    from sandscore.scoring.scoring_flow import Scored
    from sandscore.site.error_files.error_report import EntityAlignment

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
    from sandscore.measures.note_documents import documents_of
    from sandscore.profiles.profile_documents import documents

    return documents_of(scored.loaded) if scored.given is None else documents(scored.given)


def _left_out(alignment: "EntityAlignment") -> Iterator[str]:
    for one in alignment.discarded[:_NAMED]:
        yield f"note {one.note} is left out of the error files: {one.reason}"
    if alignment.discarded[_NAMED:]:
        yield f"and {len(alignment.discarded) - _NAMED:,} more notes, which metrics.json names"
    for name, times in (alignment.unmapped or {}).items():
        yield f"the entity map does not know the type '{name}' ({times:,} annotations)"

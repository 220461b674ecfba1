"""An organiser's settings of the queue itself: the content of ``settings.json``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from sandscore.base.clock import FIRST_SECONDS, MOST_FAILURES
from sandscore.base.errors import UsageFault
from sandscore.records.record_reading import complaints
from sandscore.records.strict_record import StrictRecord
from sandscore.records.submission import Event

ALL_EVENTS = int(sum(Event))


class Smtp(StrictRecord):
    """A mail server; its password is read from SANDSCORE_SMTP_PASSWORD, never from a file."""

    host: str
    port: Annotated[int, Field(gt=0, lt=65536)] = 25
    sender: str
    organiser: str | None = Field(default=None, description="Gets a copy of what needs an organiser.")
    starttls: bool = False
    user: str | None = None


class Notices(StrictRecord):
    """Who hears of what. ``events`` is a sum: 1 started, 2 scored, 4 failed, 8 invalid, 16 cancelled or refused, 32
    help."""

    events: Annotated[int, Field(ge=0, le=ALL_EVENTS)] = ALL_EVENTS
    file: bool = Field(default=True, description="A line in notices.jsonl for each notice.")
    smtp: Smtp | None = None
    webhook: str | None = Field(default=None, description="A URL that is sent each notice as JSON.")


class QueueSettings(StrictRecord):
    """``data`` names the folder of notes and gold; a phase may have a folder of its own."""

    data: dict[str, str] = Field(description='By phase; "" is for all phases that are not named.')
    names: dict[str, str] = Field(
        default_factory=dict,
        description="What the data sets are called on cards, by phase as data is: as their folders were at first.",
    )
    practice: dict[str, str] = Field(
        default_factory=dict,
        description="Folders of practice notes, by phase as data is; where there is none, the bundled example's.",
    )
    files: dict[str, str] = Field(
        default_factory=dict,
        description="Files and folders that challenge.toml names, as it names them, and where they were at first; one "
        "that was named since lies relative to the folder of the queue.",
    )
    hipaa_map: str | None = None
    class_map: str | None = Field(default=None, description="Which labels identify a patient, for measures of leaks.")
    protocol: Literal["service", "batch"] = "service"
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    complete: bool = Field(default=False, description="A note without an entry makes predictions invalid.")
    most_bytes: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Of a submitted file, unpacked; default: 32 MB and 4 bytes a character of the notes."
    )
    most_failures: Annotated[int, Field(ge=1, le=1000)] = MOST_FAILURES
    most_losses: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=20, description="Workers that may die over a submission, one after the other."
    )
    first_wait_seconds: Annotated[float, Field(ge=0, le=3600)] = FIRST_SECONDS
    lease_seconds: Annotated[float, Field(ge=0.2, le=86_400)] = 30.0
    spare_bytes: Annotated[int, Field(ge=0)] = Field(
        default=32 << 20, description="Free on the disk of this folder; with less nothing is claimed."
    )
    board_rows: Annotated[int, Field(ge=2, le=1000)] = Field(
        default=60, description="A board with more submissions than this shows each team's best."
    )
    notices: Notices = Notices()
    home: str | None = Field(default=None, description="The home of the queue, where it is of an installed package.")


def chosen_settings(folders: dict[str, str], chosen: Mapping[str, Any]) -> QueueSettings:
    """Settings from the folders of the data and what was chosen, those left out (None) at their defaults."""
    given = {name: value for name, value in chosen.items() if value is not None}
    for name in ("hipaa_map", "class_map"):
        if given.get(name):
            given[name] = str(Path(given[name]).resolve())
    try:
        return QueueSettings(data=folders, names=folder_names(folders), **given)
    except ValidationError as fault:
        raise UsageFault(complaints(fault)[0][1]) from None


def folder_names(folders: Mapping[str, str]) -> dict[str, str]:
    """What data sets in these folders are called."""
    return {phase: Path(folder).name for phase, folder in folders.items()}

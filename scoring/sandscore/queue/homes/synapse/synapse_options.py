"""An organiser's options for the Synapse side of a queue: ``synapse.json`` in the worker's local state."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from sandscore.base.errors import InfrastructureFault, MissingFile, OrganiserFault
from sandscore.queue.queue_layout import edited_path
from sandscore.records.record_reading import read_record
from sandscore.records.strict_record import StrictRecord

FILE = "synapse.json"
Entity = Annotated[str, Field(pattern=r"^syn[0-9]+$")]


class SynapseOptions(StrictRecord):
    """Every field may be left out; without the file the queue's own project takes logs and board."""

    evaluation: Annotated[str, Field(pattern=r"^[0-9]+$")] | None = Field(
        default=None, description="The queue whose state this is; null: --synapse says it."
    )
    config: str | None = Field(default=None, description="A .synapseConfig; null: --synapse-config, or the usual one.")
    task: str | None = Field(default=None, description="Of every submission; null: the only one, else as named.")
    phase: str | None = Field(default=None, description="Of every submission; null: the only one.")
    logs: Entity | None = Field(default=None, description="Project or folder of the log folders; null: the queue's.")
    send_logs: bool = True
    share_cards: bool = Field(
        default=False, description="Score cards to the LOCKED folder, for another machine's board."
    )
    board: Entity | None = Field(default=None, description="Project of table and wiki page; null: the queue's.")
    publish: bool = Field(
        default=True, description="False for all machines but the one that makes boards and keeps the log."
    )
    wiki: bool = True
    annotate_scores: bool = Field(default=True, description="What a team is told of its scores, as annotations.")
    send_messages: bool = True
    begun_messages: bool = Field(default=False, description="Also that an evaluation has begun, merged by team.")
    quota: Literal["claim", "rounds"] = Field(
        default="claim", description="Who keeps the challenge's quota: workers when they claim, or the queue's rounds."
    )
    organisers: tuple[Annotated[str, Field(pattern=r"^[0-9]+$")], ...] = Field(
        default=(), description="Users or teams that hear of what needs an organiser; empty: the queue's owner."
    )
    poll_seconds: Annotated[float, Field(ge=0, le=3600)] = Field(default=5.0, description="Between looks at the queue.")
    requests_per_minute: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=540, description="Of all workers together; calls of statuses and messages are paced along with it."
    )
    budget: str | None = Field(
        default=None, description="A folder that all queues of the account on this machine share; null: its own."
    )
    call_seconds: Annotated[float, Field(gt=0, le=3600)] = Field(default=180.0, description="Most for one call.")
    retry_seconds: Annotated[float, Field(ge=0, le=3600)] = Field(default=60.0, description="Waiting within a call.")


def read_options(state: Path) -> SynapseOptions:
    """The file's content; the defaults where there is none."""
    path = edited_path(state, FILE)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return SynapseOptions()
    except IsADirectoryError:
        raise MissingFile(f"{path}: is a directory, not a file") from None
    except OSError as fault:
        raise InfrastructureFault(f"{path} cannot be read: {fault.strerror}") from None
    return read_record(SynapseOptions, content, path, "the Synapse options of a queue", OrganiserFault)

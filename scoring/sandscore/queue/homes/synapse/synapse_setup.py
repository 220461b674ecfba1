"""``queue init`` for a queue on Synapse: the worker's local state, which knows from then on whose state it is."""

import asyncio
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sandscore.base.errors import UsageFault
from sandscore.base.whole_files import write_synced
from sandscore.queue.homes.synapse.synapse_options import FILE, SynapseOptions
from sandscore.queue.homes.synapse.synapse_parts import read_queue
from sandscore.queue.homes.synapse.synapse_routes import routes
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.queue_setup import found
from sandscore.queue.settings import QueueSettings
from sandscore.queue.workspace import Workspace
from sandscore.ranking.challenge_reading import read_challenge
from sandscore.records.record_reading import complaints


def options_of(evaluation_id: str, config: Path | None, words: Iterable[str]) -> SynapseOptions:
    """What is written to synapse.json: ``words`` are KEY=VALUE, a value being JSON or plain text."""
    given: dict[str, Any] = {"evaluation": evaluation_id}
    if config is not None:
        given["config"] = str(config.expanduser().resolve())
    for word in words:
        name, separator, value = word.partition("=")
        if not separator or name in given:
            raise UsageFault(f"--synapse-option {word}: written KEY=VALUE, each KEY once")
        given[name] = _value(value)
    try:
        return SynapseOptions.model_validate_json(json.dumps(given))
    except ValidationError as fault:
        where, said = complaints(fault)[0]
        known = sorted(SynapseOptions.model_fields)
        hint = "" if where[0] in known else f"; known are {', '.join(known)}"
        raise UsageFault(f"--synapse-option {said}{hint}") from None


def found_state(root: Path, challenge: Path, settings: QueueSettings, options: SynapseOptions) -> Workspace:
    """Make the folder, once Synapse has said that the queue is there and may be worked on."""
    asyncio.run(_ask(Workspace(root.resolve(), read_challenge(challenge), settings), options))

    def remember(folder: Path) -> None:
        content = options.model_dump_json(indent=2, exclude_unset=True)
        write_synced(folder / FILE, content.encode() + b"\n")

    return found(root, challenge, settings, remember, (FILE,), logs=options.publish)


async def _ask(workspace: Workspace, options: SynapseOptions) -> None:
    config = None if options.config is None else Path(options.config)
    with tempfile.TemporaryDirectory(prefix="sandscore-synapse-") as cache:
        session = Session(config, Path(cache), options)
        try:
            await session.connect()
            queue = await read_queue(session, str(options.evaluation))
            routes(workspace, options, queue.get("name"))
        finally:
            await session.close()


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text

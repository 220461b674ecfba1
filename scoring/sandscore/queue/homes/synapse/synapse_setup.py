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
from sandscore.challenges.challenge_reading import read_challenge
from sandscore.queue.homes.synapse.synapse_options import FILE, SynapseOptions
from sandscore.queue.homes.synapse.synapse_parts import keeps_quota, read_queue
from sandscore.queue.homes.synapse.synapse_preflight import preflight
from sandscore.queue.homes.synapse.synapse_quota import limits_of, quota_words, write_rounds
from sandscore.queue.homes.synapse.synapse_routes import routes
from sandscore.queue.homes.synapse.synapse_session import Session
from sandscore.queue.new_submission import quota_of
from sandscore.queue.queue_setup import found
from sandscore.queue.settings import QueueSettings
from sandscore.queue.workspace import Workspace
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


LEASE_SECONDS = 600.0
"""Where nothing else is said: a renewal is a status call, and what died on this machine is known at once."""


def found_state(
    root: Path, challenge: Path, settings: QueueSettings, options: SynapseOptions, *, write_quota: bool = False
) -> tuple[Workspace, list[str]]:
    """Make the folder, once Synapse has said that the queue is there and may be worked on. And what is to be told."""
    if "lease_seconds" not in settings.model_fields_set:
        settings = settings.model_copy(update={"lease_seconds": LEASE_SECONDS})
    if write_quota:
        options = options.model_copy(update={"quota": "rounds"})
    workspace = Workspace(root.resolve(), read_challenge(challenge), settings)
    said = asyncio.run(_ask(workspace, options, write_quota))

    def remember(folder: Path) -> None:
        content = options.model_dump_json(indent=2, exclude_unset=True)
        write_synced(folder / FILE, content.encode() + b"\n")

    return found(root, challenge, settings, remember, (FILE,), logs=options.publish), said


async def _ask(workspace: Workspace, options: SynapseOptions, write_quota: bool) -> list[str]:
    config = None if options.config is None else Path(options.config)
    evaluation = str(options.evaluation)
    with tempfile.TemporaryDirectory(prefix="sandscore-synapse-") as cache:
        session = Session(config, Path(cache), options)
        try:
            await session.connect()
            asked = await preflight(session, evaluation, options)
            asked.require()
            queue = await read_queue(session, evaluation)
            phase = routes(workspace, options, queue.get("name")).phase
            if write_quota:
                await write_rounds(session, evaluation, workspace.challenge, phase)
            by_workers = await keeps_quota(session, evaluation, workspace, phase, options)
        finally:
            await session.close()
    notes = [one for one in asked.findings if one.level == "note"]
    told = [f"{one.found}: {one.advice}" if one.advice else one.found for one in notes]
    return [*_quota(workspace, phase, by_workers), *asked.shown, *told]


def _quota(workspace: Workspace, phase: str | None, by_workers: bool) -> list[str]:
    quota, _ = quota_of(workspace.challenge, phase)
    if not limits_of(quota):
        return ["challenge.toml has no quota: a team may submit as often as the queue's own rounds let it"]
    who = "enforced by workers when they claim (REJECTED)" if by_workers else "kept by the queue's rounds on Synapse"
    return [f"quota of each team: {quota_words(quota)}, {who}"]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text

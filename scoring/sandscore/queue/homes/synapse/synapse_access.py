"""Checks whether a configuration can serve a queue on Synapse, and what an organiser should mend: for ``doctor``."""

import asyncio
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sandscore.base.errors import SandscoreError
from sandscore.containers.host_checks import Finding
from sandscore.queue.homes.synapse.synapse_options import SynapseOptions
from sandscore.queue.homes.synapse.synapse_parts import NEEDED
from sandscore.queue.homes.synapse.synapse_session import CONFIG, Session

_EVERYBODY = {"273948": "every Synapse user", "273949": "the public"}


def check_access(config: Path | None = None, evaluation_id: str | None = None) -> list[Finding]:
    """Configuration file, token, and (if named) the queue. Changes nothing; raises nothing."""
    findings = list(_file(config))
    if any(finding.level == "fault" for finding in findings):
        return findings
    if find_spec("synapseclient") is None:
        return [
            *findings,
            Finding("synapse", "fault", "the Python package is missing", "pip install 'sandscore[synapse]'"),
        ]
    return [*findings, *asyncio.run(_ask(config, evaluation_id))]


def _file(config: Path | None) -> Iterator[Finding]:
    path, name = (config or CONFIG).expanduser(), "synapse config"
    if not path.is_file():
        advice = "write one, or set SYNAPSE_AUTH_TOKEN"
        yield Finding(name, "fault" if config else "note", f"there is no {path}", advice)
    elif path.stat().st_mode & 0o077:
        yield Finding(name, "note", f"others can read {path}, which holds a token", f"chmod 600 {path}")
    else:
        yield Finding(name, "ok", f"{path}, readable by its owner alone")


async def _ask(config: Path | None, evaluation_id: str | None) -> list[Finding]:
    with tempfile.TemporaryDirectory(prefix="sandscore-synapse-") as cache:
        session = Session(config, Path(cache), SynapseOptions(retry_seconds=5.0, call_seconds=60.0))
        try:
            await session.connect()
            client = session.client
            who = f"logged in as {client.credentials.username or client.credentials.owner_id} at {client.repoEndpoint}"
            found = [Finding("synapse token", "ok", who)]
            return [*found, *await _queue(session, evaluation_id)] if evaluation_id else found
        except SandscoreError as fault:
            return [
                Finding("synapse token", "fault", str(fault), "a personal access token with view, modify and download")
            ]
        finally:
            await session.close()


async def _queue(session: Session, evaluation_id: str) -> list[Finding]:
    """The list needs READ_PRIVATE_SUBMISSION; the access list says the rest."""
    client, what = session.client, f"reading queue {evaluation_id}"
    listing = client.rest_get_async(f"/evaluation/{evaluation_id}/submission/bundle/all?limit=1")
    try:
        await session.call(what, listing)
    except SandscoreError as fault:
        return [Finding("synapse queue", "fault", str(fault), f"give the account {NEEDED} on the queue")]
    found = [Finding("synapse queue", "ok", f"the submissions of {evaluation_id} can be listed")]
    try:
        acl = await session.call(what, client.rest_get_async(f"/evaluation/{evaluation_id}/acl"))
    except SandscoreError:
        return [*found, Finding("synapse rights", "note", "who may do what on the queue cannot be read")]
    return [*found, *_permissions(acl)]


def _permissions(acl: dict[str, Any]) -> Iterator[Finding]:
    """READ on a queue shows all annotations of all its submissions to whoever makes a view of it."""
    rows = {str(row["principalId"]): set(row["accessType"]) for row in acl.get("resourceAccess", [])}
    if not any({"READ_PRIVATE_SUBMISSION", "UPDATE_SUBMISSION"} <= kinds for kinds in rows.values()):
        yield Finding("synapse rights", "fault", "nobody may score", f"give an account {NEEDED} on the queue")
    readers = [who for who, kinds in rows.items() if "READ" in kinds and "UPDATE_SUBMISSION" not in kinds]
    if readers:
        names = ", ".join(_EVERYBODY.get(who, who) for who in readers)
        found = f"{names} may READ the queue and so the annotations of every submission"
        yield Finding("synapse rights", "note", found, "SUBMIT alone is enough to submit")
    else:
        yield Finding("synapse rights", "ok", "only those who may score can read annotations")

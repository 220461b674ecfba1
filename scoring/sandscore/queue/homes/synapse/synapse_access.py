"""Checks whether a configuration can serve a queue on Synapse, and what an organiser should mend: for ``doctor``."""

import asyncio
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from sandscore.base.errors import MissingFile, OrganiserFault, SandscoreError
from sandscore.containers.host_checks import Finding
from sandscore.queue.homes.synapse.synapse_options import SynapseOptions
from sandscore.queue.homes.synapse.synapse_preflight import preflight
from sandscore.queue.homes.synapse.synapse_session import CONFIG, Session


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
        yield Finding(name, "fault" if config else "note", f"there is no {path}", advice, by="organiser")
    elif path.stat().st_mode & 0o077:
        yield Finding(name, "note", f"others can read {path}, which holds a token", f"chmod 600 {path}")
    else:
        yield Finding(name, "ok", f"{path}, readable by its owner alone")


async def _ask(config: Path | None, evaluation_id: str | None) -> list[Finding]:
    name, advice = "synapse token", "a personal access token with view, modify and download"
    with tempfile.TemporaryDirectory(prefix="sandscore-synapse-") as cache:
        options = SynapseOptions(retry_seconds=5.0, call_seconds=60.0)
        session = Session(config, Path(cache), options)
        try:
            await session.connect()
            client = session.client
            who = f"logged in as {client.credentials.username or client.credentials.owner_id} at {client.repoEndpoint}"
            found = [Finding(name, "ok", who)]
            if evaluation_id is None:
                return found
            asked = await preflight(session, evaluation_id, options)
            return [*found, *asked.findings, *(Finding("synapse teams", "ok", one) for one in asked.shown)]
        except (OrganiserFault, MissingFile) as fault:
            return [Finding(name, "fault", str(fault), advice, by="organiser")]
        except SandscoreError as fault:
            return [Finding(name, "fault", str(fault), advice)]
        finally:
            await session.close()

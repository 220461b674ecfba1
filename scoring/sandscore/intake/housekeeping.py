"""The housekeeping of a server: parts of files go after an hour, files of INVALID submissions after 30 days."""

import asyncio
import datetime
import time
from pathlib import Path

from sandscore.base.clock import utc_now, written
from sandscore.base.diagnostics import warn
from sandscore.base.errors import SandscoreError
from sandscore.intake.access_log import AccessLog
from sandscore.intake.live_queue import LiveQueue, QueueSide, intake_folder
from sandscore.intake.submission_intake import PARTS
from sandscore.queue.attempt_files import PREDICTIONS

EVERY_SECONDS = 600.0
_PART_SECONDS, _INVALID = 3600.0, datetime.timedelta(days=30)


async def keep_house(queue: LiveQueue, log: AccessLog) -> None:
    """As long as the server runs."""
    while True:
        try:
            await queue.write(tidy)
            log.forget(utc_now())
        except (SandscoreError, OSError) as fault:
            warn(str(fault))
        await asyncio.sleep(EVERY_SECONDS)


def tidy(side: QueueSide) -> None:
    """Once. Several servers may do it at the same time."""
    workspace, now = side.workspace, utc_now()
    for part in intake_folder(workspace, PARTS).iterdir():
        _remove(part, time.time() - _PART_SECONDS)
    for digest in side.door.refused_before(written(now - _INVALID)):
        _remove(workspace.files / digest, time.time() - _INVALID.total_seconds())
    for one in side.door.invalid_before(written(now - _INVALID)):
        for copy in (workspace.attempts / one).glob(f"*/{PREDICTIONS}"):
            copy.unlink(missing_ok=True)


def _remove(path: Path, before: float) -> None:
    """A file that nobody has touched since."""
    try:
        if path.stat().st_mtime < before:
            path.unlink()
    except FileNotFoundError:
        pass

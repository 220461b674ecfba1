"""What killed processes left behind, removed when a worker starts."""

import shutil
import time
from pathlib import Path

from sandscore.queueing.artifacts import RUN
from sandscore.queueing.interface import QueueHome
from sandscore.queueing.submission import Kind, Submission
from sandscore.queueing.worker.hands import Hands
from sandscore.queueing.workspace import SCRATCH, Workspace
from sandscore.records.errors import InfrastructureFault

_STILL_IN_USE_SECONDS = 3600.0


async def tidy(home: QueueHome, workspace: Workspace, hands: Hands) -> None:
    """Half-written files of long ago; and on the engine, where this queue has images, whatever has no owner."""
    for path in (*workspace.root.glob(f"{SCRATCH}*"), *workspace.files.glob(".*.part")):
        if _age(path) > _STILL_IN_USE_SECONDS:
            shutil.rmtree(path, ignore_errors=True)
            path.unlink(missing_ok=True)
    submissions = await home.submissions()
    for one in submissions:
        if one.status.final:
            await _keep_one(home, workspace, one)
    if any(one.kind is Kind.IMAGE and not one.status.final for one in submissions):
        try:
            await hands.run({"sweep": True})
        except InfrastructureFault:
            return  # no engine just now; every run looks for leftovers too


async def _keep_one(home: QueueHome, workspace: Workspace, one: Submission) -> None:
    """Of a submission that ended: what was committed, and the runs that may be looked into. A worker may have died
    between the two. A number that is not in the queue's books is of a future that a restored backup has undone."""
    folders = list((workspace.attempts / one.id).glob("[0-9]*-*"))
    if len(folders) < 2:
        return
    kept = await home.kept(one)
    for folder in folders:
        known = int(folder.name.partition("-")[0]) <= one.attempt or _age(folder) > _STILL_IN_USE_SECONDS
        if folder != kept and known and not (folder / RUN).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0

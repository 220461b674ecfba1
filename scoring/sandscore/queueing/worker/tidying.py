"""What killed processes left behind, removed when a worker starts."""

import shutil
import time
from pathlib import Path

from sandscore.queueing.interface import QueueHome
from sandscore.queueing.submission import Kind
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
    if any(one.kind is Kind.IMAGE and not one.status.final for one in await home.submissions()):
        try:
            await hands.run({"sweep": True})
        except InfrastructureFault:
            return  # no engine just now; every run looks for leftovers too


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0

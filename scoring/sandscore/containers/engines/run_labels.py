"""Labels that say who made a thing on an engine, for which run, and until when it can be in use."""

import time
from collections.abc import Mapping

from sandscore.base.process_identity import fate, own_name

RUN, OWNER, EXPIRES = "sandscore.run", "sandscore.owner", "sandscore.expires"
_MARGIN_SECONDS = 600


def labels(run_id: str, total_seconds: float) -> dict[str, str]:
    """For everything a run makes on the engine."""
    expires = int(time.time() + total_seconds + _MARGIN_SECONDS)
    return {RUN: run_id, OWNER: own_name(), EXPIRES: str(expires)}


def abandoned(marks: Mapping[str, str]) -> bool:
    """Its maker is gone; on another machine, which cannot be asked, its time is up."""
    there = fate(marks.get(OWNER, ""))
    if there is not None:
        return not there
    expires = marks.get(EXPIRES, "0")
    return not expires.isdigit() or int(expires) < time.time()

"""Who ended a container: it itself, or an engine that was stopped, killed, or told to by somebody."""

import datetime
import time
from typing import TYPE_CHECKING, Any

from sandscore.running.engine import asking

if TYPE_CHECKING:
    from docker.models.containers import Container

_LATE_SECONDS = 0.3
"""How long after a container's end the engine may still be writing down what it had to do with it."""


def ended_by_itself(container: "Container") -> bool:
    """Whether the engine saw the container die and had no hand in it.

    An engine that stops, or finds a container that an engine before it left running, kills what is on it: exit code
    137, as if the participant's program had done it. What an engine remembers ends with it.
    """
    when = {"since": "0", "until": f"{_ended_at(container.attrs['State']) + _LATE_SECONDS:.9f}"}
    chosen = {"container": container.id, "event": ["die", "kill"]}
    with asking("telling how the container ended"):
        events = container.client.api.events(**when, filters=chosen, decode=True)
        seen = {str(event["Action"]) for event in events}
    return seen == {"die"}


def _ended_at(state: dict[str, Any]) -> float:
    moment = datetime.datetime.fromisoformat(state["FinishedAt"])
    return moment.timestamp() if moment.year > 1 else time.time()

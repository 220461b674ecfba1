"""What an annotator says about itself: recorded, and compared with the task it was handed in for."""

from typing import Any

from sandscore.reading.strictjson import JsonFault, loads
from sandscore.records.run import Outcome, RunFault
from sandscore.running.service import Service
from sandscore.running.wire import BadReply, ConnectionDied, Late
from sandscore.tasks import TASKS, Task

_SECONDS = 10.0
_MOST_BYTES = 256 << 10
_KEPT = ("name", "version", "apiVersion", "type", "author", "license", "repository", "description", "url")
_KEPT_CHARACTERS = 500


def read_tool(service: Service) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The tool document and warnings about it; a tool made for another task is refused."""
    try:
        reply = service.ask("GET", "/tool", min(_SECONDS, service.clock.left()), _MOST_BYTES)
        value = loads(reply.body) if reply.status == 200 else None
    except (ConnectionDied, Late, BadReply, JsonFault):
        value = None
    if not isinstance(value, dict):
        return None, ("'tool' did not answer with a JSON object: name and version of the annotator are not known",)
    tool = {key: value[key][:_KEPT_CHARACTERS] for key in _KEPT if isinstance(value.get(key), str)}
    return tool, _warnings(tool, service.answers.task)


def _warnings(tool: dict[str, Any], task: Task) -> tuple[str, ...]:
    told = tool.get("type")
    meant = next((row for row in TASKS.values() if told in tool_types(row)), None)
    if meant is not None and told not in tool_types(task):
        raise RunFault(Outcome.INVALID_OUTPUT, f"the tool says it is for the task {meant.id}, not for {task.id}")
    missing = [f"'tool' gives no {key}" for key in ("name", "version", "apiVersion", "type") if key not in tool]
    if told is not None and meant is None:
        missing.append(f"'tool' gives a type that no task has; expected {tool_types(task)[0]}")
    return tuple(missing)


def tool_types(task: Task) -> tuple[str, ...]:
    """How NLP Sandbox calls annotators of the task."""
    kinds = dict.fromkeys((task.kind.lower().replace(" ", "-"), task.id))
    return tuple(f"nlpsandbox:{kind}-annotator" for kind in kinds)

"""The service protocol: wait until it is ready, ask what it is, post the notes, judge each answer as it comes.

What an annotator says about itself: recorded, and compared with the task it was handed in for.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from msgspec import Struct, field

from sandscore.base.strict_json import JsonFault, loads
from sandscore.containers.answers import Answers, RefusedAnswer
from sandscore.containers.http_exchange import BadReply, ConnectionDied, DeadlinePassed, Reply, Request, exchange
from sandscore.containers.sent_notes import SentNote
from sandscore.containers.transports import Door
from sandscore.records.run_record import Outcome, RunFault, RunLimits
from sandscore.task_table.task import TASKS, Task

_SECONDS = 10.0
_MOST_BYTES = 256 << 10
_KEPT = ("name", "version", "apiVersion", "type", "author", "license", "repository", "description", "url")
_KEPT_CHARACTERS = 500


def read_tool(service: "Service") -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The tool document and warnings about it; a tool made for another task is refused."""
    try:
        reply = service.ask("GET", "/tool", min(_SECONDS, service.clock.left()), _MOST_BYTES)
        value = loads(reply.body) if reply.status == 200 else None
    except (ConnectionDied, DeadlinePassed, BadReply, JsonFault):
        value = None
    if not isinstance(value, dict):
        return None, ("'tool' did not answer with a JSON object: name and version of the annotator are not known",)
    tool = {key: value[key][:_KEPT_CHARACTERS] for key in _KEPT if isinstance(value.get(key), str)}
    return tool, _warnings(tool, service.answers.task)


def _warnings(tool: dict[str, Any], task: Task) -> tuple[str, ...]:
    known = require_served(tool, task)
    missing = [f"'tool' gives no {key}" for key in ("name", "version", "apiVersion", "type") if key not in tool]
    if not known and "type" in tool:
        missing.append(f"'tool' gives a type that no task has; expected {tool_types(task)[0]}")
    return tuple(missing)


def require_served(tool: Mapping[str, Any] | None, task: Task) -> bool:
    """Refuses a tool made for another task; one for any type (PHI) may serve each. Whether its type is known."""
    told = (tool or {}).get("type")
    meant = next((row for row in (task, *TASKS.values()) if told in tool_types(row)), None)
    if meant is not None and not meant.any_type and told not in tool_types(task):
        raise RunFault(Outcome.INVALID_OUTPUT, f"the tool says it is for the task {meant.id}, not for {task.id}")
    return meant is not None


def tool_types(task: Task) -> tuple[str, ...]:
    """How NLP Sandbox calls annotators of the task."""
    kinds = dict.fromkeys((task.kind.lower().replace(" ", "-"), task.id))
    return tuple(f"nlpsandbox:{kind}-annotator" for kind in kinds)


Alive = Callable[[], None]
"""Raises RunFault where the annotator is known to be dead."""

_PROBE_SECONDS = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.01, 0.25
_SILENT = "did not answer in time"
_SMALL_REPLY = 1 << 20
_PHRASES = {status.phrase for status in HTTPStatus}


class Clock(Struct):
    """The total time of a run; what is left of it bounds every wait."""

    seconds: float
    begun: float = field(default_factory=time.monotonic)

    def left(self) -> float:
        left = self.seconds - self.spent()
        if left <= 0:
            raise RunFault(Outcome.TIMED_OUT, f"the run took longer than the {self.seconds:g} s allowed")
        return left

    def spent(self) -> float:
        return time.monotonic() - self.begun


class Service:
    """A server that speaks the NLP Sandbox API, behind a door."""

    def __init__(self, door: Door, answers: Answers, limits: RunLimits, clock: Clock, alive: Alive) -> None:
        self.door, self.answers, self.limits, self.clock, self.alive = door, answers, limits, clock, alive
        self.retried = 0

    @contextmanager
    def threads(self, number: int) -> Iterator[ThreadPoolExecutor]:
        """Threads that stand behind the door. After a fault nobody waits for them: they end with the annotator."""
        pool = ThreadPoolExecutor(number, "annotator", self.door.enter)
        try:
            yield pool
        except BrokenExecutor:
            raise RunFault(Outcome.INFRASTRUCTURE, "the container's network could not be entered") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def ask(self, method: str, path: str, seconds: float, most: int, body: bytes | None = None) -> Reply:
        request = Request(method, self.door.host, self.door.base + path, body)
        return exchange(self.door.connect, request, seconds, most)

    def wait_ready(self) -> None:
        """Until ``healthCheck`` answers 200 and ``pass``: an open port or a 500 is not ready yet.

        An answer says more than a silence that came after it: the last question is cut short by the deadline.
        """
        allowed = min(self.limits.ready_seconds, self.clock.left())
        deadline = time.monotonic() + allowed
        pause, said = _FIRST_PAUSE, _SILENT
        while (last := self._probe(deadline)) is not None:
            said = said if last == _SILENT else last
            self.alive()
            if time.monotonic() + pause >= deadline:
                raise RunFault(Outcome.NEVER_READY, f"not ready after {allowed:.3g} s: healthCheck {said}")
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def _probe(self, deadline: float) -> str | None:
        """What is still wrong; None when ready."""
        left = max(0.01, min(_PROBE_SECONDS, deadline - time.monotonic()))
        try:
            reply = self.ask("GET", "/healthCheck", left, _SMALL_REPLY)
            if reply.status != 200:
                return f"answered with status {reply.status}"
            value = loads(reply.body)
        except ConnectionDied as fault:
            return f"could not be asked ({fault})"
        except DeadlinePassed:
            return _SILENT
        except (BadReply, JsonFault) as fault:
            return f"did not answer properly ({fault})"
        return None if isinstance(value, dict) and value.get("status") == "pass" else "did not say 'pass'"

    def annotate(self, note: SentNote) -> tuple[bytes, float]:
        """A note's annotations and the seconds they took. One retry, and only if no byte of an answer had come."""
        body = json.dumps({"note": note.payload()}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        begun = time.monotonic()
        try:
            reply = self._post(note, body)
        except ConnectionDied:
            self.alive()
            self.retried += 1
            reply = self._post_again(note, body)
        if reply.status == HTTPStatus.NOT_FOUND:
            path = self.door.base + self.answers.task.path
            raise RefusedAnswer(note, f"the server has nothing at {path} (status 404)", reply.body)
        if reply.status != 200:
            raise RefusedAnswer(note, _unwanted(reply), reply.body)
        return self.answers.accepted(note, reply.body), time.monotonic() - begun

    def _post(self, note: SentNote, body: bytes) -> Reply:
        seconds = self.limits.note_time(len(note.text))
        left = self.clock.left()
        try:
            size = self.limits.reply_size(len(note.text))
            return self.ask("POST", self.answers.task.path, min(seconds, left), size, body)
        except DeadlinePassed:
            self.clock.left()
            raise RunFault(
                Outcome.TIMED_OUT, f"note {note.name}: no whole answer within the {seconds:g} s allowed for it"
            ) from None
        except BadReply as fault:
            raise RunFault(Outcome.INVALID_OUTPUT, f"note {note.name}: {fault}") from None

    def _post_again(self, note: SentNote, body: bytes) -> Reply:
        try:
            return self._post(note, body)
        except ConnectionDied as fault:
            raise RunFault(Outcome.CRASHED, f"note {note.name}: no answer, twice ({fault})") from None


class Served(Struct, frozen=True):
    """Each note's annotations (compact JSON) and seconds, in the order of the notes asked."""

    annotations: list[bytes]
    latencies: list[float]


Answered = Callable[[SentNote, bytes], object]
"""Told of each note's annotations as they come."""


def annotate_all(service: Service, pool: ThreadPoolExecutor, notes: Sequence[SentNote], answered: Answered) -> Served:
    """Every note answered and valid, or the first fault, after which nothing more is asked."""
    waiting = {pool.submit(service.annotate, note): note for note in notes}
    size, most = 0, service.limits.output_size(sum(len(note.text) for note in notes))
    try:
        for future in as_completed(waiting):
            annotations, _ = future.result()
            size += len(annotations)
            if size > most:
                raise RunFault(Outcome.INVALID_OUTPUT, f"more than {most:,} bytes of answers")
            answered(waiting[future], annotations)
    finally:
        for future in waiting:
            future.cancel()
    results = [future.result() for future in waiting]
    return Served([a for a, _ in results], [s for _, s in results])


def _unwanted(reply: Reply) -> str:
    """A status other than 200, with the title of a problem document where that is one of HTTP's own."""
    if 300 <= reply.status < 400:
        return f"the answer redirects (status {reply.status}), which is never followed"
    told = f"the answer has status {reply.status}"
    if reply.headers.get("content-type", "").startswith("application/problem+json"):
        try:
            problem = loads(reply.body)
        except JsonFault:
            return told + " (a problem document that is not JSON)"
        title = problem.get("title") if isinstance(problem, dict) else None
        return told + (f" ({title})" if title in _PHRASES else " (a problem document)")
    return told

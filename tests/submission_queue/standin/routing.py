"""Which function answers which request."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from submission_queue.standin.world import World


@dataclass
class Request:
    """One request as a route sees it; ``user`` is None where no token was sent."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    data: bytes
    body: Any
    user: str | None
    base: str


@dataclass
class Answer:
    status: int
    body: Any = None
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


class Refusal(Exception):
    """An error as Synapse words it: a status code and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


Route = Callable[..., Answer]
ROUTES: list[tuple[str, re.Pattern[str], Route]] = []


def route(method: str, path: str) -> Callable[[Route], Route]:
    """Registers a function ``(world, request, *path parts)``; ``{}`` stands for one part of a path."""
    pattern = re.compile("^" + path.replace("{}", "([^/]+)") + "$")

    def register(function: Route) -> Route:
        ROUTES.append((method, pattern, function))
        return function

    return register


def answer(world: "World", request: Request) -> Answer:
    """The answer of the first route that fits."""
    for method, pattern, function in ROUTES:
        match = pattern.match(request.path)
        if match and method == request.method:
            return function(world, request, *match.groups())
    world.unknown.append(f"{request.method} {request.path}")
    raise Refusal(404, f"no such service: {request.method} {request.path}")

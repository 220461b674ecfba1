"""The display of a worker at work: a live table for people, lines for logs, JSON for programs."""

import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from sandscore.base.terminal_text import clipped, padded, printable, terminal_width
from sandscore.cli.queue.submission_text import counted
from sandscore.queue.worker.attempt import Ending
from sandscore.records.submission import Claim, Submission

_LINES, _TEAM = 12, 30
_UP, _CLEAR = "\x1b[{}A", "\x1b[J"


class Lines:
    """One line a claim and an ending, on standard error."""

    def saw(self, what: Claim | Ending) -> None:
        claim = what.claim if isinstance(what, Ending) else what
        one = claim.submission
        status = what.status if isinstance(what, Ending) else "begun"
        reason = f": {printable(what.reason)}" if isinstance(what, Ending) and what.reason else ""
        click.echo(f"{one.id} {one.task} {printable(one.team)} attempt {claim.attempt}: {status}{reason}", err=True)

    def close(self, found: Sequence[Submission]) -> None:
        click.echo(counted(found))


class Json(Lines):
    """One object an ending, on standard output."""

    def saw(self, what: Claim | Ending) -> None:
        if isinstance(what, Ending):
            one = what.claim.submission
            ending = {"id": one.id, "task": one.task, "team": one.team, "attempt": what.claim.attempt}
            click.echo(json.dumps(ending | {"status": what.status, "reason": what.reason}))

    def close(self, found: Sequence[Submission]) -> None:
        """Everything was said."""


class LiveTable(Lines):
    """What is under way and what has ended, redrawn every second on the terminal."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, int], tuple[Claim, float]] = {}
        self._ended: Counter[str] = Counter()
        self._drawn = 0
        self._lock = threading.Lock()

    def saw(self, what: Claim | Ending) -> None:
        with self._lock:
            if isinstance(what, Ending):
                self._running.pop((what.claim.submission.id, what.claim.attempt), None)
                self._ended[what.status] += 1
            else:
                self._running[what.submission.id, what.attempt] = (what, time.monotonic())

    def draw(self) -> None:
        now = time.monotonic()
        with self._lock:
            rows = [
                f"  {claim.submission.id}  {claim.submission.task:14} {_team(claim.submission.team)} "
                f"attempt {claim.attempt}  {now - begun:6.0f} s"
                for claim, begun in list(self._running.values())[:_LINES]
            ]
            ended = ", ".join(f"{count:,} {status}" for status, count in sorted(self._ended.items())) or "nothing yet"
        lines = [f"ended: {ended}; under way: {len(self._running)}", *rows]
        if (limit := terminal_width(sys.stderr)) is not None:
            lines = [clipped(line, limit) for line in lines]  # one that goes on in the next would be drawn over
        up = _UP.format(self._drawn) if self._drawn else ""
        sys.stderr.write(f"\r{up}{_CLEAR}" + "\n".join(lines) + "\n")
        sys.stderr.flush()
        self._drawn = len(lines)


def _team(name: str) -> str:
    return padded(clipped(printable(name), _TEAM), _TEAM)


@contextmanager
def display(output_format: str) -> Iterator[Lines]:
    """The display that fits; the table is drawn in a thread of its own."""
    if output_format == "json":
        yield Json()
        return
    if not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield Lines()
        return
    table, done = LiveTable(), threading.Event()

    def redraw() -> None:
        while not done.wait(1.0):
            table.draw()

    thread = threading.Thread(target=redraw, daemon=True)
    thread.start()
    try:
        yield table
    finally:
        done.set()
        thread.join()
        table.draw()

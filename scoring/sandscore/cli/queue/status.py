"""``sandscore queue status``: the queue in numbers."""

from typing import TYPE_CHECKING, Any

import click

from sandscore.cli.queue.queue_place import home_options, place_of

if TYPE_CHECKING:
    from sandscore.queue.queue_status import QueueStatus


@click.command("status")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "prometheus"]),
    default="text",
    show_default=True,
    help="For people, for programs, or for a Prometheus server.",
)
@home_options
def command(words: tuple[str, ...], output_format: str, **where: Any) -> int:
    """Say how many submissions wait, run and have ended, how long the oldest waits, and how much disk is left.

    queue work --metrics serves the same numbers while it works.

    \b
    Example:
      sandscore queue status demo/queue
    """
    from sandscore.queue.queue_status import prometheus, status_of

    place, _ = place_of(words, where, 0)
    found = place.asking(lambda home: home.submissions())
    status = status_of(place.workspace, place.row, found)
    formats = {"text": _as_text, "json": _as_json, "prometheus": prometheus}
    click.echo(formats[output_format](status).rstrip("\n"))
    return 0


def _as_json(status: "QueueStatus") -> str:
    import json

    return json.dumps(status.to_dict(), indent=1)


def _as_text(status: "QueueStatus") -> str:
    from sandscore.base.terminal_text import printable

    rows = [
        ("waiting", f"{status.waiting:,}"),
        ("running", f"{status.running:,}"),
        *((name, f"{count:,}") for name, count in status.ended.items()),
        ("need an organiser", f"{status.needs_organiser:,}"),
        ("teams", f"{status.teams:,}"),
        ("oldest waits", f"{status.oldest_waiting_seconds:,.0f} s"),
        *((f"attempts {name}", f"{count:,}") for name, count in status.attempts.items()),
        ("containers ran", f"{status.run_seconds:,.0f} s"),
        *((("draining", "yes"),) if status.draining else ()),
        ("free disk", f"{status.free_bytes / 2**30:,.1f} GiB"),
    ]
    return "\n".join(f"{printable(name):24}{value:>14}" for name, value in rows)

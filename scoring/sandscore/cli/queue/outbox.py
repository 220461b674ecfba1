"""``sandscore queue outbox``: messages to teams that have not certainly arrived."""

import json
from typing import TYPE_CHECKING, Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import home_options, place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandscore.queue.outgoing_messages import OutgoingMessage


@click.command("outbox")
@click.argument("words", metavar="[DIR]", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Also those that were sent.")
@home_options
@format_option
def command(words: tuple[str, ...], every: bool, output_format: str, **where: Any) -> int:
    """List the messages to teams that wait, that may not have arrived, and that certainly have not.

    waiting: the next worker sends it. unknown: it was sent, and no answer came. undelivered: it was refused. queue
    resend sends the last two again. An embedded queue has no outbox: its notices are sent as they come about.

    \b
    Example:
      sandscore queue outbox demo/queue
    """
    place, _ = place_of(words, where, 0)
    found = place.row.outbox(place.workspace, every=every)
    click.echo(FORMATS[output_format](found))
    return 0


def _as_json(found: "Sequence[OutgoingMessage]") -> str:
    return json.dumps([one.to_dict() for one in found], indent=1, ensure_ascii=False)


def _as_text(found: "Sequence[OutgoingMessage]") -> str:
    from sandscore.base.terminal_text import UNDEFINED, printable, table, terminal_width

    rows = [("made", "submission", "event", "delivery", "to", "why")]
    rows += [(one.made, one.submission, one.event, one.delivery, " ".join(one.to), one.why or "") for one in found]
    printed = [[printable(cell) or UNDEFINED for cell in row] for row in rows]
    return "\n".join(table(printed, terminal_width(), keep=[1, 3]))


FORMATS = {"text": _as_text, "json": _as_json}

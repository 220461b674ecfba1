"""``sandscore queue history``: who had the queue do what, when and why."""

import json
from typing import TYPE_CHECKING, Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import home_options, place_of

if TYPE_CHECKING:
    from sandscore.queue.order_history import Order


@click.command("history")
@click.argument("words", metavar="[DIR]", nargs=-1)
@home_options
@format_option
def command(words: tuple[str, ...], output_format: str, **where: Any) -> int:
    """List the orders given to the queue, oldest first: who, when and why.

    cancel, requeue, drain, undrain, resend, rescore, rekey, release-log and check --accept-damage are orders.
    queue show says what became of one submission, queue team list --history who was given tokens.

    \b
    Example:
      sandscore queue history demo/queue
    """
    from sandscore.queue.order_history import read_orders

    place, _ = place_of(words, where, 0)
    orders = read_orders(place.workspace.root)
    click.echo(FORMATS[output_format](orders))
    return 0


def _as_json(orders: "list[Order]") -> str:
    return json.dumps([one.to_dict() for one in orders], indent=1, ensure_ascii=False)


def _as_text(orders: "list[Order]") -> str:
    from sandscore.base.terminal_text import UNDEFINED, printable, table, terminal_width

    rows = [("when", "who", "what", "submissions", "why")]
    rows += [(one.when, one.who, one.what, " ".join(one.submissions), one.why or UNDEFINED) for one in orders]
    printed = [[printable(cell) or UNDEFINED for cell in row] for row in rows]
    return "\n".join(table(printed, terminal_width(), keep=[0]))


FORMATS = {"text": _as_text, "json": _as_json}

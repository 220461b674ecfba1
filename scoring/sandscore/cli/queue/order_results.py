"""An order for one submission after another, and what became of each."""

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.queue.queue_place import Place

if TYPE_CHECKING:
    from sandscore.queue.home_protocol import QueueHome

_Command = TypeVar("_Command", bound=Callable[..., Any])


def who_option(command: _Command) -> _Command:
    """Who gives the order; the command takes it as ``who``."""
    return click.option("--as", "who", metavar="NAME", help="Who does this, for the history; else the account.")(
        command
    )


def order_options(command: _Command) -> _Command:
    """Who gives the order and why; the command takes them as ``who`` and ``why``."""
    return who_option(click.option("--why", metavar="TEXT", help="For the history.")(command))


def tell(
    place: Place,
    ids: tuple[str, ...],
    order: "Callable[[QueueHome, str], Awaitable[bool]]",
    words: tuple[str, str],
    output_format: str,
    given: "tuple[str, str | None, str | None]",
) -> int:
    """Give the order; 2 where one could not be carried out. ``words``: what is said of those it was, and was not;
    ``given``: what is ordered, who does, and why."""
    from sandscore.queue.order_history import note_order

    if not ids:
        raise UsageFault("name at least one submission")
    note_order(place.workspace.root, *given, ids)

    async def all_of_them(home: "QueueHome") -> dict[str, bool]:
        return {one: await order(home, one) for one in ids}

    done = place.asking(all_of_them)
    if output_format == "json":
        click.echo(json.dumps(done))
    for one, well in done.items():
        if not well:
            click.echo(f"sandscore: {one} {words[1]}", err=True)
        elif output_format == "text":
            click.echo(f"{one} {words[0]}")
    return 0 if all(done.values()) else UsageFault.exit_code

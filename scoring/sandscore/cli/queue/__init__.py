"""``sandscore queue``: the submission queue, one module for each of its verbs."""

import importlib

import click

from sandscore.queue.homes.home_registry import our_homes

VERBS = ("init", "submit", "list", "show", "work", "cancel", "requeue", "rescore", "export")


class QueueGroup(click.Group):
    """Imports a verb's module only when that verb is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*VERBS]  # the submodule "list" hides the builtin here

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        found: click.Command = importlib.import_module(f"sandscore.cli.queue.{cmd_name}").command
        return found


_HELP = """The submission queue: {homes}.

Verbs take the queue's DIR{others}.

\b
Example:
  sandscore queue list demo/queue
"""


@click.group(
    "queue",
    cls=QueueGroup,
    help=_HELP.format(
        homes=", or ".join(row.where for row in our_homes()),
        others="".join(f"; {row.naming}" for row in our_homes() if row.naming),
    ),
)
def command() -> None:
    """The group of the queue's verbs."""

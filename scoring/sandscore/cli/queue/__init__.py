"""``sandscore queue``: the submission queue, one module for each of its verbs."""

import importlib

import click

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


@click.group("queue", cls=QueueGroup)
def command() -> None:
    """The submission queue: in a folder of this machine, or on Synapse.

    Verbs take the queue's DIR; for a Synapse evaluation queue they take --state DIR instead, the folder that
    queue init --synapse EVALUATION_ID has made.

    \b
    Example:
      sandscore queue list demo/queue
    """

"""``sandscore queue``: the submission queue, one module for each of its verbs."""

import click

from sandscore.cli.verb_group import VerbGroup

VERBS = ("init", "submit", "list", "show", "work", "cancel", "requeue", "rescore", "export")


@click.group("queue", cls=VerbGroup, modules={verb: f"sandscore.cli.queue.{verb}" for verb in VERBS})
def command() -> None:
    """The submission queue: in a folder of this machine, or on Synapse.

    Verbs take the queue's DIR; for a Synapse evaluation queue they take --state DIR instead, the folder that
    queue init --synapse EVALUATION_ID has made.

    \b
    Example:
      sandscore queue list demo/queue
    """

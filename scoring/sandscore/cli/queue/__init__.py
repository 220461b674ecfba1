"""``sandscore queue``: the submission queue, one module for each of its verbs."""

import click

from sandscore.cli.verb_group import VerbGroup, fill_in
from sandscore.queue.homes.home_registry import our_homes

VERBS = (
    "init",
    "check",
    "submit",
    "receipt",
    "list",
    "status",
    "show",
    "history",
    "work",
    "cancel",
    "requeue",
    "drain",
    "undrain",
    "outbox",
    "resend",
    "rescore",
    "upgrade",
    "export",
    "archive",
    "backup",
    "restore",
    "release-log",
    "rekey",
    "disclosed",
    "team",
)


@click.group(
    "queue",
    cls=VerbGroup,
    modules={verb: f"sandscore.cli.queue.{verb.replace('-', '_')}" for verb in VERBS},
)
def command() -> None:
    """The submission queue: {homes}.

    Verbs take the queue's DIR{others}.

    \b
    Example:
      sandscore queue list demo/queue
    """


fill_in(
    command,
    homes=", or ".join(row.where for row in our_homes()),
    others="".join(f"; {row.naming}" for row in our_homes() if row.naming),
)

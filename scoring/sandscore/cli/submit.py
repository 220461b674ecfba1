"""``sandscore submit``: hands in to a server, as a team does."""

import json
from pathlib import Path

import click

from sandscore.base.errors import ParticipantFault, UsageFault
from sandscore.cli.options import format_option


@click.command("submit")
@click.argument("url")
@click.option("--task", required=True, help="The task.")
@click.option("--image", metavar="REPO@SHA256", help="An image by digest, under the team's own prefix.")
@click.option("--predictions", type=click.Path(path_type=Path), metavar="FILE", help="A prediction file.")
@click.option("--phase", metavar="NAME", help="The phase, where more than one is open.")
@click.option("--notes", metavar="FILE", help="The notes, where the team has them: compared with the file first.")
@click.option("--key", metavar="TEXT", help="Whoever hands in again under the same key means the same submission.")
@format_option
def command(
    url: str,
    task: str,
    image: str | None,
    predictions: Path | None,
    phase: str | None,
    notes: str | None,
    key: str | None,
    output_format: str,
) -> int:
    """Hand in to the server at URL, and print the submission's id: from then on it is on the server's disk.

    The token is read from SANDSCORE_TOKEN, or from ~/.config/sandscore/tokens.json: {"https://HOST": "TOKEN"}, 0600.
    A file is checked here first, as far as that is possible; one that is not valid is not sent (65).

    \b
    Example:
      sandscore submit https://challenge.example.org --task date --predictions predictions.json
    """
    from sandscore.cli.progress import bar
    from sandscore.intake.submission_client import IntakeClient

    if (image is None) == (predictions is None):
        raise UsageFault("submit exactly one of --image and --predictions")
    client = IntakeClient(url)
    if predictions is None:
        made = client.submit_image(task, str(image), phase, key)
    elif not _valid_here(task, predictions, notes):
        raise ParticipantFault(f"{predictions} is not valid, and was not sent")
    else:
        with bar("handing in", unit="B") as sent:
            made = client.submit_file(task, predictions, phase, key, sent)
    click.echo(json.dumps(made) if output_format == "json" else made["id"])
    return 0


def _valid_here(task: str, predictions: Path, notes: str | None) -> bool:
    """A task that is the challenge's own is known to the server alone."""
    from sandscore import api
    from sandscore.cli.problem_text import as_text
    from sandscore.task_table.task import TASKS

    if task not in TASKS:
        return True
    found = api.validate_file(task, str(predictions), notes=notes)
    if found.errors:
        click.echo(as_text(found), err=True)
    return not found.errors

"""``sandscore queue submit``: an image or a prediction file for a task and team."""

import json
from pathlib import Path
from typing import Any

import click

from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import queue_in
from sandscore.cli.verb_group import fill_in
from sandscore.queue.homes.home_registry import our_homes


@click.command("submit")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--task", required=True, help="The task; sandscore tasks lists them.")
@click.option("--team", required=True, metavar="NAME", help="Whose quota it counts against.")
@click.option("--name", metavar="NAME", help="What the board calls it, beside its team; else the team's name leads.")
@click.option("--image", metavar="REPO@SHA256", help="An image by digest: repository@sha256:… Tags may move.")
@click.option("--predictions", type=click.Path(path_type=Path), metavar="FILE", help="A prediction file; it is copied.")
@click.option("--phase", metavar="NAME", help="The phase, where more than one is open.")
@click.option("--notify", metavar="ADDRESS", help="An e-mail address that is told of start and end.")
@format_option
def command(
    folder: Path,
    task: str,
    team: str,
    output_format: str,
    **handed: Any,
) -> int:
    """Hand in a submission and print its id. From then on it is on disk and is not lost.

    A team over its quota is refused (65) and told when the next slot opens.{elsewhere}

    \b
    Example:
      sandscore queue submit demo/queue --task date --team "Tidewater Text Lab" \\
          --predictions submissions/date-good/predictions.json
    """
    from sandscore.queue.new_submission import NewSubmission
    from sandscore.queue.public_log import receipt_facts
    from sandscore.queue.queue_layout import owner_only

    place = queue_in(folder, {})
    handed_in = NewSubmission(task, team, submitter=handed.pop("notify"), **handed)
    with owner_only():
        submission_id = place.row.submit(place.workspace, handed_in)
    receipt = receipt_facts(place.workspace, submission_id)
    if output_format == "json":
        click.echo(json.dumps({"id": submission_id} | ({"receipt": receipt} if receipt else {})))
        return 0
    click.echo(submission_id)
    if receipt is not None:
        line = int(str(receipt["position"])) + 1
        said = f"line {line} of {receipt['log']}, {receipt['content']}"
        click.echo(f"receipt: {said}; sandscore queue receipt prints all of it", err=True)
    return 0


fill_in(command, elsewhere="".join(f" {row.submitting}" for row in our_homes() if not row.takes_submissions))

"""``sandscore queue submit``: an image or a prediction file for a task and team."""

import json
from pathlib import Path

import click

from sandscore.base.errors import UsageFault
from sandscore.cli.options import format_option
from sandscore.cli.queue.queue_place import synapse_queue


@click.command("submit")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--task", required=True, help="The task; sandscore tasks lists them.")
@click.option("--team", required=True, metavar="NAME", help="Whose quota it counts against.")
@click.option("--image", metavar="REPO@SHA256", help="An image by digest: repository@sha256:… Tags may move.")
@click.option("--predictions", type=click.Path(path_type=Path), metavar="FILE", help="A prediction file; it is copied.")
@click.option("--phase", metavar="NAME", help="The phase, where more than one is open.")
@click.option("--notify", metavar="ADDRESS", help="An e-mail address that is told of start and end.")
@format_option
def command(
    folder: Path,
    task: str,
    team: str,
    image: str | None,
    predictions: Path | None,
    phase: str | None,
    notify: str | None,
    output_format: str,
) -> int:
    """Hand in a submission and print its id. From then on it is on disk and is not lost.

    A team over its quota is refused (65) and told when the next slot opens. Submissions to a Synapse queue are made
    on Synapse.

    \b
    Example:
      sandscore queue submit demo/queue --task date --team "Tidewater Text Lab" \\
          --predictions submissions/date-good/predictions.json
    """
    from sandscore.queue.homes.sqlite.sqlite_admin import submit
    from sandscore.queue.homes.sqlite.sqlite_database import Database
    from sandscore.queue.homes.sqlite.submission_journal import SubmissionJournal
    from sandscore.queue.new_submission import NewSubmission
    from sandscore.queue.workspace import open_workspace

    workspace = open_workspace(folder)
    if (evaluation := synapse_queue(folder)) is not None:
        raise UsageFault(f"submissions to the Synapse queue {evaluation} are made on Synapse")
    database = Database(folder)
    try:
        entry = NewSubmission(task, team, image, predictions, phase, notify)
        submission_id = submit(database, SubmissionJournal(folder), workspace, entry)
    finally:
        database.close()
    click.echo(json.dumps({"id": submission_id}) if output_format == "json" else submission_id)
    return 0

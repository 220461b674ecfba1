"""``sandscore validate``: everything that is wrong with one annotation file."""

from typing import TYPE_CHECKING

import click

from sandscore import api
from sandscore.base.errors import ParticipantFault
from sandscore.cli.options import foreign_options, format_option, own_task_options, task_argument

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("validate")
@task_argument
@click.argument("file")
@click.option("--notes", metavar="FILE", help="The notes; without them texts and offsets are not compared.")
@foreign_options
@click.option("--complete", is_flag=True, help="A note without an entry is an error, not a warning.")
@own_task_options
@format_option
def command(
    task: "Task",
    file: str,
    notes: str | None,
    complete: bool,
    output_format: str,
    source: str | None,
    labels: str | None,
    annotator: str | None,
) -> int:
    """Check FILE (or - for standard input) against TASK's schema and, with --notes, against the notes.

    Lists every problem, not only the first. Exits 0 if the file is valid, 65 if it is not.

    \b
    Example:
      sandscore validate date gold/example/date.json --notes gold/example/notes.json
    """
    from sandscore.cli.problem_text import FORMATS, watch

    how = api.ForeignReading(source=source, labels=labels, annotator=annotator)
    found = api.validate_file(task, file, notes=notes, complete=complete, how=how, watch=watch())
    click.echo(FORMATS[output_format](found))
    return ParticipantFault.exit_code if found.errors else 0

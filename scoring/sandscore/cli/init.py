"""``sandscore init``: a participant's starting point."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sandscore import api
from sandscore.cli.options import own_task_options, task_argument

if TYPE_CHECKING:
    from sandscore.task_table.task import Task


@click.command("init")
@task_argument
@click.argument("folder", type=click.Path(path_type=Path))
@own_task_options
def command(task: "Task", folder: Path) -> None:
    """Make FOLDER with a working annotator for TASK: Dockerfile, annotator, its test and a README.

    \b
    Example:
      sandscore init date my-date-annotator
    """
    files = api.write_starting_point(task, folder)
    click.echo(f"{folder}: {', '.join(files)}")
    click.echo(f"Next: cd {folder} && python3 -m unittest", err=True)
